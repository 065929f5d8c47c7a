/// A response whose motion is blended in, and not simulated (Zordan et al. 2005). Internal to the module.
#pragma once

#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

/// The run's control, the servos of the second simulation up to the start time, and the motion of the candidate: they
/// become the result's control, reference and blend. Returns whether the blend is smooth.
bool BlendInto(const ImpactSimulation& struck, const ResponseCandidate& candidate, Response& result);

}  // namespace retrace::runs
