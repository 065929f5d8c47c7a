/// Loss of balance: how a body falls until it lies still, and the motion from there to a pose.
/// Internal to the module.
#pragma once

#include <functional>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/control/fragment.h"
#include "retrace/simulation/world.h"

namespace retrace::runs {

/// Servos with a share of their strength hold the pose of a state: commands of all steps alike (joints).
std::vector<simulation::JointCommand> HoldingWith(double gain, const character::Character& character,
                                                  const character::State& state);

/// Shares of the servos' strength with which a body falls, tried in this order: how it lies decides how it gets up.
inline constexpr double kFallGains[] = {0.2, 0.1, 0.4};
/// In which servos then go to the pose of a get-up [s].
inline constexpr double kDriveTime = 1.5;

/// A body falls as a semi-ragdoll (Liu et al. 2010, section 4), for 0.5 to 4 s, until it lies still. Servos with a
/// fraction of their strength hold the pose that the fall began with, and the arms, somewhat stronger, are stretched to
/// where the body falls, for as long as it does. It lies still where the root mean square of the joints' rates is below
/// 0.25 rad/s and the center of mass slower than 0.05 m/s.
/// @param gain of the servos, as a share of their strength
/// @param first_step at which the fall begins
/// @param state of the body, as it is by then
/// @param play simulates a fragment from there on; false where that diverges
/// @return false where it diverges
bool FallUntilStill(const character::Character& character, double gain, int first_step, double time_step,
                    const std::function<character::State()>& state,
                    const std::function<bool(control::Fragment fragment)>& play);

/// Servos bring the joints from their rotations in `state` to those of a pose, and gain their full strength meanwhile.
control::Fragment DriveTo(const character::Character& character, const character::State& state,
                          const character::State& goal, int first_step, int num_steps);

}  // namespace retrace::runs
