/// Trajectory optimization (Al Borno et al. 2018, section 3.2): the targets of the servos are a spline,
/// whose points CMA-ES finds for two windows at a time; the first one is kept, and the next two begin where it ends.
/// Where what is kept leaves the tolerances, earlier windows are optimized again (Options::returns).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/io/record_store.h"
#include "retrace/methods/trajectory/rollout.h"
#include "retrace/task/ending.h"

namespace retrace::trajectory {

/// What one iteration did.
struct IterationRecord {
  int window = 0;             ///< number of the window
  int windows = 0;            ///< in all
  int iteration = 0;          ///< of the window
  int iterations = 0;         ///< of the window, in all
  double start = 0, end = 0;  ///< of what is optimized [s]
  double cost = 0;            ///< the lowest of its samples
  double best_cost = 0;       ///< the lowest so far
  double start_cost = 0;      ///< of the offsets that the window began with
  double deviation = 0;       ///< CmaEs::deviation after it, as a share of the sampling window
  size_t samples = 0;
  size_t diverged = 0;      ///< of these
  size_t inside_gates = 0;  ///< likewise
  double cpu_seconds = 0;   ///< of the workers
  bool restored = false;    ///< taken from the store of an earlier run, not simulated
};

/// What was found for one window.
struct WindowRecord {
  double start = 0, kept_until = 0, end = 0;  ///< [s]
  size_t offsets = 0;                         ///< numbers that were searched for
  int iterations = 0;
  double start_cost = 0;  ///< of the offsets that it began with; its samples include them
  double best_cost = 0;   ///< never above
  Terms terms{};          ///< of the best
  double gate_ratio = 0;  ///< of what was kept: above 1 it exceeds the tolerances
};

struct Summary {
  task::Ending ending = task::Ending::kReachedEnd;
  control::OpenLoopControl control;  ///< a fragment per window, as far as it got
  character::State end;              ///< where it ended
  std::vector<WindowRecord> windows;
  std::vector<IterationRecord> iterations;
  int returns = 0;                ///< to earlier windows
  double simulated_seconds = 0;   ///< of all samples
  size_t rollouts = 0;            ///< samples: simulations of one window and those with it
  double cpu_seconds = 0;         ///< of all workers in their tasks
  double master_cpu_seconds = 0;  ///< of drawing samples and adapting their covariance

  bool reached_end() const { return ending == task::Ending::kReachedEnd; }
  bool resumed() const;  ///< whether an iteration was restored
  /// One line for people, without a line end.
  std::string BriefReport() const;
};

using IterationCallback = std::function<void(const IterationRecord&)>;

/// What is called while the method runs, on the thread that runs it; all may be left out.
struct Hooks {
  IterationCallback on_iteration = {};
  io::RecordStore* store = nullptr;  ///< keeps the costs of every iteration
  /// Called after each iteration that was simulated and stored: true ends the run with StoppedError.
  std::function<bool()> stop = {};
};

/// Runs the method on a farm whose workers come from MakeWorkerFactory of the same problem. Throws UsageError for
/// options that are not valid, StoppedError when `stop` returned true, and InputError for a store of another problem.
Summary Run(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks = {});

}  // namespace retrace::trajectory
