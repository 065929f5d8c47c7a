/// The map of a skeleton with meaningless names, from its shape.
#pragma once

#include <optional>

#include "retrace/motion/clip.h"
#include "retrace/retargeting/skeleton_map.h"

namespace retrace::character {

/// Legs are the mirrored pair of branches with the longest two bones in a row, arms the next pair that grows elsewhere;
/// the head ends the longest of the chest's other branches; feet, which point forwards, distinguish left from right.
/// Nothing where the skeleton does not have that shape.
std::optional<SkeletonMap> MapByTopology(const motion::Clip& clip);

}  // namespace retrace::character
