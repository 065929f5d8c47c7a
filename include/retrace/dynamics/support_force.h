/// What presses on a body at a pose, and what the pose requires.
#pragma once

#include <vector>

#include "retrace/math/types.h"

namespace retrace::dynamics {

/// Where a body may be pressed on.
struct SupportPoint {
  int body = 0;
  Vec3 position = Vec3::Zero();  ///< [m]
  double weight = 0;             ///< 0 to 1: how much force it may well carry
  double ground = 0;             ///< height of what carries it [m]
};

/// What the ground does to one body.
struct SupportForce {
  int body = 0;
  Vec3 force = Vec3::Zero();   ///< [N]
  Vec3 center = Vec3::Zero();  ///< of pressure, in the ground [m]
  double free_moment = 0;      ///< about the vertical through the center of pressure [N m]
};

/// At one pose.
struct RequiredForces {
  double time = 0;                     ///< [s]
  Vec3 center_of_mass = Vec3::Zero();  ///< [m]
  Vec3 force = Vec3::Zero();           ///< from outside, besides gravity [N]
  Vec3 moment = Vec3::Zero();          ///< about the center of mass [N m]
  std::vector<SupportForce> support;   ///< of bodies on which the ground presses, in their order
  Vec3 missing_force = Vec3::Zero();   ///< what the ground cannot supply [N]
  Vec3 missing_moment = Vec3::Zero();  ///< about the center of mass [N m]
  /// Torque of each joint on the child, in the parent's axes [N m]; a hinge has its axis only. (joints)
  std::vector<Vec3> torques;
  std::vector<double> powers;  ///< of each joint's torque [W] (joints)
};

}  // namespace retrace::dynamics
