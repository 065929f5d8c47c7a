#include "retrace/character/reference_motion.h"

#include <algorithm>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::character {

void Interpolate(const Pose& a, const Pose& b, double share, Pose& pose) {
  pose.root_position = (1 - share) * a.root_position + share * b.root_position;
  pose.root_orientation = Nlerp(a.root_orientation, b.root_orientation, share);
  pose.joint_rotations.resize(a.joint_rotations.size());
  for (size_t j = 0; j < a.joint_rotations.size(); ++j) {
    pose.joint_rotations[j] = Nlerp(a.joint_rotations[j], b.joint_rotations[j], share);
  }
}

ReferenceMotion::ReferenceMotion(const Character& character, double frame_time, std::vector<Pose> poses,
                                 double velocity_interval)
    : character_(&character),
      frame_time_(frame_time),
      poses_(std::move(poses)),
      velocity_interval_(velocity_interval) {}

std::vector<State> ReferenceMotion::StatesOfPoses() const {
  std::vector<State> states(poses_.size());
  for (size_t f = 0; f < states.size(); ++f) ForwardKinematics(*character_, poses_[f], states[f]);
  return states;
}

void ReferenceMotion::PoseAt(double time, Pose& pose) const {
  const double x = std::clamp(time / frame_time_, 0.0, static_cast<double>(poses_.size() - 1));
  const size_t i = std::min(static_cast<size_t>(x), poses_.size() - 2);
  Interpolate(poses_[i], poses_[i + 1], x - static_cast<double>(i), pose);
}

void ReferenceMotion::StateAt(double time, State& state) const {
  const double t = std::clamp(time, 0.0, duration());
  const double before = std::max(0.0, t - velocity_interval_);
  const double after = std::min(duration(), t + velocity_interval_);
  Pose pose;
  State earlier;
  State later;
  PoseAt(before, pose);
  ForwardKinematics(*character_, pose, earlier);
  PoseAt(after, pose);
  ForwardKinematics(*character_, pose, later);
  PoseAt(t, pose);
  ForwardKinematics(*character_, pose, state);
  DifferenceVelocities(earlier, later, after - before, state);
}

std::vector<Pose> ReferenceMotion::Sample(double start, size_t count, double interval) const {
  std::vector<Pose> poses(count);
  for (size_t f = 0; f < count; ++f) PoseAt(start + static_cast<double>(f) * interval, poses[f]);
  return poses;
}

}  // namespace retrace::character
