/// What a motion requires, without a simulation: the forces of the ground and the torques of the joints, by inverse
/// dynamics of a reference.
///
/// Newton's law on the whole character gives the force and the moment that it needs from outside. They are divided
/// among the points at which bodies are on the ground: normal forces push, tangential ones stay inside the friction
/// pyramid, and of all such forces those are taken that supply what is needed as far as possible with the least sum of
/// squares. A point that is higher over the ground or slides faster costs more, so that forces fade in and out. What
/// the ground cannot supply is left over at the root: a motion that a body could do has none of it. What holds a planar
/// character in its plane is not counted anywhere.
///
/// Velocities and accelerations are central differences over the reference's poses, which are smoothed when it is made.
/// Nothing here is filtered again, and nothing is a simulation: these are kinematic figures.
#pragma once

#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/dynamics/support_force.h"
#include "retrace/math/types.h"
#include "retrace/simulation/environment.h"

namespace retrace::metrics {

struct RequiredForcesOptions {
  double gravity = kStandardGravity;  ///< downwards [m/s^2]
  double friction = 0.8;              ///< of all that carries
  /// What carries besides the plane y = 0: seats, steps, slopes. Its free bodies do not count.
  simulation::Environment environment = {};
};

using dynamics::RequiredForces;
using dynamics::SupportForce;

/// At every pose but the first and the last, which have no acceleration. A reference of fewer than three poses has
/// none. Throws std::invalid_argument for options that are not finite or negative.
std::vector<RequiredForces> RequiredForcesOf(const character::ReferenceMotion& reference,
                                             const RequiredForcesOptions& options = {});

/// The force of the ground on a body at any time: between poses linear, and before the first entry and after the last
/// one that one's [N]. `required` is what RequiredForcesOf returns for a reference of this frame time.
Vec3 RequiredForceOn(int body, double time, const std::vector<RequiredForces>& required, double frame_time);

}  // namespace retrace::metrics
