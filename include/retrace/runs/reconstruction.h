/// A whole reconstruction: a search on any farm, the replay of what it found in a new world, and the folder of the run.
///
///     retrace::runs::JobOptions options;
///     options.clip.file = "walk.bvh";
///     const retrace::runs::Job job(options);
///     const auto result = retrace::runs::Reconstruct(job);
///     retrace::runs::WriteRun("results/walk", job, result);
#pragma once

#include <cstddef>
#include <filesystem>

#include "retrace/metrics/gates.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/job.h"
#include "retrace/runs/manifest.h"

namespace retrace::runs {

/// What a search found, simulated once more in a new world and compared with the reference. The motion itself is not
/// kept, because it is large: control::Replay or control::ReplayInParts of search.control is it.
struct Reconstruction {
  sampling::Summary search;
  size_t num_steps = 0;   ///< that were simulated
  bool diverged = false;  ///< in the new world
  metrics::Evaluation evaluation;
  results::RunTimer timer;  ///< begun with the search

  bool success() const { return evaluation.success(); }
};

/// Searches on a farm whose workers come from MakeWorkerFactory of the job's problem. Throws std::logic_error when the
/// new world does not end in the state that the search ended in, bit for bit; StoppedError when the hooks stop it.
Reconstruction Reconstruct(const Job& job, parallel::TaskFarm& farm, const sampling::Hooks& hooks = {});
/// The same on threads of this process; 0: one per core. The result does not depend on how many.
Reconstruction Reconstruct(const Job& job, int threads = 0, const sampling::Hooks& hooks = {});

/// Which files a run leaves besides its manifest.
enum class KeptFiles {
  kAll,      ///< control, motions, tables, picture, costs
  kControl,  ///< control alone, from which `replay` makes the others
};

/// Writes the folder of a run, its manifest last. `more` are members that are added to the manifest. Throws
/// OutputError.
void WriteRun(results::RunFolder& folder, const Job& job, const Reconstruction& result, const RunContext& context,
              KeptFiles kept = KeptFiles::kAll, const io::Json& more = io::Json::object());
/// The same into a folder that is new or empty. Throws UsageError for another one.
void WriteRun(const std::filesystem::path& folder, const Job& job, const Reconstruction& result);

}  // namespace retrace::runs
