/// Feet of a recorded motion that replaces a simulation: those that stand stay where they are, and those that
/// have to come elsewhere take a step. Internal to the module.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/legs.h"
#include "retrace/character/state.h"

namespace retrace::runs {

/// A leg where a simulation ends and a motion begins.
struct EnteringLeg {
  character::Leg leg;
  size_t foot = 0;            ///< body
  bool stands = false;        ///< its foot, in the simulation
  double stands_until = 0;    ///< in the motion, from its beginning on; 0: it swings there [s]
  double lands = 0;           ///< in the motion: when it stands next, after that [s]
  Vec3 apart = Vec3::Zero();  ///< from the motion's ankle to the simulation's, along the ground [m]
  bool held() const;          ///< it stands in both, near enough to stay where it is
};

/// @param simulated where the simulation ends
/// @param motion the pose of the motion at a time from there on [s], placed near to it
/// @param duration of the motion [s]
std::vector<EnteringLeg> EnteringLegs(const character::Character& character, const character::State& simulated,
                                      const std::function<void(double time, character::Pose& pose)>& motion,
                                      double duration);

/// Bends the legs of poses that go over from a simulation to a motion: a foot that stands in both is held where it
/// stands until the motion lifts it; one that does not is raised while it comes to where the motion has it.
/// @param motion poses that it goes over to, put where it ends, as many as `poses`
/// @param poses kCompositionFrame apart, from the end of the simulation on
void PlantFeet(const character::Character& character, std::span<const EnteringLeg> legs,
               std::span<const character::Pose> motion, double frame_time, std::span<character::Pose> poses);

}  // namespace retrace::runs
