/// The search for the control: samples, saved states, best path. The master's side (Liu et al. 2010, algorithm 1).
#pragma once

#include <functional>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/reconstruction/problem.h"
#include "retrace/reconstruction/rollout.h"

namespace retrace::reconstruction {

/// What became of one sample.
struct SampleRecord {
  size_t start = 0;       ///< which saved state it started from, among those of the fragment before
  CostTerms terms;        ///< unweighted
  double cost = 0;        ///< weighted total; infinite when it diverged
  double gate_share = 0;  ///< of RolloutSample: above 1 it leaves the gates
  bool diverged = false;
  bool saved = false;
  bool chosen = false;  ///< on the best path
};

/// What one iteration did. Without rewinding, iterations and fragments are the same.
struct IterationRecord {
  int iteration = 0;     ///< running number
  int fragment = 0;      ///< of the schedule
  bool learned = false;  ///< drawn from a learned distribution
  int attempt = 0;       ///< how often this fragment was drawn before
  double start = 0;      ///< [s]
  double end = 0;        ///< [s]
  double best_cost = 0;
  size_t diverged = 0;
  size_t inside_gates = 0;  ///< samples that end inside the gates
  size_t rollouts = 0;      ///< simulations, feedforward ones included
  double cpu_seconds = 0;   ///< of the workers
  Selection selection;
  int rewound_to = -1;  ///< the fragment from which the search goes on, when all samples of this iteration were lost
  std::vector<SampleRecord> samples;
};

struct SearchResult {
  bool reached_end = false;          ///< false when every sample of an iteration diverged
  control::OpenLoopControl control;  ///< of the path with the least sum of costs, as far as it reached
  character::State end;              ///< where that path ended in the search, for comparison with a replay
  double path_cost = 0;              ///< sum over iterations
  std::vector<IterationRecord> iterations;
  double simulated_seconds = 0;  ///< all simulations, feedforward ones included
  size_t rollouts = 0;           ///< simulations of one fragment
  int rewinds = 0;
  double cpu_seconds = 0;  ///< of all workers in their tasks
};

/// Called after each iteration, on the thread that runs the search.
using IterationCallback = std::function<void(const IterationRecord&)>;

/// Runs the whole search on a farm whose workers come from MakeWorkerFactory of the same problem.
SearchResult RunSearch(const Problem& problem, parallel::TaskFarm& farm, const IterationCallback& on_iteration);

}  // namespace retrace::reconstruction
