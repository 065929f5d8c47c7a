/// How much a repair has changed. Internal to the repair module.
#pragma once

#include <vector>

#include "course.h"
#include "retrace/character/reference_motion.h"
#include "retrace/motion_editing/repaired_motion.h"

namespace retrace::repair {

/// Fills in the figures of a repair whose poses, their instants and what they miss are known. `flights` are the
/// reference's.
void MeasureChanges(const character::ReferenceMotion& reference, const std::vector<Flight>& flights, double gravity,
                    Repair& repair);

}  // namespace retrace::repair
