/// What is followed into the motion of a candidate, and along it to where it stands or walks on: kinematic. Internal to
/// the module.
#pragma once

#include <vector>

#include "retrace/character/state.h"
#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

/// From the exit on: the second simulation, which goes over into the motion.
std::vector<character::Pose> ReferenceInto(const ImpactSimulation& struck, const ResponseCandidate& candidate);

/// From the start time on: the motion, put where a state is, which it begins with.
std::vector<character::Pose> ReferenceUp(const ImpactSimulation& struck, const ResponseCandidate& candidate,
                                         const character::State& state);

}  // namespace retrace::runs
