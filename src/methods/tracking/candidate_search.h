/// A search for a control among variations of the tracking controller: what no single setting of it does for all
/// motions, keeping its feet and giving the forces of the reference, one of many does for a tenth of a second. Internal
/// to the tracking method.
///
/// Fragment by fragment, every kept state is followed on by candidates, which differ in how the controller follows the
/// reference (Variation). Those are kept that have cost least since the beginning: the squared differences of the
/// ground forces from those that the reference requires, and of positions and velocities from the reference's. What is
/// found is the control of one line of candidates, simulated as a whole. Further passes over the motion
/// (Options::passes) begin with the variations of the best line so far, and try others near to them.
#pragma once

#include "retrace/methods/tracking/problem.h"
#include "retrace/methods/tracking/summary.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::tracking {

/// The problem must outlive the workers.
parallel::WorkerFactory MakeCandidateWorkerFactory(const Problem& problem);

/// @param farm of workers from MakeCandidateWorkerFactory; what is found does not depend on how many
Summary SearchCandidates(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks);

}  // namespace retrace::tracking
