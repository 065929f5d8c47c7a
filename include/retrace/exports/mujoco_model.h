/// A character as a model of MuJoCo, with which the motion of its joints can be played there.
#pragma once

#include <string>

#include "retrace/exports/exported_motion.h"

namespace retrace::exports {

/// mujoco_model.xml, MJCF for MuJoCo 2.2.2 and later: the bodies, masses, moments of inertia, shapes, joints and
/// armature that were simulated, on a plane with their coefficient of friction, in the axes of robots' files: x
/// forward, y to the left, z up. The frame of the root is that of the tables of joints (robot_joints.h), so that a row
/// of such a table is a `qpos`. Pairs of bodies that do not touch each other in the simulation are excluded. A hinge
/// has an actuator of its name, a position servo with the gains and the largest torque of the character; ball joints
/// have none. The key "start" has the first state. Ranges of joints are comments, since the simulation does not enforce
/// them. Objects of the world are left out.
std::string FormatMujocoModel(const ExportedMotion& motion);

}  // namespace retrace::exports
