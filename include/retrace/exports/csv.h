/// A motion as tidy tables, one row per time and object: what trajectory.csv, a wide table of the pose alone, does not
/// have. Meters, seconds, radians, newtons; y up. Numbers read back to the same double.
#pragma once

#include <string>

#include "retrace/exports/exported_motion.h"

namespace retrace::exports {

/// bodies.csv, a row per frame and body of the character, then the world's moving boxes and free bodies:
///  - time [s], body
///  - x, y, z: its center of mass [m]
///  - qw, qx, qy, qz: its orientation, a unit quaternion, body to world
///  - vx, vy, vz: velocity of the center of mass [m/s]; a moving box: empty, its course is in control.json
///  - wx, wy, wz: angular velocity in world axes [rad/s]; likewise
std::string FormatBodiesTable(const ExportedMotion& motion, double rate);

/// joints.csv, a row per frame and joint:
///  - time [s], joint, parent, child (names of bodies)
///  - x, y, z: the joint's position in the world, as its parent body has it [m]
///  - rotation_x .. rotation_z: rotation vector, child relative to parent, in the parent's axes [rad]
///  - rate_x .. rate_z: angular velocity of the child relative to the parent, in the parent's axes [rad/s]
///  - torque_x .. torque_z: of the servo on the child in the step that led here, in the parent's axes [N m]; 0 at the
///    start
///  - gap: distance of the two places that parent and child have for the joint: what the solver left of it [m]
std::string FormatJointsTable(const ExportedMotion& motion, double rate);

}  // namespace retrace::exports
