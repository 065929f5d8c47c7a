/// How much a repair has changed. Internal to the repair module.
#pragma once

#include "course.h"
#include "retrace/motion_editing/repair.h"

namespace retrace::repair {

/// What is missing in a motion; nothing where there is no gravity.
Missing MissingOf(const character::ReferenceMotion& reference, double gravity);

/// Fills in the figures of a repair whose poses, their instants and what they miss are known. `flights` are the
/// reference's.
void MeasureChanges(const character::ReferenceMotion& reference, const std::vector<Flight>& flights, double gravity,
                    Repair& repair);

}  // namespace retrace::repair
