/// A motion as roboticists run it: root and joints over time, with targets, torques and gains of the servos.
#pragma once

#include <string>

#include "retrace/exports/exported_motion.h"

namespace retrace::exports {

/// joint_motion.csv, a row per frame, in the axes of robots' files: x forward, y to the left, z up:
///  - time [s]
///  - root_x .. root_z, root_qx, root_qy, root_qz, root_qw: the frame of the root link, which the character's file
///    has as root_frame, else the center of the root body
///  - root_vx .. root_vz, root_wx .. root_wz: its velocity [m/s], and angular velocity in world axes [rad/s]
///  - for each joint JOINT its angle [rad]; JOINT_velocity [rad/s]; JOINT_target: what the servo drives at; JOINT_kp,
///    JOINT_kd: its gains, without what contacts change in them [N m/rad], [N m s/rad]; JOINT_feedforward: torque
///    beside that of the servo; JOINT_torque: all of it, in the step that led here [N m]. A ball joint has JOINT_x,
///    JOINT_y, JOINT_z instead, rotation vectors in the axes of the parent as this toolkit has them.
///  - contact_BODY for each foot and hand: 1 where it carries force in that step, else 0
/// `reconstruct --character ROBOT` reads it again. Targets are those of the control, also where feedback changed them.
std::string FormatJointMotion(const ExportedMotion& motion, double rate);

}  // namespace retrace::exports
