/// Legs: a hip, a knee and an ankle that can put a foot where it should be.
#pragma once

#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::character {

struct Leg {
  int hip = -1, knee = -1, ankle = -1;  ///< joints
  double side = 1;                      ///< 1: left, towards x of the rest pose; -1: right
  double folding = 1;                   ///< 1: a hinged knee closes about its axis, -1: against it
};

/// Legs that can be turned and put down again: a ball joint at hip and ankle, or those of a planar character.
std::vector<Leg> LegsOf(const Character& character);

/// How far a leg is folded about the axis of its knee in a state: its sign, summed over a motion, is Leg::folding.
double Folding(const Character& character, const Leg& leg, const State& state);
/// Leg::folding of a leg in a motion.
double FoldingOf(const Character& character, const Leg& leg, std::span<const State> states);

/// Where a foot is to be put down.
struct Footing {
  Vec3 ankle = Vec3::Zero();     ///< [m]
  Quat tilt = Quat::Identity();  ///< of the foot, from the orientation that it has
};

/// Bends a knee and turns the leg about its hip so that the ankle is where it should be, as far as it reaches, and
/// tilts the foot. `state` is the pose's, before. Of a planar character's leg, what turns it out of its plane is left
/// out.
void BendLeg(const Character& character, const Leg& leg, const State& state, const Footing& footing, Pose& pose);

/// Bends the legs of a pose so that no foot is below the ground. `state` is the pose's, before.
void RaiseFeet(const Character& character, const State& state, Pose& pose);

}  // namespace retrace::character
