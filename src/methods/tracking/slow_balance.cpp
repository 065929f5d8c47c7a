#include "slow_balance.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"

namespace retrace::tracking {
namespace {

constexpr double kBetween = 0.01;  // between instants of the reference [s]
constexpr double kSlow = 0.3;      // speed of the center of mass along the ground up to which a motion is slow [m/s]
constexpr double kFast = 0.6;      // and from which on it is not
constexpr size_t kAround = 20;     // instants before and after over which it is averaged
constexpr double kAroundFlight = 0.4;   // time before and after a flight in which nothing is slow [s]
constexpr double kBalanceWeight = 100;  // of the goal; joints have 1

}  // namespace

SlowBalance::SlowBalance(const character::Character& character, const character::ReferenceMotion& reference,
                         std::span<const metrics::Interval> flights, const Options& options, double gravity)
    : options_(options), mass_(character.total_mass()), reference_(character, gravity) {
  if (character.planar || options.stance_feedback == 0 || options.guidance > 0) return;
  character::State state;
  const auto count = static_cast<size_t>(reference.duration() / kBetween) + 1;
  std::vector<double> way(count + 1, 0.0);  // sums of speeds up to an instant
  for (size_t i = 0; i < count; ++i) {
    reference.StateAt(static_cast<double>(i) * kBetween, state);
    const Vec3 velocity = character::CenterOfMassVelocity(character, state);
    way[i + 1] = way[i] + std::hypot(velocity.x(), velocity.z());
  }
  for (size_t i = 0; i < count; ++i) {
    const double time = static_cast<double>(i) * kBetween;
    const size_t first = i - std::min(i, kAround), last = std::min(i + kAround + 1, count);
    const double speed = (way[last] - way[first]) / static_cast<double>(last - first);
    const bool flies = std::any_of(flights.begin(), flights.end(), [&](const metrics::Interval& flight) {
      return time > flight.start - kAroundFlight && time < flight.end + kAroundFlight;
    });
    slowness_.push_back(flies ? 0 : std::clamp((kFast - speed) / (kFast - kSlow), 0.0, 1.0));
  }
}

double SlowBalance::SlownessAt(double time) const {
  if (slowness_.empty()) return 0;
  return slowness_[std::min(static_cast<size_t>(std::max(time, 0.0) / kBetween), slowness_.size() - 1)];
}

void SlowBalance::AddTask(const dynamics::CharacterDynamics& now, const Goal& goal, double time,
                          const Vec3& distance_error, const Vec3& surface_velocity, Dynamics& program) {
  const double slowness = SlownessAt(time);
  if (slowness == 0) return;
  reference_.SetMotion(goal.pose, goal.velocity);
  momentum_.resize(6, now.size());
  reference_.MomentumMatrix(momentum_);
  const dynamics::Vec6 change = momentum_ * goal.acceleration + reference_.MomentumBias();
  now.MomentumMatrix(momentum_);
  const Vec3 missing = (reference_.LinearMomentum() - now.LinearMomentum()) / mass_ + surface_velocity;
  const double feedback = options_.stance_feedback;
  const Vec3 bias = now.MomentumBias().tail<3>();
  const Vec3 wanted = (change.tail<3>() - bias) / mass_ - feedback * distance_error + 2 * std::sqrt(feedback) * missing;
  Task& task = program.AddTask();
  task.weight = kBalanceWeight * slowness;
  task.jacobian.resize(2, now.size());
  task.desired.resize(2);
  for (const Eigen::Index row : {0, 1}) {  // along x and z
    task.jacobian.row(row) = momentum_.row(3 + 2 * row) / mass_;
    task.desired[row] = wanted[2 * row];
  }
}

}  // namespace retrace::tracking
