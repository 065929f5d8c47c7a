#include "reference_forces.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace retrace::tracking {

ReferenceForces::ReferenceForces(const character::ReferenceMotion& reference, double gravity)
    : frame_time_(reference.frame_time()) {
  metrics::RequiredForcesOptions options;
  options.gravity = gravity;
  required_ = metrics::RequiredForcesOf(reference, options);
}

Vec3 ReferenceForces::At(int body, double time) const {
  Vec3 force = Vec3::Zero();
  if (required_.size() < 2) return force;
  // The first entry is of the second pose.
  const double last = static_cast<double>(required_.size()) - 2;
  const double place = std::clamp(time / frame_time_ - 1, 0.0, last + 1);
  const double before = std::min(std::floor(place), last);
  const auto i = static_cast<size_t>(before);
  for (const auto& [k, share] : {std::pair{i, 1 - (place - before)}, std::pair{i + 1, place - before}}) {
    for (const metrics::SupportForce& support : required_[k].support) {
      if (support.body == body) force += share * support.force;
    }
  }
  return force;
}

}  // namespace retrace::tracking
