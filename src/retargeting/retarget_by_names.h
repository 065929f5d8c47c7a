/// Joint rotations of a character that is not human from a recorded skeleton with its segments. Internal to the
/// character module.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// As Retarget (retarget.h), for a character that is not human: each segment is moved by the joint of its name (see
/// MapByNames). The clip's rest pose must be the character's, but for the lengths of its bones. The scale is that of
/// the limbs, all together; the joints at the root are where the recording has them, on average.
std::vector<Pose> RetargetByNames(const Character& character, const motion::Clip& clip, const std::string& name,
                                  const ReferenceOptions& options, ReferenceReport& report);

}  // namespace retrace::character
