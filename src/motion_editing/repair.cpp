#include "retrace/motion_editing/repair.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "changes.h"
#include "course.h"
#include "held_legs.h"
#include "retiming.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/filter.h"
#include "retrace/math/smooth_step.h"
#include "retrace/motion_editing/missing.h"
#include "retrace/retargeting/resampling.h"
#include "steadied_findings.h"
#include "steadying.h"

namespace retrace::repair {
namespace {

using character::Pose;

constexpr int kRounds = 5;
constexpr double kAboutAsMuch = 2;    // by which costs of two clocks differ that may both be right
constexpr double kSkimFading = 0.05;  // of the hold on feet that leave the floor [s]
constexpr double kFading = 0.15;      // of what the legs bring down, before and after a stance [s]

Vec3 MassCenterOf(const character::Character& character, const Pose& pose) {
  character::State state;
  character::ForwardKinematics(character, pose, state);
  return character::CenterOfMass(character, state);
}

/// The positions among the recorded poses that are shown at each instant of the new clock.
std::vector<double> PlacesOf(const std::vector<double>& slowness) {
  std::vector<double> places = {0};
  double begin = 0;  // of the interval, on the new clock [frames]
  for (size_t i = 0; i + 1 < slowness.size(); ++i) {
    const double first = std::exp(slowness[i]), last = std::exp(slowness[i + 1]);
    const double length = 0.5 * (first + last);
    // Within it the slowness goes from the one to the other: first x + (last - first) x^2 / 2 frames have passed at x.
    for (double next = static_cast<double>(places.size()); next <= begin + length + 1e-9;
         next = static_cast<double>(places.size())) {
      const double passed = next - begin, bend = 0.5 * (last - first);
      const double root = std::sqrt(std::max(0.0, first * first + 4 * bend * passed));
      places.push_back(static_cast<double>(i) + std::clamp(2 * passed / (first + root), 0.0, 1.0));
    }
    begin += length;
  }
  return places;
}

std::vector<double> SampledAt(const std::vector<double>& values, const std::vector<double>& places) {
  const Eigen::MatrixXd signal =
      Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  std::vector<double> sampled;
  for (const double place : places) sampled.push_back(CubicSample(signal, place)[0]);
  return sampled;
}

/// What is left for the legs to bring down, of each body (poses): fades in before a stance, and out after it.
std::vector<std::vector<double>> LeftOver(const character::Character& character, const Course& course,
                                          const std::vector<Stance>& stances, const std::vector<double>& level) {
  std::vector<std::vector<double>> left(character.bodies.size());
  for (const Stance& stance : stances) {
    if (!IsBesideFloor(stance)) continue;
    std::vector<double>& heights = left[static_cast<size_t>(stance.body)];
    heights.resize(course.size(), 0);
    for (size_t i = 0; i < course.size(); ++i) {
      const size_t nearest = std::clamp(i, stance.first, stance.last);
      const double beside = static_cast<double>(std::max(i, nearest) - std::min(i, nearest)) * course.frame_time;
      const double share = 1 - SmoothStep(std::clamp(beside / kFading, 0.0, 1.0));
      const double height = share * (stance.height + level[nearest]);
      if (std::abs(height) > std::abs(heights[i])) heights[i] = height;
    }
  }
  return left;
}

/// How far each pose is in a flight that skims the floor: fades beside it (poses).
std::vector<double> LeavesFloor(const Course& course, const std::vector<Flight>& flights) {
  std::vector<double> flies(course.size(), 0);
  for (const Flight& flight : flights) {
    if (!flight.skims) continue;
    for (size_t i = 0; i < course.size(); ++i) {
      const size_t nearest = std::clamp(i, flight.first, flight.last);
      const double beside = static_cast<double>(std::max(i, nearest) - std::min(i, nearest)) * course.frame_time;
      flies[i] = std::max(flies[i], 1 - SmoothStep(std::clamp(beside / kSkimFading, 0.0, 1.0)));
    }
  }
  return flies;
}

/// Moves the center of mass of each pose by a shift, with the feet held (HoldFeet).
std::vector<Pose> Moved(const character::Character& character, const std::vector<Pose>& unmoved,
                        const std::vector<Vec3>& shifts, const std::vector<double>& floor,
                        const std::vector<double>& flies, const std::vector<std::vector<double>>& beside) {
  std::vector<Vec3> wanted, roots = shifts;
  for (size_t k = 0; k < unmoved.size(); ++k) wanted.push_back(MassCenterOf(character, unmoved[k]) + shifts[k]);
  std::vector<Pose> poses;
  // Legs that are held take a part of the shift back.
  for (int round = 0; round < kRounds; ++round) {
    poses = unmoved;
    for (size_t k = 0; k < poses.size(); ++k) poses[k].root_position += roots[k];
    HoldFeet(character, unmoved, floor, flies, beside, poses);
    for (size_t k = 0; k < poses.size(); ++k) roots[k] += wanted[k] - MassCenterOf(character, poses[k]);
  }
  return poses;
}

class Repairer {
 public:
  Repairer(const character::ReferenceMotion& reference, double gravity) : reference_(reference), gravity_(gravity) {}

