/// The manifest that ends every folder of results: one place defines its members.
#pragma once

#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {

struct Job;
struct Reconstruction;
struct Replayed;
struct RunFeedback;
struct StoredRun;
struct Tracking;

/// Who computed, and since when.
struct RunContext {
  std::string command = {};                  ///< as a shell takes it back
  io::Json workers = {};                     ///< {"kind": "threads" or "ranks", "count"}; null: not known
  const results::RunTimer* timer = nullptr;  ///< null: the time of the computation alone
};

/// The manifest of a reconstruction. `more` are members that are added or replaced.
io::Json ReconstructionManifest(const Job& job, const Reconstruction& result, const RunContext& context,
                                const io::Json& more);

/// The manifest of a tracked motion, likewise.
io::Json TrackingManifest(const Job& job, const Tracking& result, const RunContext& context, const io::Json& more);

/// What was simulated of a stored run.
struct ReplayFacts {
  std::string program;                    ///< as the manifest names it, e.g. "replay --push"
  std::string status;                     ///< completed, partial or diverged
  const Replayed* replayed = nullptr;     ///< null: a table of many replays
  const RunFeedback* feedback = nullptr;  ///< under which it was simulated; null: none
  io::Json perturbation = {};             ///< what else is not as it was; null: nothing
};
/// For a scene it has `characters`: name, folder, origin, placement, gates and evaluation of each. For a single
/// character the evaluation stands in the manifest itself.
io::Json ReplayManifest(const StoredRun& run, const ReplayFacts& facts, const RunContext& context);

/// Writes a manifest with the list of the folder's files, last of all. Throws OutputError.
void FinishWith(results::RunFolder& folder, io::Json manifest);

}  // namespace retrace::runs
