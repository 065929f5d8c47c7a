/// What models of OpenSim leave out of a person.
#pragma once

#include "retrace/motion/clip.h"

namespace retrace::recordings {

/// Adds the segments that a model's motion has not, so that it is that of a person: what is missing goes with its
/// neighbor, and is said.
///  - A head goes with the trunk, over the middle of the shoulders.
///  - Arms go with the trunk and hang. One arm is like the other one.
///  - A trunk goes with the pelvis, and a pelvis with the trunk.
///  - One leg is like the other one and goes with the pelvis, with its knee bent, so that it does not stand; legs that
///    are both missing hang straight.
/// Lengths that nothing shows are in proportion to the legs, or where there are none to the arms (de Leva 1996). A leg
/// has the masses of the other one. Where masses of the trunk or of both legs are not stated, none are.
/// @param clip with names and axes of OpenSim: `femur_r`, `humerus_l`, `torso`; x forward, y up, z to the right. One
/// with other names stays as it is.
void AddMissingSegments(motion::Clip& clip);

}  // namespace retrace::recordings
