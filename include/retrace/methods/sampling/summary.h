/// What a search found, and what each of its iterations did.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/control/control.h"
#include "retrace/methods/sampling/selection.h"
#include "retrace/metrics/gates.h"
#include "retrace/metrics/statistics.h"
#include "retrace/task/cost.h"
#include "retrace/task/ending.h"

namespace retrace::sampling {

/// The outcome of one sample.
struct SampleRecord {
  size_t sample = 0;      ///< number among those of its iteration
  size_t start = 0;       ///< which saved state it started from, among those of the fragment before
  task::CostTerms terms;  ///< unweighted
  double cost = 0;        ///< sum of the terms times IterationRecord::weights; infinite when it diverged
  double path_cost = 0;   ///< in a refinement: of its end and of the change of its offsets (RefinementOptions)
  double rank = 0;        ///< in a refinement: by which it is saved, with the path before and the cost to go
  double gate_ratio = 0;  ///< of RolloutSample: above 1 it exceeds the tolerances
  bool diverged = false;
  bool saved = false;
  bool chosen = false;  ///< on the best path
};

/// What one iteration did. Without backtracking, iterations and fragments are the same.
struct IterationRecord {
  int iteration = 0;               ///< running number
  int fragment = 0;                ///< of the schedule
  bool fitted = false;             ///< drawn from normal distributions (NormalOffsets)
  bool refinement = false;         ///< of a pass that refines the path
  bool restart = false;            ///< with it the search begins once more
  int drawn = 0;                   ///< number of samples
  int attempt = 0;                 ///< how often this fragment was drawn before
  double start = 0;                ///< [s]
  double end = 0;                  ///< [s]
  task::CostWeights weights = {};  ///< of the terms in the costs of its samples
  double best_cost = 0;
  metrics::FiveNumbers drawn_costs;  ///< of the samples that did not diverge; NaN: all did
  metrics::FiveNumbers saved_costs;  ///< of the saved ones, each once
  size_t diverged = 0;
  size_t inside_gates = 0;  ///< samples that end within tolerance
  size_t rollouts = 0;      ///< simulations, feedforward ones included
  double cpu_seconds = 0;   ///< of the workers
  Selection selection;
  bool restored = false;  ///< taken from the store of an earlier search, not simulated
  int back_to = -1;  ///< the fragment from which the search continues, when no sample of this one is within tolerance
  /// All of them; once the search is beyond the iteration, only the chosen one
  /// where there would be more than Hooks::most_samples_kept in all.
  std::vector<SampleRecord> samples;
};

/// Why a search could not get further.
struct Failure {
  int fragment = -1;    ///< the furthest one without a sample within tolerance; negative: there is none
  double start = 0;     ///< of the fragment [s]
  double end = 0;       ///< [s]
  int attempts = 0;     ///< how often the fragment was drawn
  int samples = 0;      ///< in the last of them
  size_t diverged = 0;  ///< of these
  /// Figures of the sample nearest to staying within tolerance, at the fragment's end: each as a share of its
  /// limit. The worst may have been earlier in the fragment (nearest_ratio).
  metrics::GateRatios nearest;
  double nearest_ratio = 0;
  task::CostTerms terms;         ///< weighted, of the cheapest sample there
  task::CostTerms terms_before;  ///< weighted, sum over the fragments of the path before
  int fragments_before = 0;
};

/// A pass of RefinementOptions.
struct RefinementPass {
  double cost_before = 0;   ///< of the path: of its states and of the changes of its offsets, over the reference's
  double cost = 0;          ///< of the path that it found; not more than before
  double noise = 0;         ///< standard deviation of the random part of its offsets [rad]
  double caution = 1;       ///< factor on the weight of changes of offsets in its model
  double drift = 0;         ///< largest horizontal distance of the path's root from the reference's before [m]
  bool linearized = false;  ///< around its own path; else it used the model of the pass before

  /// Share of the cost that it gained.
  double gain() const { return cost_before > 0 ? 1 - cost / cost_before : 0; }
};

/// The result of a search and what it took.
struct Summary {
  task::Ending ending = task::Ending::kReachedEnd;
  Failure failure;  ///< the furthest one, when the search did not reach the end
  std::vector<RefinementPass> refinement;
  control::OpenLoopControl control;  ///< of the path with the least sum of costs, as far as it reached
  character::State end;              ///< where that path ended in the search, for comparison with a replay
  double path_cost = 0;              ///< sum over its fragments
  std::vector<IterationRecord> iterations;
  double simulated_seconds = 0;  ///< all simulations, feedforward ones included
  double search_seconds = 0;     ///< of these, before refinement
  size_t rollouts = 0;           ///< simulations of one fragment
  int back_offs = 0;
  int restarted_at = -1;   ///< iteration with which the search began once more (RestartOptions); negative: it did not
  double cpu_seconds = 0;  ///< of all workers in their tasks

  bool restarted() const { return restarted_at >= 0; }
  /// Whether the control covers the whole reference.
  bool reached_end() const { return ending == task::Ending::kReachedEnd; }
  /// One line for people, without a line end.
  std::string BriefReport() const;
};

}  // namespace retrace::sampling
