/// The search for the control: samples, saved states, best path. The master's side (Liu et al. 2010, algorithm 1).
#pragma once

#include <cstddef>
#include <functional>

#include "retrace/io/record_store.h"
#include "retrace/methods/sampling/problem.h"
#include "retrace/methods/sampling/summary.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::sampling {

/// A search that would draw more samples than this in one pass over the fragments keeps records of the chosen ones
/// alone, beside the figures of each iteration: at the default numbers one of more than ten seconds.
inline constexpr size_t kMostSamplesKept = 150000;

/// Called after each iteration, on the thread that runs the search.
using IterationCallback = std::function<void(const IterationRecord&)>;

using IterationStore = io::RecordStore;

/// What is called while a search runs, on the thread that runs it; all may be left out.
struct Hooks {
  IterationCallback on_iteration = {};
  IterationStore* store = nullptr;
  /// Samples of a pass over all fragments from which on the summary has the chosen ones alone.
  size_t most_samples_kept = kMostSamplesKept;
  /// Called after each iteration that was simulated and stored: true ends the search with StoppedError.
  std::function<bool()> stop = {};
};

/// Makes workers for a farm. The problem must outlive them.
parallel::WorkerFactory MakeWorkerFactory(const Problem& problem);

/// Runs the whole search on a farm whose workers come from MakeWorkerFactory of the same problem. Throws UsageError for
/// options that are not valid (Options::Validate), StoppedError when `stop` returned true, and std::logic_error for a
/// store of another problem.
Summary Run(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks = {});

}  // namespace retrace::sampling
