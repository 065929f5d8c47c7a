/// Poses before and after a recorded motion that are no part of it: T-poses and others of a calibration.
#pragma once

#include <cstddef>

#include "retrace/motion/clip.h"

namespace retrace::motion {

/// The frames of a recording that belong to its motion, from `first` to before `end`.
struct MotionFrames {
  size_t first = 0;
  size_t end = 0;
  double jump_before = 0;  ///< into frame `first`, of the mean point of the bones [m]; 0 where nothing is before it
  double jump_after = 0;   ///< out of frame `end - 1`, likewise
};

/// Leaves out what stands still at either end of a recording, or is a few poses, when no body can move from it to the
/// motion: within one frame the bones would have to go far, and with accelerations that no body has, several times as
/// fast as in the frames beside. What stands for long must be far away, as a T-pose is, or before a pose that
/// is: else a body stood there, and frames were lost. A recording of poses alone keeps them all. @param unit meters per
/// unit of the file
MotionFrames FindMotionFrames(const Clip& clip, double unit);

}  // namespace retrace::motion
