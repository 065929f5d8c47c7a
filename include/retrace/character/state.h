/// Where the bodies of a character are and how they move.
#pragma once

#include <vector>

#include "retrace/math/types.h"

namespace retrace::character {

/// Position and velocity of one body: 13 doubles without padding.
struct BodyState {
  Vec3 position = Vec3::Zero();          ///< of the center of mass [m]
  Quat orientation = Quat::Identity();   ///< body to world
  Vec3 linear_velocity = Vec3::Zero();   ///< of the center of mass [m/s]
  Vec3 angular_velocity = Vec3::Zero();  ///< in world axes [rad/s]
};
static_assert(sizeof(BodyState) == 13 * sizeof(double));

/// One entry per body of the character. A world that holds bodies which move freely has theirs after them; what looks
/// at the character does not look at these.
using State = std::vector<BodyState>;

/// Root and joint rotations, without velocities.
struct Pose {
  Vec3 root_position = Vec3::Zero();  ///< center of mass of the root body [m]
  Quat root_orientation = Quat::Identity();
  std::vector<Quat> joint_rotations;  ///< (joints) child relative to parent, identity at rest
};

}  // namespace retrace::character
