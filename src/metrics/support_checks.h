/// Whether what a recording shows can carry the body.
#pragma once

#include <vector>

#include "retrace/metrics/clip_checks.h"

namespace retrace::metrics {

/// Finds stretches in which the body rests on something that is not the floor: it is slow, and the point about which
/// the moments of gravity and inertia vanish is away from all that touches the floor. And whether the body floats:
/// nothing is near the floor, and it does not fall. `levels`: whether there are other levels to stand on.
void FindSupports(const character::ReferenceMotion& reference, const std::vector<character::State>& states, bool levels,
                  ClipChecks& checks);

}  // namespace retrace::metrics
