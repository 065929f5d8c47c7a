/// A task farm on the threads of this process.
#pragma once

#include <memory>

#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {

/// A farm of `threads` (at least 1) threads that exist as long as the farm; 1 computes on the caller's thread.
std::unique_ptr<TaskFarm> MakeThreadFarm(int threads, const WorkerFactory& factory);

}  // namespace retrace::parallel
