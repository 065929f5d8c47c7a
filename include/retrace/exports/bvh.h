/// Motion as a BVH file: joint rotations and the root's path, for animation tools.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/control.h"
#include "retrace/recordings/bvh.h"

namespace retrace::exports {

/// Frames per second of motion.bvh.
inline constexpr double kBvhRate = 120;

/// Text of a BVH file of character::SkeletonOf: a joint per body, named after the body that it moves; meters, y up.
/// Joints are taken as if they held exactly. Poses are interpolated where the simulation step does not divide the rate.
std::string FormatMotionBvh(const character::Character& character, const control::Trajectory& trajectory,
                            double rate = kBvhRate);

/// The same of a motion that comes in parts (control::ReplayInParts): the head, then the rows of the parts one after
/// the other, then the last rows.
class MotionBvh {
 public:
  /// The character must outlive it.
  explicit MotionBvh(const character::Character& character, double rate = kBvhRate);
  /// What stands above the rows of so many frames.
  std::string Head(int frames) const { return text_.Head(static_cast<size_t>(frames), 1 / rate_); }
  /// Frames of a motion of so many steps [s].
  int FramesOf(size_t steps, double time_step) const;
  /// The rows of the frames that can be told so far.
  std::string Add(const control::Trajectory& part);
  /// The last rows. Nothing can be added afterwards.
  std::string Finish();
  /// The joints whose rows have been given.
  int frames() const { return frames_; }

 private:
  /// Appends the next frame, between the latest two poses.
  void AddFrame(double share, std::string& rows);

  const character::Character& character_;
  double rate_;
  motion::Skeleton skeleton_;
  motion::BvhText text_;
  int frames_ = 0;
  size_t states_ = 0;
  double time_step_ = 0;
  character::Pose before_;
  character::Pose latest_;
  character::Pose between_;
};

}  // namespace retrace::exports
