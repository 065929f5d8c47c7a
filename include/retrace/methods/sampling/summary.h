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
  double gate_ratio = 0;  ///< of RolloutSample: above 1 it exceeds the tolerances
  bool diverged = false;
  bool saved = false;
  bool chosen = false;  ///< on the best path
};

/// What one iteration did. Without back-off, iterations and fragments are the same.
struct IterationRecord {
  int iteration = 0;               ///< running number
  int fragment = 0;                ///< of the schedule
  bool fitted = false;             ///< drawn from normal distributions (NormalOffsets)
  bool smoothing = false;          ///< of a smoothing pass
  bool restart = false;            ///< with it the search begins once more
  int drawn = 0;                   ///< number of samples
  int attempt = 0;                 ///< how often this fragment was drawn before
  double start = 0;                ///< [s]
  double end = 0;                  ///< [s]
  task::CostWeights weights = {};  ///< of the terms in the costs of its samples; smoothing passes have others
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
  /// Of the sample that is nearest to staying within tolerance, at the fragment's end: each figure as a share of its
  /// limit. The worst may have been earlier in the fragment (nearest_ratio).
  metrics::GateRatios nearest;
  double nearest_ratio = 0;
  task::CostTerms terms;         ///< weighted, of the cheapest sample there
  task::CostTerms terms_before;  ///< weighted, sum over the fragments of the path before
  int fragments_before = 0;
};

/// A pass of SmoothingOptions.
struct SmoothingPass {
  double roughness_before = 0;  ///< smoothness term of the path, mean over fragments [rad/s^2]
  double roughness = 0;         ///< of the path that it found
  double deviation = 0;         ///< that it began with, as a share of the window
  bool completed = false;       ///< else it was given up
  bool accepted = false;        ///< the path that it found is smoother
};

/// The result of a search and what it took.
struct Summary {
  task::Ending ending = task::Ending::kReachedEnd;
  Failure failure;  ///< the furthest one, when the search did not reach the end
  std::vector<SmoothingPass> smoothing;
  control::OpenLoopControl control;  ///< of the path with the least sum of costs, as far as it reached
  character::State end;              ///< where that path ended in the search, for comparison with a replay
  double path_cost = 0;              ///< sum over its fragments
  std::vector<IterationRecord> iterations;
  double simulated_seconds = 0;  ///< all simulations, feedforward ones included
  double search_seconds = 0;     ///< of these, before smoothing
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
