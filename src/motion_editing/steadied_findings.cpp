#include "steadied_findings.h"

#include <algorithm>
#include <cmath>

#include "course.h"
#include "retrace/metrics/intervals.h"

namespace retrace::repair {
namespace {

// What the ground cannot do, for so long, as shares of the weight.
constexpr double kWorstPull = -0.5;
constexpr double kHardestPress = 6;
constexpr double kForSoLong = 0.06;     // [s]
constexpr double kBesideFlight = 0.04;  // at the edges of flights filters smear forces [s]
constexpr double kBesideEnd = 0.1;      // and at the ends of the motion they know one side alone [s]

metrics::Interval IntervalOf(size_t first, size_t last, double frame_time) {
  return {static_cast<double>(first) * frame_time, static_cast<double>(last) * frame_time};
}

/// The stretches of contact in which the force of the ground is beyond a limit.
void AddForces(const Course& course, const std::vector<Flight>& flights, double gravity,
               std::vector<Finding>& findings) {
  const size_t count = course.size();
  std::vector<bool> judged(count, true);
  const auto beside = static_cast<size_t>(std::lround(kBesideFlight / course.frame_time));
  for (const Flight& flight : flights) {
    const size_t first = flight.first > beside ? flight.first - beside : 0;
    for (size_t i = first; i <= std::min(flight.last + beside, count - 1); ++i) judged[i] = false;
  }
  const auto end_part = static_cast<size_t>(std::lround(kBesideEnd / course.frame_time));
  for (size_t i = 0; i < count; ++i) {
    if (i < end_part || i + end_part >= count) judged[i] = false;
  }
  const auto shortest = static_cast<size_t>(std::lround(kForSoLong / course.frame_time));
  for (const bool pull : {true, false}) {
    for (size_t first = 0; first < count;) {
      size_t end = first;
      double worst = 0;
      for (; end < count && judged[end]; ++end) {
        const double force = course.acceleration(static_cast<Eigen::Index>(end), 1) / gravity + 1;
        if (pull ? force > kWorstPull : force < kHardestPress) break;
        worst = pull ? std::min(worst, force) : std::max(worst, force);
      }
      if (end - first >= shortest) {
        const Kind kind = pull ? Kind::kPull : Kind::kPress;
        findings.push_back({kind, IntervalOf(first, end - 1, course.frame_time), worst, ""});
      }
      first = end + 1;
    }
  }
}

}  // namespace

std::vector<Finding> FindInfeasible(const character::Character& character, double frame_time,
                                    const Steadying& steadying, double gravity) {
  std::vector<Finding> findings;
  const metrics::Interval whole = IntervalOf(0, steadying.poses.size() - 1, frame_time);
  if (steadying.smoothing > 0) findings.push_back({Kind::kTremble, whole, steadying.moment_before, ""});
  if (steadying.drift > 0) findings.push_back({Kind::kDrift, whole, steadying.drift, ""});
  if (steadying.slide > 0) findings.push_back({Kind::kSlide, whole, steadying.slide, ""});
  const Course course = MeasureCourse(character, steadying.poses, frame_time);
  const std::vector<Stance> stances = FindStances(character, course);
  for (const Stance& stance : stances) {
    if (!IsBesideFloor(stance)) continue;
    findings.push_back({Kind::kStance, IntervalOf(stance.first, stance.last, course.frame_time), stance.height,
                        character.bodies[static_cast<size_t>(stance.body)].name});
  }
  if (gravity > 0) {
    const std::vector<Flight> floats = FindFloats(course, stances, gravity);
    for (const Flight& part : floats) {
      findings.push_back({Kind::kFloat, IntervalOf(part.first, part.last, course.frame_time), part.clearance, ""});
    }
    const std::vector<Flight> flights = FindFlights(course, stances, LevelStances(course, stances, floats), gravity);
    for (const Flight& flight : flights) {
      if (!FallsOtherwise(flight, gravity, course.frame_time)) continue;
      const bool unsupported = IsUnsupported(flight, gravity, course.frame_time);
      const Kind kind = flight.skims ? Kind::kSkim : (unsupported ? Kind::kUnsupported : Kind::kFall);
      findings.push_back({kind, IntervalOf(flight.first, flight.last, course.frame_time), flight.acceleration, ""});
    }
    AddForces(course, flights, gravity, findings);
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.interval.start < b.interval.start; });
  return findings;
}

}  // namespace retrace::repair
