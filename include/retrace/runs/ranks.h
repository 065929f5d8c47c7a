/// The workers of a run: threads of this process, or the ranks of a job that have all prepared the same.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "retrace/io/json.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/runs/configuration.h"

namespace retrace::runs {

/// What each rank of a job does before the work begins (reads its files): `prepare`, which returns the identity of what
/// was found. Where it fails on one rank, or finds something else there than on rank 0, all ranks throw the same; see
/// MpiSession::Prepare.
void PrepareRanks(parallel::MpiSession& mpi, double timeout, const std::function<io::Json()>& prepare);

/// A farm of threads; 0: one per core.
std::unique_ptr<parallel::TaskFarm> MakeThreadFarm(int threads, const parallel::WorkerFactory& factory);

/// The farm of rank 0: over the ranks of the job, or the threads of a plain process. `timeout` is that of
/// MpiSession::MakeFarm.
std::unique_ptr<parallel::TaskFarm> MakeFarm(parallel::MpiSession& mpi, int threads,
                                             const parallel::WorkerFactory& factory, double timeout = 0);

/// What to tell whoever gives one search more ranks than it keeps at work for half of the time; else an empty text.
std::string IdleRanksWarning(int ranks, const Configuration& configuration);

/// For a manifest: {"kind": "ranks" or "threads", "count"}.
io::Json DescribeWorkers(bool ranks, const parallel::TaskFarm& farm);

}  // namespace retrace::runs
