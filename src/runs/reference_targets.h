/// Targets that are a reference's own poses: the naive tracking that the paper starts from. Internal to the runs
/// module.
#pragma once

#include <vector>

#include "retrace/character/reference.h"
#include "retrace/control/fragment.h"

namespace retrace::runs {

/// Each fragment keeps its number of targets; one with commands gets a target for each step.
void SetTargetsToReference(const character::ReferenceMotion& reference, double time_step,
                           std::vector<control::Fragment>& fragments);

}  // namespace retrace::runs
