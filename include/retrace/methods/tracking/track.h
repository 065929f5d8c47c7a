/// Tracking from beginning to end: the closed loop, and the commands that it gave as an open-loop control.
#pragma once

#include "retrace/methods/tracking/problem.h"
#include "retrace/methods/tracking/summary.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::tracking {

/// Follows the motion; with Options::candidates, by a search on the workers of a farm, which come from
/// MakeWorkerFactory of the same problem. What is found does not depend on how many. Throws UsageError for options that
/// are not valid (Options::Validate).
Summary Run(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks = {});
/// The same on this thread.
Summary Run(const Problem& problem, const Hooks& hooks = {});

/// The problem must outlive the workers.
parallel::WorkerFactory MakeWorkerFactory(const Problem& problem);

}  // namespace retrace::tracking
