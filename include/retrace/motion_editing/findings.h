/// What in a reference no body can perform: flights that do not fall as bodies do, feet that stand beside the floor,
/// motions in contact for which the ground would have to pull or push as no ground does; and the trembling, the drift
/// and the slides of estimates from video. These come first: the others are what is found without them.
#pragma once

#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/motion_editing/finding.h"

namespace retrace::repair {

/// In the order of time. A reference that a body may be able to perform has none: what is found is far from what can be
/// done, by limits that are the same for all motions. The floor is y = 0. @param gravity downwards [m/s^2]; 0: flights
/// and forces are not judged
std::vector<Finding> FindInfeasible(const character::ReferenceMotion& reference, double gravity);

}  // namespace retrace::repair
