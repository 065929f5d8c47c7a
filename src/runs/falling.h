/// Who has lost the balance: reflexes of a body that falls, when it lies still, and the way from there to a pose.
/// Internal to the module.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/control/fragment.h"
#include "retrace/simulation/world.h"

namespace retrace::runs {

/// A semi-ragdoll (Liu et al. 2010, section 4): servos with a fraction of their strength hold the pose that the fall
/// began with, and the arms, somewhat stronger, are stretched to where the body falls, for as long as it does.
class FallingReflexes {
 public:
  /// @param state with which the fall begins. The character must outlive the reflexes.
  /// @param gain of the servos, as a share of their strength
  FallingReflexes(const character::Character& character, const character::State& state, double gain);
  /// What the reflexes do from a state on.
  control::Fragment From(const character::State& state, int first_step, int num_steps);

 private:
  const character::Character& character_;
  double gain_;
  std::vector<simulation::JointCommand> commands_;  // (joints)
};

/// Whether a body lies still: root mean square of the joints' rates below 0.25 rad/s, centre of mass slower than
/// 0.05 m/s.
bool LiesStill(const character::Character& character, const character::State& state);

/// Servos bring the joints from their rotations in `state` to those of a pose, and gain their full strength on the way.
control::Fragment DriveTo(const character::Character& character, const character::State& state,
                          const character::State& goal, int first_step, int num_steps);

}  // namespace retrace::runs
