/// Whether what a recording shows can carry the body.
#pragma once

#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"
#include "retrace/metrics/clip_warning.h"
#include "retrace/metrics/intervals.h"
#include "retrace/metrics/recorded_ground.h"

namespace retrace::metrics {

/// A stretch in which the body rests on something that is not the floor: a seat, a rail, another person.
struct Support {
  Interval interval;
  double height = 0;  ///< of the lowest point of the root's body over the floor, in the median [m]
};

/// Finds stretches in which the body rests on something that is not the floor: it is slow, and the point about which
/// the moments of gravity and inertia vanish is away from all that touches the floor. And whether the body floats:
/// nothing is near the floor, and it does not fall. `levels`: whether there are other levels to stand on; `ground`:
/// what was found beside the floor, which needs no warning. Both are added to what was found before.
void FindSupports(const character::ReferenceMotion& reference, const std::vector<character::State>& states, bool levels,
                  const RecordedGround& ground, std::vector<Support>& supports, std::vector<ClipWarning>& warnings);

}  // namespace retrace::metrics
