/// Single frames of a recording in which a joint is turned elsewhere and back, faster than any limb: exchanged markers,
/// an inverse kinematics that did not converge. Internal to this module.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// Turns each joint steadily from the last frame before such a spike to the first one after it, and notes which and
/// when [s of the recording; `first_time` is that of the first pose; it is played `time_scale` times as long]. A joint
/// that stays where it jumped to is left as it is: which of the two is right cannot be told.
void BridgeSpikes(const Character& character, double frame_time, double time_scale, double first_time,
                  std::vector<Pose>& poses, ReferenceReport& report);

}  // namespace retrace::character