  Repair Run() {
    steadying_ = Steady(reference_, gravity_);
    result_.found = FindInfeasible(reference_.character(), reference_.frame_time(), steadying_, gravity_);
    result_.duration_before = result_.duration = reference_.duration();
    if (result_.found.empty()) {
      Leave();
      return std::move(result_);
    }
    Mend();
    result_.left = FindInfeasible(reference_.WithPoses(result_.poses), gravity_);
    return std::move(result_);
  }

 private:
  void Leave() {
    result_.poses = result_.recorded = reference_.poses();
    for (size_t i = 0; i < result_.poses.size(); ++i) {
      result_.instants.push_back(static_cast<double>(i) * reference_.frame_time());
    }
  }

  /// Poses on a new clock.
  struct Attempt {
    std::vector<double> places;  // among those of the reference
    std::vector<Pose> recorded, poses;
    double cost = 0;
    Missing missing;
  };

  Attempt Perform(const RetimingProblem& problem, Retiming retiming) const {
    const character::Character& character = reference_.character();
    if (character.planar) retiming.shift.col(0).setZero();
    Attempt attempt;
    attempt.cost = retiming.cost;
    attempt.places = PlacesOf(retiming.slowness);
    attempt.recorded = problem.retimes ? character::PosesAt(reference_.poses(), attempt.places) : reference_.poses();
    std::vector<std::vector<double>> beside = LeftOver(character, problem.course, problem.stances, problem.level);
    for (std::vector<double>& heights : beside) {
      if (!heights.empty()) heights = SampledAt(heights, attempt.places);
    }
    const Eigen::MatrixXd shift = retiming.shift;
    std::vector<Vec3> shifts;
    for (const double place : attempt.places) shifts.emplace_back(CubicSample(shift, place).transpose());
    const std::vector<Pose> steady =
        problem.retimes ? character::PosesAt(steadying_.poses, attempt.places) : steadying_.poses;
    attempt.poses = Moved(character, steady, shifts, SampledAt(problem.level, attempt.places),
                          SampledAt(LeavesFloor(problem.course, problem.flights), attempt.places), beside);
    attempt.missing = MissingOf(reference_.WithPoses(attempt.poses), gravity_);
    return attempt;
  }

  /// The cheapest attempt; of those that cost about as much the shortest. What is played slower than it was done has to
  /// be balanced where it needed not be.
  Attempt Try(const RetimingProblem& problem) const {
    std::vector<Attempt> attempts;
    for (Retiming& retiming : FindRetimings(problem)) attempts.push_back(Perform(problem, std::move(retiming)));
    const auto cheaper = [](const Attempt& a, const Attempt& b) { return a.cost < b.cost; };
    const double least = std::min_element(attempts.begin(), attempts.end(), cheaper)->cost;
    const auto dear = [&](const Attempt& attempt) { return attempt.cost > kAboutAsMuch * least; };
    attempts.erase(std::remove_if(attempts.begin(), attempts.end(), dear), attempts.end());
    const auto shorter = [](const Attempt& a, const Attempt& b) { return a.places.size() < b.places.size(); };
    return std::move(*std::min_element(attempts.begin(), attempts.end(), shorter));
  }

  void Mend() {
    const character::Character& character = reference_.character();
    const double h = reference_.frame_time();
    const Course course = MeasureCourse(character, steadying_.poses, h);
    const std::vector<Stance> stances = FindStances(character, course);
    const std::vector<Flight> floats = FindFloats(course, stances, gravity_);
    const std::vector<double> level = LevelStances(course, stances, floats);
    const std::vector<Flight> flights =
        gravity_ > 0 ? FindFlights(course, stances, level, gravity_) : std::vector<Flight>();
    const std::vector<SupportReach> support = MeasureSupport(character, course, level);
    RetimingProblem problem{character, course, stances, level, support, flights, false, gravity_};
    problem.retimes = std::any_of(result_.found.begin(), result_.found.end(), [](const Finding& finding) {
      return finding.kind == Kind::kFall || finding.kind == Kind::kSkim || finding.kind == Kind::kUnsupported ||
             finding.kind == Kind::kPull || finding.kind == Kind::kPress;
    });
    Attempt attempt = Try(problem);
    if (problem.retimes) {
      // A clock with which no less force is missing stays as it was.
      problem.retimes = false;
      Attempt leveled = Try(problem);
      if (leveled.missing.force <= attempt.missing.force) attempt = std::move(leveled);
    }
    result_.missing = attempt.missing;
    result_.recorded = std::move(attempt.recorded);
    result_.poses = std::move(attempt.poses);
    for (const double place : attempt.places) result_.instants.push_back(place * h);
    result_.changed = true;
    MeasureChanges(reference_, flights, gravity_, result_);
  }

  const character::ReferenceMotion& reference_;
  double gravity_;
  Steadying steadying_;
  Repair result_;
};

}  // namespace

Repair RepairReference(const character::ReferenceMotion& reference, double gravity, const std::string& name) {
  Repair repair = Repairer(reference, gravity).Run();
  for (const Finding& finding : repair.found) {
    if (finding.repairable()) continue;
    throw InputError(name, finding.Text() + " with nothing near the floor",
                     "a support in a world, or a fall that another speed of play can mend");
  }
  return repair;
}

}  // namespace retrace::repair
