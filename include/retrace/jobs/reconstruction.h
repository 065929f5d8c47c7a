/// A whole reconstruction: a method on any farm, the replay of what it found in a new world, and the folder of the run.
///
///     retrace::runs::JobOptions options;
///     options.clip.file = "walk.bvh";
///     const retrace::runs::Job job(options);
///     const auto result = retrace::runs::Reconstruct(job);
///     retrace::runs::WriteRun("results/walk", job, result);
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "retrace/jobs/reconstruction_job.h"
#include "retrace/jobs/tracking_run.h"
#include "retrace/methods/trajectory/optimize.h"
#include "retrace/metrics/gate_stay.h"
#include "retrace/metrics/gates.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/planning/hybrid/hybrid_control.h"
#include "retrace/planning/viability/viable_end.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

/// What a method found, simulated once more in a new world and compared with the reference. The motion itself is not
/// kept, because it is large: control::Replay or control::ReplayInParts of the control is it.
struct Reconstruction {
  Method method = Method::kSampling;         ///< that found the control: never kAuto
  sampling::Summary search;                  ///< of sampling; else empty
  std::optional<Tracking> tracking;          ///< what tracking came to, where it was tried
  double baseline_cpu_seconds = 0;           ///< of a motion that was tracked for its torques alone [s]
  double unused_cpu_seconds = 0;             ///< of a search whose result another method surpassed [s]
  std::optional<HybridControl> hybrid = {};  ///< of tracked and searched parts, where it was tried
  trajectory::Summary optimization;          ///< of trajectory optimization; else empty
  size_t num_steps = 0;                      ///< that were simulated
  bool diverged = false;                     ///< in the new world
  metrics::Evaluation evaluation;
  std::optional<metrics::GateStay> stay;  ///< of a best effort (sampling::Options::best_effort) by search; else none
  std::optional<metrics::Evaluation> against_recording;  ///< with the unrepaired motion (Job::Unrepaired); none: none
  std::optional<ViableEnd> end;  ///< whether it can go on; none: not judged. Where the end was searched anew, the
                                 ///< control is the new one, and records of the method are those of the old one
  results::RunTimer timer;       ///< begun with the search

  bool success() const { return evaluation.success(); }
  const control::OpenLoopControl& control() const;
  /// CPU time of what was tried, all of it [s].
  double cpu_seconds() const;
  /// Why Method::kAuto chose this method, as a part of a sentence.
  std::string Choice() const;
};

/// What is called while a method runs, on the thread that runs it.
struct ReconstructionHooks : sampling::Hooks {
  ReconstructionHooks() = default;
  ReconstructionHooks(const sampling::Hooks& hooks)
      : sampling::Hooks(hooks) {}  // NOLINT: the same without trajectory optimization
  trajectory::IterationCallback on_window_iteration = {};
};

/// The workers that Reconstruct needs, by the method of the configuration. The job must outlive them.
parallel::WorkerFactory MakeWorkerFactory(const Job& job);

/// Finds a control by the method of the configuration, on a farm with MakeWorkerFactory of the job. Throws
/// std::logic_error when the new world does not end in the state that the method ended in, bit for bit; StoppedError
/// when the hooks stop it.
Reconstruction FindControl(const Job& job, parallel::TaskFarm& farm, const ReconstructionHooks& hooks = {});
/// The same; its end is judged and recovered as the configuration says (JudgeEnd).
Reconstruction Reconstruct(const Job& job, parallel::TaskFarm& farm, const ReconstructionHooks& hooks = {});
/// By sampling, whatever the configuration says.
Reconstruction Search(const Job& job, parallel::TaskFarm& farm, const sampling::Hooks& hooks = {});
/// Reconstruct on threads of this process; 0: one per core. The result does not depend on how many.
Reconstruction Reconstruct(const Job& job, int threads = 0, const ReconstructionHooks& hooks = {});

}  // namespace retrace::runs
