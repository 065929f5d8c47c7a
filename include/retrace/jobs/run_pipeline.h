/// A reconstruction with everything that a program does around it: the folder that may hold an earlier run, the
/// checkpoint from which a stopped run is resumed, one control or several, the report page.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "retrace/io/stop_request.h"
#include "retrace/jobs/forces.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/jobs/variations.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

struct RunOptions {
  std::filesystem::path output;      ///< folder of the run
  bool force = false;                ///< write into a folder that holds results already
  bool resume = false;               ///< resume from the checkpoint in the folder, if there is one
  bool report = false;               ///< write the report page too
  bool samples = false;              ///< write the costs of every sample of a search too
  VariationOptions variations = {};  ///< a count above 0: several controls that differ
  ForceOptions forces = {};          ///< controls above 0: the forces of the motion; not together with variations
};

/// What is called during a run, on the thread that runs the search; each function may be empty.
struct RunObserver {
  std::function<void()> on_begin = {};                       ///< the run is not finished yet, and begins
  sampling::IterationCallback on_iteration = {};             ///< after each iteration
  trajectory::IterationCallback on_window_iteration = {};    ///< the same of trajectory optimization
  std::function<void()> on_search_end = {};                  ///< after each search
  std::function<void(const std::string& text)> report = {};  ///< receives the outcome of each variation or control
};

struct RunOutcome {
  bool finished_before = false;  ///< an earlier run of the same identity had finished: nothing was computed
  bool success = false;
  std::vector<std::string> doubts;  ///< of a single control that is a success (metrics::Evaluation::Doubts)
  std::optional<Reconstruction> reconstruction;  ///< of a single control
  std::optional<VariationsSummary> variations;   ///< of several
  std::optional<Forces> forces;                  ///< of ForceOptions
  std::filesystem::path report;                  ///< the page that was written; empty: none
};

/// Throws UsageError for options that contradict each other.
void CheckOptions(const RunOptions& options);

/// The workers that Run needs.
parallel::WorkerFactory MakeWorkersOf(const Job& job, const RunOptions& options);

/// What a run needs besides the job.
struct RunSetting {
  RunContext context = {};
  io::StopRequest* stop = nullptr;  ///< null: the run is not stopped before its end
  RunObserver observer = {};
};

/// Reconstructs into the folder on a farm with MakeWorkersOf. With `resume`, a folder whose run has finished is left as
/// it is when it is of the same identity, and is a UsageError when not. Throws StoppedError when the run was stopped
/// with a checkpoint, UsageError for a folder in use, InputError for a damaged checkpoint, OutputError.
RunOutcome Run(Job& job, parallel::TaskFarm& farm, const RunOptions& options, const RunSetting& setting);

}  // namespace retrace::runs
