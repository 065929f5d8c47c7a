/// Motion as arrays that numpy.load reads (NPZ: a zip archive of NPY files).
#pragma once

#include <string>

#include "retrace/exports/exported_motion.h"

namespace retrace::exports {

/// Bytes of an NPZ file. Every simulation step, 64-bit floats to the bit; meters, seconds, radians, newtons; y up;
/// quaternions are w, x, y, z, body to world. With n states (steps + 1), b bodies, j joints, o objects of the world and
/// k contact points:
///  - time (n) [s]; time_step () [s]; gravity () [m/s^2]
///  - root_position (n x 3) [m], root_orientation (n x 4): of the root body
///  - joint_rotation (n x j x 3): rotation vector, child relative to parent, in the parent's axes [rad]
///  - joint_position (n x j x 3): in the world, as the parent body has it [m]
///  - joint_torque (n x j x 3): of the servo on the child, in the parent's axes [N m]
///  - joint_target (n x j x 3): rotation vector that the servo drove at, as joint_rotation [rad]: the control
///  - body_position (n x b x 3) [m], body_orientation (n x b x 4), body_linear_velocity (n x b x 3) [m/s],
///    body_angular_velocity (n x b x 3), in world axes [rad/s]: of the centers of mass
///  - body_contact_force (n x b x 3): of ground and objects on the body [N]
///  - com_position (n x 3) [m], com_velocity (n x 3) [m/s], ground_force (n x 3): of ground and objects [N]
///  - contact_state (k): index of the state that the contact's step led to; contact_body (k); contact_other (k): the
///    character's other body, else -1; contact_object (k): else -1; contact_point (k x 3) [m]; contact_force (k x 3) on
///    the body [N]; contact_normal (k x 3) towards the body. Contacts that carry no force are left out.
///  - object_position (n x o x 3) [m], object_orientation (n x o x 4): of boxes, the height field, free bodies
///  - body_names (b), joint_names (j), object_names (o, then the other characters of a scene: contact_object counts
///    these, too, and their motion is in files of their own); joint_parent (j), joint_child (j): indices of bodies;
///    body_mass (b) [kg]
/// What a step brings about (torques, targets, forces, contacts) stands at the state that it led to, and is 0 at the
/// first.
std::string FormatNpz(const ExportedMotion& motion);

}  // namespace retrace::exports
