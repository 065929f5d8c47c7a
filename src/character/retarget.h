/// Joint rotations of a character from a recorded skeleton, frame by frame, by matching segment directions.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference.h"
#include "retrace/character/skeleton_map.h"
#include "retrace/motion/clip.h"

namespace retrace::character {

/// Poses at the clip's frames, first after the lead-in; the root is where the recording has it, scaled so that the
/// source's legs are as long as the character's. Fills the report's
/// family, unit, height, up axis, scale, lead-in and notes.
std::vector<Pose> Retarget(const Character& character, const motion::Clip& clip, const std::string& name,
                           const ReferenceOptions& options, ReferenceReport& report);

}  // namespace retrace::character
