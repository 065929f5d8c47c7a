#include "take_off.h"

#include <algorithm>
#include <cmath>

#include "retrace/math/smooth_step.h"

namespace retrace::tracking {
namespace {

constexpr double kBefore = 0.08;  // a flight, from which on it is foreseen: longer, and runs land worse [s]
constexpr double kLate = 0.05;    // after its beginning, up to which it may be made up for [s]
constexpr int kSamples = 16;      // of a flight, for the mean of its angular momentum

dynamics::Vec6 MomentumOf(const dynamics::CharacterDynamics& dynamics) {
  dynamics::Vec6 momentum;
  momentum << dynamics.AngularMomentum(), dynamics.LinearMomentum();
  return momentum;
}

}  // namespace

TakeOff::TakeOff(const character::Character& character, TrackedMotion& motion,
                 std::span<const metrics::Interval> flights, const Options& options, double gravity)
    : options_(options), root_(character.root), reference_(character, gravity) {
  Goal goal;
  const auto momentum = [&](double time) {
    motion.At(time, goal);
    reference_.SetMotion(goal.pose, goal.velocity);
    return reference_.AngularMomentum();
  };
  for (const metrics::Interval& interval : flights) {
    if (interval.start <= 0) continue;
    Vec3 mean = Vec3::Zero();
    for (int k = 0; k < kSamples; ++k) {
      mean += momentum(interval.start + (k + 0.5) / kSamples * (interval.end - interval.start)) / kSamples;
    }
    flights_.push_back({interval, mean - momentum(interval.start)});
  }
}

void TakeOff::AddTasks(const dynamics::CharacterDynamics& now, const Goal& goal, double time, Dynamics& program) {
  if (options_.take_off_weight == 0) return;
  const auto flight = std::find_if(flights_.begin(), flights_.end(), [&](const Flight& candidate) {
    return time < std::min(candidate.interval.start + kLate, candidate.interval.end);
  });
  if (flight == flights_.end() || time <= flight->interval.start - kBefore) return;
  const double share = std::min(1.0, 1 - (flight->interval.start - time) / kBefore);
  const double taken = SmoothStep(share), rate = 6 * share * (1 - share) / kBefore;
  reference_.SetMotion(goal.pose, goal.velocity);
  Task& task = program.AddTask();
  task.weight = options_.take_off_weight * taken;
  task.jacobian.resize(6, now.size());
  reference_.MomentumMatrix(task.jacobian);
  dynamics::Vec6 change = task.jacobian * goal.acceleration + reference_.MomentumBias();
  dynamics::Vec6 missing = MomentumOf(reference_) - MomentumOf(now);
  change.head<3>() += rate * flight->missing;
  missing.head<3>() += taken * flight->missing;
  now.MomentumMatrix(task.jacobian);
  task.desired = change + options_.take_off_feedback * missing - now.MomentumBias();
  // As accelerations: of the center of mass, and of a body that turns as one.
  const dynamics::Inertia whole = now.CompositeInertia(root_);
  const double turned = whole.tensor.trace() / 3;
  task.jacobian.topRows<3>() /= turned;
  task.jacobian.bottomRows<3>() /= whole.mass;
  task.desired.head<3>() /= turned;
  task.desired.tail<3>() /= whole.mass;
}

}  // namespace retrace::tracking
