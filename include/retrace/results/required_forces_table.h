/// What a motion requires (metrics::RequiredForces) as a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "retrace/metrics/required_forces.h"

namespace retrace::results {

/// CSV as of tables.h, one row per instant. Columns:
///  - time [s]
///  - com_x .. com_z: center of mass [m]
///  - force_x .. force_z: what the whole character needs from outside, besides gravity [N]
///  - moment_x .. moment_z: the same about the center of mass [N m]
///  - missing_force_x .. missing_moment_z: of these, what the ground cannot supply
///  - for each body that the ground presses on at some time: BODY_force_x .. BODY_force_z [N], BODY_center_x and
///    BODY_center_z: the center of pressure in the ground [m], empty where there is no force, BODY_free_moment: about
///    the vertical through it [N m]
///  - JOINT_x, JOINT_y, JOINT_z: torque on the child, in the parent's axes [N m]; a hinge has its axis only
///  - JOINT_power: of this torque [W]
std::string FormatRequiredForces(const character::Character& character,
                                 const std::vector<metrics::RequiredForces>& motion);

}  // namespace retrace::results
