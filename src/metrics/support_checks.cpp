#include "retrace/metrics/support_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/character/corners.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/math/convex_hull.h"
#include "retrace/math/types.h"

namespace retrace::metrics {
namespace {

using character::Character;
using character::ReferenceMotion;
using character::State;

constexpr double kTouches = 0.06;      // corners of bodies that are so low may carry [m]
constexpr double kFloats = 0.03;       // nothing is nearer to the floor [m]
constexpr double kAside = 0.08;        // of all that touches: there something else carries [m]
constexpr double kSlow = 0.25;         // of a root that rests [m/s]
constexpr double kShortestRest = 0.5;  // [s]
constexpr double kDifference = 0.1;    // half of the time over which accelerations are measured [s]
constexpr double kCarried = 0.5;       // a body that falls with less of gravity is carried
constexpr double kOftenFloats = 0.1;   // of the time

using Point = Eigen::Vector2d;

std::vector<Point> TouchingCorners(const Character& character, const State& state) {
  std::vector<Point> points;
  for (size_t b = 0; b < state.size(); ++b) {
    for (const character::Shape& shape : character.bodies[b].shapes) {
      for (const Vec3& corner : character::CornersOf(shape)) {
        const Vec3 at = state[b].position + state[b].orientation * corner;
        if (at.y() < kTouches) points.emplace_back(at.x(), at.z());
      }
    }
  }
  return points;
}

/// Second derivative about a pose, one-sided in time at the ends.
Vec3 Acceleration(const std::vector<Vec3>& places, size_t f, size_t reach, double span) {
  const size_t at = std::clamp(f, reach, places.size() - 1 - reach);
  return (places[at + reach] - 2 * places[at] + places[at - reach]) / (span * span);
}

}  // namespace

void FindSupports(const ReferenceMotion& reference, const std::vector<State>& states, bool levels,
                  const RecordedGround& ground, std::vector<Support>& supports, std::vector<ClipWarning>& warnings) {
  const Character& character = reference.character();
  const double frame_time = reference.frame_time();
  const auto reach = static_cast<size_t>(std::max(1L, std::lround(kDifference / frame_time)));
  if (character.planar || states.size() < 2 * reach + 1) return;
  const double span = static_cast<double>(reach) * frame_time;
  const auto root = static_cast<size_t>(character.root);
  std::vector<Vec3> centers, roots;
  for (const State& state : states) {
    centers.push_back(character::CenterOfMass(character, state));
    roots.push_back(state[root].position);
  }
  std::vector<bool> rests(states.size()), floats(states.size()), falls(states.size());
  for (size_t f = 0; f < states.size(); ++f) {
    const Vec3 acceleration = Acceleration(centers, f, reach, span);
    const double weight = kStandardGravity + acceleration.y();
    falls[f] = weight < (1 - kCarried) * kStandardGravity;
    if (falls[f]) continue;
    const size_t at = std::clamp(f, reach, states.size() - 1 - reach);
    const bool slow = (roots[at + reach] - roots[at - reach]).norm() < kSlow * 2 * span;
    const std::vector<Point> touching = TouchingCorners(character, states[f]);
    const Vec3 pressure = centers[f] - acceleration * (centers[f].y() / weight);
    rests[f] = slow && HullDistance(touching, {pressure.x(), pressure.z()}) > kAside;
    double lowest = std::numeric_limits<double>::infinity();
    for (size_t b = 0; b < states[f].size(); ++b) {
      lowest = std::min(lowest, character::LowestPoint(character.bodies[b], states[f][b]));
    }
    floats[f] = lowest > kFloats;
  }
  // Take-off and landing are mixed into the accelerations at the edges of a flight.
  for (size_t f = 0; f < floats.size(); ++f) {
    const auto from = falls.begin() + static_cast<std::ptrdiff_t>(f - std::min(f, reach));
    const auto to = falls.begin() + static_cast<std::ptrdiff_t>(std::min(f + reach + 1, falls.size()));
    if (std::find(from, to, true) != to) floats[f] = false;
  }
  for (const Interval& interval : Stretches(rests, frame_time)) {
    if (interval.end - interval.start < kShortestRest) continue;
    std::vector<double> heights;
    const auto first = static_cast<size_t>(std::lround(interval.start / frame_time));
    const auto last = static_cast<size_t>(std::lround(interval.end / frame_time));
    for (size_t f = first; f <= last; ++f) {
      heights.push_back(character::LowestPoint(character.bodies[root], states[f][root]));
      floats[f] = false;
    }
    std::nth_element(heights.begin(), heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2), heights.end());
    supports.push_back({interval, heights[heights.size() / 2]});
  }
  if (!supports.empty() && !ground.strong()) {
    double seconds = 0;
    const Support* longest = &supports.front();
    for (const Support& support : supports) {
      const double length = support.interval.end - support.interval.start;
      seconds += length;
      if (length > longest->interval.end - longest->interval.start) longest = &support;
    }
    warnings.push_back(
        {longest->interval.start, "support",
         "for " + io::Fixed(seconds, 1) + " s the body rests on something that is not the floor: longest from " +
             io::Fixed(longest->interval.start, 2) + " to " + io::Fixed(longest->interval.end, 2) +
             " s, its pelvis then " + io::Fixed(longest->height, 2) + " m over the floor; a world must hold it"});
  }
  const auto floating = static_cast<double>(std::count(floats.begin(), floats.end(), true));
  if (ground.unsupported > kOftenFloats) {
    warnings.push_back({0, "unsupported",
                        "during " + io::Fixed(100 * ground.unsupported, 0) +
                            " % of the time something carries the body and nothing is under it, neither a floor nor a "
                            "surface that can be found: a rope, an animal, another person? No world holds such a "
                            "motion, and its control will not be found"});
  } else if (!levels && !ground.strong() && floating > kOftenFloats * static_cast<double>(states.size())) {
    const auto first = std::find(floats.begin(), floats.end(), true) - floats.begin();
    warnings.push_back({static_cast<double>(first) * frame_time, "floating",
                        "the body floats: during " + io::Fixed(100 * floating / static_cast<double>(states.size()), 0) +
                            " % of the time nothing touches the floor, and it does not fall"});
  }
}

}  // namespace retrace::metrics
