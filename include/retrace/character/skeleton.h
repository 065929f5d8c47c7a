/// The character as a recorded skeleton, and its poses as frames: for BVH files in and out.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/motion/clip.h"

namespace retrace::character {

/// One joint per body, named after the body it moves; the root sits at the root body's center of mass. End sites mark
/// the tips of bodies that carry no further joint. Meters, y up.
motion::Skeleton SkeletonOf(const Character& character);

/// A pose as a frame of SkeletonOf, which is `skeleton`.
motion::Frame FrameOf(const Character& character, const motion::Skeleton& skeleton, const Pose& pose);

/// Poses `frame_time` seconds apart as a clip of SkeletonOf.
motion::Clip ClipOf(const Character& character, const std::vector<Pose>& poses, double frame_time);

/// The reverse: joint rotations read from a clip of SkeletonOf. Throws InputError when the joints are others; `name`
/// stands for the clip in the message.
std::vector<Pose> PosesOf(const Character& character, const motion::Clip& clip, const std::string& name);

}  // namespace retrace::character
