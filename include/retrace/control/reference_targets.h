/// Targets that are a reference's own poses: the tracking without feedback that the paper starts from.
#pragma once

#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/control/fragment.h"

namespace retrace::control {

/// Each fragment keeps its number of targets; one with commands gets a target for each step.
void SetTargetsToReference(const character::ReferenceMotion& reference, double time_step,
                           std::vector<Fragment>& fragments);

/// By how much targets of a joint are taken ahead of the time, because damping holds its servo back by so much [s].
inline double TimeAhead(const character::Joint& joint) {
  return joint.kp > 0 ? joint.kd / joint.kp : 0;
}

}  // namespace retrace::control
