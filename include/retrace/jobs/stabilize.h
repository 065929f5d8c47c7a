/// Feedback along the control of a run, made once and kept in its folder.
///
///     namespace runs = retrace::runs;
///     const runs::StabilizationJob job("results/walk", {});
///     const auto farm = retrace::parallel::MakeThreadFarm(0, retrace::stabilization::MakeWorkerFactory(job.problem));
///     runs::WriteFeedback(job, runs::Stabilize(job, *farm), false);
#pragma once

#include <filesystem>
#include <string>

#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/methods/stabilization/stabilize.h"
#include "retrace/runs/stored/stored_feedback.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

/// Takes one setting given as `/section/name=value`. Throws UsageError for a setting that does not exist or a bad
/// value.
void Set(const std::string& assignment, stabilization::Options& options);

/// The control of a run, prepared to be stabilized: its motion is simulated once.
struct StabilizationJob {
  /// Throws InputError for a folder that holds no run, and for a control without any step or whose motion diverges;
  /// UsageError for a scene and for options that are not valid.
  StabilizationJob(const std::filesystem::path& folder, const stabilization::Options& options);
  StabilizationJob(const StabilizationJob&) = delete;
  StabilizationJob& operator=(const StabilizationJob&) = delete;

  StoredRun run;
  control::OpenLoopControl control;
  stabilization::Problem problem;
  /// All that the feedback depends on: ranks that work together compare it.
  io::Json Identity() const;
};

/// The feedback of a job, with the hashes of what it belongs to. The workers of the farm come from
/// stabilization::MakeWorkerFactory. Throws std::logic_error when the motion without disturbance is not that of the
/// control, bit for bit.
stabilization::Summary Stabilize(const StabilizationJob& job, parallel::TaskFarm& farm,
                                 const stabilization::Hooks& hooks = {});

/// Throws UsageError when there is feedback already, unless `force` is set: better now than after the work.
void CheckFeedbackOutput(const StoredRun& run, bool force);
/// Writes it into the folder of the run, beside what the run has left. Throws UsageError likewise, and OutputError.
void WriteFeedback(const StabilizationJob& job, const stabilization::Summary& summary, bool force);

}  // namespace retrace::runs
