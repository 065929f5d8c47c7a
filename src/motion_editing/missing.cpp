#include "retrace/motion_editing/missing.h"

#include <vector>

#include "retrace/metrics/required_forces.h"

namespace retrace::repair {

Missing MissingOf(const character::ReferenceMotion& reference, double gravity) {
  Missing missing;
  if (gravity <= 0) return missing;
  const std::vector<metrics::RequiredForces> required = metrics::RequiredForcesOf(reference, {.gravity = gravity});
  const double share = 1 / (reference.character().total_mass() * gravity * static_cast<double>(required.size()));
  for (const metrics::RequiredForces& forces : required) {
    missing.force += share * forces.missing_force.norm();
    missing.moment += share * forces.missing_moment.norm();
  }
  return missing;
}

}  // namespace retrace::repair
