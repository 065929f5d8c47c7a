/// The workers of a run: threads of this process, or the ranks of a job that have all prepared the same.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "retrace/io/json.h"
#include "retrace/parallel/mpi_session.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {

/// What each rank of a job does before the work begins (reads its files): `prepare`, which returns the identity of what
/// was found. Where it fails on one rank, or finds something else there than on rank 0, all ranks throw the same; see
/// MpiSession::Prepare.
void PrepareRanks(MpiSession& mpi, double timeout, const std::function<io::Json()>& prepare);

/// The farm of rank 0: over the ranks of the job, or the threads of a plain process. `timeout` is that of
/// MpiSession::MakeFarm.
std::unique_ptr<TaskFarm> MakeFarm(MpiSession& mpi, int threads, const WorkerFactory& factory, double timeout = 0);

}  // namespace retrace::parallel
