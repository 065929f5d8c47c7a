/// One task farm for several searches that differ in their seed alone.
#pragma once

#include "retrace/methods/sampling/problem.h"
#include "retrace/parallel/keyed_farm.h"

namespace retrace::sampling {

/// Makes workers for a SeededFarm of this problem, whose own seed does not matter. The problem must outlive them.
parallel::WorkerFactory MakeSeededWorkerFactory(const Problem& problem);

/// A view of a farm whose workers come from MakeSeededWorkerFactory, by seed: Run with a problem of this seed
/// gives the same bytes as with a farm of that problem's own.
using SeededFarm = parallel::KeyedFarm;

}  // namespace retrace::sampling
