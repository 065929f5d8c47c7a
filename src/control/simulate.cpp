#include "retrace/control/simulate.h"

#include <algorithm>

namespace retrace::control {

void ApplyPushes(std::span<const Push> pushes, double time, double h, simulation::World& world) {
  for (const Push& push : pushes) {
    const double shared = std::min(time + h, push.end()) - std::max(time, push.start);
    if (shared > 0) world.ApplyForce(push.body, push.force * std::min(1.0, shared / h));
  }
}

}  // namespace retrace::control
