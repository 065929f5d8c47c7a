#include "retrace/methods/tracking/tracked_motion.h"

#include <algorithm>
#include <optional>

#include "retrace/methods/tracking/problem.h"
#include "retrace/retargeting/resampling.h"
#include "retrace/task/world_variation.h"

namespace retrace::tracking {
namespace {

constexpr double kInterval = 1.0 / 240;  // half width of the differences [s]

void PutFeetOnGround(const simulation::Environment& ground, const simulation::WorldOptions& simulated,
                     const Options& options, PreparedReference& prepared) {
  character::ReferenceMotion& motion = prepared.motion;
  if (options.clean_feet) {
    prepared.cleaning = task::CleanFeet(motion, ground);
    motion = motion.WithPoses(prepared.cleaning.poses);
  }
  if (options.soft_contacts || options.seat_feet) {
    prepared.seating = task::SeatFeet(motion, simulated.contact_stiffness, simulated.gravity, ground);
    motion = motion.WithPoses(prepared.seating.poses);
  }
}

void MakePhysical(const simulation::Environment& ground, const simulation::WorldOptions& simulated,
                  const Options& options, PreparedReference& prepared) {
  character::ReferenceMotion& motion = prepared.motion;
  motion = motion.WithPoses(character::SmoothPoses(motion.poses(), options.smoothing / motion.frame_time()));
  if (options.ballistic_flight) {
    // Where forces do not guide, a flight begins where the controller plans no more force.
    const std::optional<double> lifted = options.guidance > 0 ? std::nullopt : std::optional<double>(options.lifted);
    prepared.flight = task::MakeFlightBallistic(motion, ground, simulated.gravity, lifted);
    motion = motion.WithPoses(prepared.flight.poses);
  }
  if (options.balance) {
    prepared.balancing = task::BalanceMotion(motion, ground, simulated.gravity);
    motion = motion.WithPoses(prepared.balancing.poses);
  }
}

}  // namespace

PreparedReference PrepareReference(const character::ReferenceMotion& recorded, const task::WorldVariation& world,
                                   const simulation::WorldOptions& simulated, const Options& options) {
  PreparedReference prepared{recorded, {}, {}, {}, {}};
  // A motion that is adapted to its world was recorded on a floor.
  const simulation::Environment recorded_on =
      world.adapts_motion() ? simulation::Environment() : task::PlaceWorld(world, recorded).environment;
  PutFeetOnGround(recorded_on, simulated, options, prepared);
  const task::PlacedWorld placed = task::PlaceWorld(world, prepared.motion);
  prepared.motion = placed.reference;
  MakePhysical(placed.environment, simulated, options, prepared);
  return prepared;
}

PreparedReference PrepareReference(const character::ReferenceMotion& motion, const simulation::WorldOptions& simulated,
                                   const Options& options) {
  PreparedReference prepared{motion, {}, {}, {}, {}};
  PutFeetOnGround(simulated.environment, simulated, options, prepared);
  MakePhysical(simulated.environment, simulated, options, prepared);
  return prepared;
}

std::vector<std::string> PreparedReference::Notes() const {
  std::vector<std::string> notes = cleaning.notes;
  notes.insert(notes.end(), seating.notes.begin(), seating.notes.end());
  notes.insert(notes.end(), flight.notes.begin(), flight.notes.end());
  notes.insert(notes.end(), balancing.notes.begin(), balancing.notes.end());
  return notes;
}

TrackedMotion::TrackedMotion(const character::ReferenceMotion& reference, const dynamics::Coordinates& coordinates)
    : reference_(reference), coordinates_(coordinates) {
  for (Eigen::VectorXd& rate : rates_) rate.setZero(coordinates.size());
}

void TrackedMotion::At(double time, Goal& goal) {
  const double last = reference_.duration();
  time = std::clamp(time, 0.0, last);
  const double middle = std::min(std::max(time, 2 * kInterval), std::max(last - 2 * kInterval, 0.5 * last));
  for (size_t i = 0; i < poses_.size(); ++i) {
    reference_.PoseAt(middle + (static_cast<double>(i) - 2) * kInterval, poses_[i]);
  }
  goal.velocity.resize(coordinates_.size());
  goal.acceleration.resize(coordinates_.size());
  coordinates_.Difference(poses_[1], poses_[3], goal.velocity);
  goal.velocity /= 2 * kInterval;
  coordinates_.Difference(poses_[0], poses_[2], rates_[0]);
  coordinates_.Difference(poses_[2], poses_[4], rates_[1]);
  goal.acceleration = (rates_[1] - rates_[0]) / (4 * kInterval * kInterval);
  reference_.PoseAt(time, goal.pose);
  coordinates_.StateOf(goal.pose, goal.velocity, goal.state);
}

}  // namespace retrace::tracking
