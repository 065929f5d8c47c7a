/// Repairs of a reference that reaches into the floor, by errors of capture or because the character is shaped
/// otherwise than the actor. What they change is added to the report.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// Raises the root where trunk, pelvis, head, thighs or upper arms are under the floor. Not for feet and hands: lifting
/// the whole body for them would tear the others off the ground. `rate`: poses per second.
void LiftRoot(const Character& character, double rate, std::vector<Pose>& poses, ReferenceReport& report);

/// Bends the arms where a hand or forearm is under the floor, so that it rests on it: the wrist rises, the elbow flexes
/// as far as that requires, the shoulder turns with it, the hand keeps its direction in the world. Arms are the limbs
/// of segments upper_arm, lower_arm and hand. A servo that drives at a hand deep in the floor throws the body up.
void RaiseHands(const Character& character, double rate, std::vector<Pose>& poses, ReferenceReport& report);

}  // namespace retrace::character
