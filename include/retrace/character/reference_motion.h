/// A motion of a character as poses at even intervals, such as a recorded clip becomes (reference.h).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::character {

/// Interpolates from `a` to `b` by a share in [0, 1]: orientations along the shorter arc.
void Interpolate(const Pose& a, const Pose& b, double share, Pose& pose);

/// Evenly spaced poses of the character with the first at time 0, and states between them.
class ReferenceMotion {
 public:
  /// The character must outlive the motion; at least two poses.
  ReferenceMotion(const Character& character, double frame_time, std::vector<Pose> poses, double velocity_interval);

  double duration() const { return static_cast<double>(poses_.size() - 1) * frame_time_; }
  double frame_time() const { return frame_time_; }
  const std::vector<Pose>& poses() const { return poses_; }
  /// The bodies at each pose, at rest.
  std::vector<State> StatesOfPoses() const;
  const Character& character() const { return *character_; }
  /// The same with other poses at the same times.
  ReferenceMotion WithPoses(std::vector<Pose> poses) const {
    return ReferenceMotion(*character_, frame_time_, std::move(poses), velocity_interval_);
  }

  /// The same for another character with the same bodies and joints, which must outlive it.
  ReferenceMotion Of(const Character& character) const {
    return ReferenceMotion(character, frame_time_, poses_, velocity_interval_);
  }

  /// Pose at a time [s], clamped to the motion.
  void PoseAt(double time, Pose& pose) const;
  /// State at a time: the pose, and velocities by central differences (one-sided at the ends).
  void StateAt(double time, State& state) const;
  /// `count` poses from a time on, an interval [s] apart; past the end the last one stays.
  std::vector<Pose> Sample(double start, size_t count, double interval) const;

 private:
  const Character* character_;
  double frame_time_;
  std::vector<Pose> poses_;
  double velocity_interval_;
};

}  // namespace retrace::character
