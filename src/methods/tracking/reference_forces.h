/// The ground forces that a motion requires, at any time. Internal to the tracking method.
#pragma once

#include <vector>

#include "retrace/character/reference.h"
#include "retrace/metrics/required_forces.h"

namespace retrace::tracking {

class ReferenceForces {
 public:
  /// @param gravity downwards [m/s^2]
  ReferenceForces(const character::ReferenceMotion& reference, double gravity);

  /// On a body at a time [s]: metrics::RequiredForcesOf, between poses linear [N].
  Vec3 At(int body, double time) const;

 private:
  double frame_time_;
  std::vector<metrics::RequiredForces> required_;  // (poses less two)
};

}  // namespace retrace::tracking
