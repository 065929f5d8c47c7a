/// A response whose motion is blended in, and not simulated (Zordan et al. 2005). Internal to the module.
#pragma once

#include "blend_leads.h"
#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

/// The run's control, what leads from there to the start time (servos of the second simulation, if nothing else does),
/// and the motion of the candidate: they become the result's control, reference and blend. Returns whether the blend is
/// acceptable.
bool BlendInto(const ImpactSimulation& struck, const LedCandidate& led, Response& result);

}  // namespace retrace::runs
