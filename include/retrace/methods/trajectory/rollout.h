/// The simulation of samples: the workers' side of the method.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "retrace/methods/trajectory/cost_terms.h"
#include "retrace/methods/trajectory/plan.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::trajectory {

struct SampleResult {
  bool diverged = false;
  Terms terms{};
  double gate_ratio = 0;  ///< largest metrics::LargestGateRatio of the instants at which the cost is taken

  /// The sum of the terms; infinite when it diverged.
  double cost() const;
};

/// A motion that begins with a window.
struct SimulatedWindow {
  SampleResult result;
  character::State end;  ///< of what is kept
};

/// Simulates windows. Belongs to one thread.
class RolloutWorker {
 public:
  RolloutWorker(const Problem& problem, const Plan& plan);
  ~RolloutWorker();
  RolloutWorker(const RolloutWorker&) = delete;
  RolloutWorker& operator=(const RolloutWorker&) = delete;

  /// The window and those that are optimized with it; with `kept_alone` only what is kept.
  void Run(const Window& window, const character::State& start, const Spline& spline, bool kept_alone,
           SimulatedWindow& simulated);
  /// The same for several samples, with as many side by side as are fastest on this processor. Results do not depend on
  /// what runs beside what.
  void Run(const Window& window, const character::State& start, std::span<const Spline> splines,
           std::vector<SampleResult>& results);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Bytes of a task for the farm: these samples, offsets in columns (axes * points x samples), of a window from a start
/// state. The points of the spline before those of the window are taken from `spline`.
parallel::Bytes PackTask(const Plan& plan, int window, const character::State& start, const Spline& spline,
                         const Eigen::Ref<const Eigen::MatrixXd>& samples);

/// Results of such a task and the CPU time that it took [s].
std::vector<SampleResult> UnpackResults(std::span<const std::byte> bytes, double& cpu_seconds);

/// Makes workers for a farm. The problem must outlive them.
parallel::WorkerFactory MakeWorkerFactory(const Problem& problem);

}  // namespace retrace::trajectory
