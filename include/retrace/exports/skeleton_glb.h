/// A clip as a binary glTF 2.0 file (GLB): its skeleton, moving.
#pragma once

#include <string>

#include "retrace/math/types.h"
#include "retrace/motion/clip.h"

namespace retrace::exports {

/// Bytes of a GLB file. In it are
///  - a node per joint and tip, with its name, in the hierarchy of the clip and at its offset, in the clip's unit and
///    axes; above them a node `NAME_axes`, which turns and scales these to meters with y up, as glTF has them
///  - a mesh of a slender bone from each joint to the next ones, bound to the nodes (a skin), so that Blender shows an
///    armature
///  - one animation with the name, a key per frame, linear between: rotations of all joints, and paths of those that
///    move in their parents
/// The animation's numbers are 32-bit floats.
/// @param unit meters per unit of the clip @param turn from the axes of the clip to those with y up
std::string FormatSkeletonGlb(const motion::Clip& clip, const std::string& name, double unit, const Quat& turn);

}  // namespace retrace::exports
