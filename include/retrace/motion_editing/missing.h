/// What a motion requires from outside that no ground supplies.
#pragma once

#include "retrace/character/reference_motion.h"

namespace retrace::repair {

/// What the ground cannot supply of that which a motion requires from outside (metrics/required_forces.h): a body that
/// can perform it needs none of that.
struct Missing {
  double force = 0;   ///< mean over the poses, as a share of the weight
  double moment = 0;  ///< mean, about the center of mass, by the weight [m]
};

/// What is missing in a motion; nothing where there is no gravity.
Missing MissingOf(const character::ReferenceMotion& reference, double gravity);

}  // namespace retrace::repair
