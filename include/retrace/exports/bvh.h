/// Motion as a BVH file: joint rotations and the root's path, for animation tools.
#pragma once

#include <string>

#include "retrace/character/character.h"
#include "retrace/control/control.h"

namespace retrace::exports {

/// Frames per second of motion.bvh.
inline constexpr double kBvhRate = 120;

/// Text of a BVH file of character::SkeletonOf: a joint per body, named after the body that it moves; metres, y up.
/// Joints are taken as if they held exactly. Poses are interpolated where the simulation step does not divide the rate.
std::string FormatMotionBvh(const character::Character& character, const control::Trajectory& trajectory,
                            double rate = kBvhRate);

}  // namespace retrace::exports
