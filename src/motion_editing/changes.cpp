#include "changes.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/intervals.h"
#include "retrace/motion_editing/missing.h"

namespace retrace::repair {
namespace {

// What is less counts as no change.
constexpr double kNoTime = 0.02;    // logarithm of the playback speed
constexpr double kNoShift = 0.005;  // [m]
const double kNoTurn = Radians(1);

Change ChangeOf(const std::vector<double>& sizes, double frame_time) {
  Change change;
  double sum = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    sum += sizes[k] * sizes[k];
    if (sizes[k] <= change.largest) continue;
    change.largest = sizes[k];
    change.at = static_cast<double>(k) * frame_time;
  }
  if (!sizes.empty()) change.rms = std::sqrt(sum / static_cast<double>(sizes.size()));
  return change;
}

/// The pose of the repaired motion that shows an instant of the reference.
size_t PoseOfInstant(const std::vector<double>& instants, double instant) {
  const auto next = std::lower_bound(instants.begin(), instants.end(), instant);
  return std::min(static_cast<size_t>(next - instants.begin()), instants.size() - 1);
}

FlightMomentum MomentumOf(const Course& course, size_t first, size_t last) {
  const auto part =
      course.momentum.middleRows(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(last - first + 1));
  const Eigen::RowVector3d mean = part.colwise().mean();
  const double h = course.frame_time;
  return {{static_cast<double>(first) * h, static_cast<double>(last) * h},
          mean.norm(),
          (part.rowwise() - mean).rowwise().norm().maxCoeff()};
}

}  // namespace

void MeasureChanges(const character::ReferenceMotion& reference, const std::vector<Flight>& flights, double gravity,
                    Repair& repair) {
  const double h = reference.frame_time();
  const size_t count = repair.poses.size();
  repair.duration = static_cast<double>(count - 1) * h;
  std::vector<double> times, shifts;
  const std::vector<double> speeds = repair.Speeds(h), turns = repair.LargestTurns();
  const auto [slowest, fastest] = std::minmax_element(speeds.begin(), speeds.end());
  repair.slowest = *slowest;
  repair.fastest = *fastest;
  for (const double speed : speeds) times.push_back(std::abs(std::log(speed)));
  std::vector<bool> changed;
  for (size_t k = 0; k < count; ++k) {
    shifts.push_back((repair.poses[k].root_position - repair.recorded[k].root_position).norm());
    changed.push_back(times[k] > kNoTime || shifts[k] > kNoShift || turns[k] > kNoTurn);
  }
  repair.time = ChangeOf(times, h);
  repair.root = ChangeOf(shifts, h);
  repair.joint = ChangeOf(turns, h);
  repair.intervals = metrics::Stretches(changed, h);
  const Course after = MeasureCourse(reference.character(), repair.poses, h);
  character::State recorded;
  for (size_t k = 0; k < count; ++k) {
    repair.heights.push_back(after.center(static_cast<Eigen::Index>(k), 1));
    character::ForwardKinematics(reference.character(), repair.recorded[k], recorded);
    repair.recorded_heights.push_back(character::CenterOfMass(reference.character(), recorded).y());
  }
  for (const Flight& flight : flights) {
    if (!FallsOtherwise(flight, gravity, h)) continue;
    const size_t first = PoseOfInstant(repair.instants, static_cast<double>(flight.first) * h);
    const size_t last = PoseOfInstant(repair.instants, static_cast<double>(flight.last) * h);
    repair.flights.push_back(MomentumOf(after, first, std::max(first, last)));
  }
  repair.missing_before = MissingOf(reference, gravity);
}

}  // namespace retrace::repair
