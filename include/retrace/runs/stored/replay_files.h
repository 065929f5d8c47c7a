/// The folder of a replayed motion.
#pragma once

#include <string>

#include "retrace/io/json.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/runs/stored/replay.h"
#include "retrace/runs/stored/stored_feedback.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

struct ReplayOptions {
  bool tracks_reference = false;  ///< the targets are those of StoredRun::TrackReference: title and manifest state it
  /// Where the motion was simulated under feedback (ReplayWithFeedback): its commands are the control that is
  /// written, feedback.csv is added, and the manifest states all of it.
  const RunFeedback* feedback = nullptr;
  const FeedbackReplay* feedback_replay = nullptr;
  io::Json perturbation = {};  ///< for the manifest: what else is not as it was; null: nothing
};

/// Writes the files of a replayed motion and their manifest; for a scene those of each character in a folder of its
/// own. Throws OutputError.
void WriteReplay(results::RunFolder& folder, const StoredRun& run, const Replayed& replayed, const RunContext& context,
                 const ReplayOptions& options = {});

/// What was simulated of a stored run.
struct ReplayFacts {
  std::string program;                    ///< as the manifest names it, e.g. "replay --push"
  std::string status;                     ///< completed, partial or diverged
  const Replayed* replayed = nullptr;     ///< null: a table of many replays
  const RunFeedback* feedback = nullptr;  ///< under which it was simulated; null: none
  io::Json perturbation = {};             ///< what else is not as it was; null: nothing
};
/// For a scene it has `characters`: name, folder, origin, placement, tolerances and evaluation of each. For a single
/// character the evaluation stands in the manifest itself.
io::Json ReplayManifest(const StoredRun& run, const ReplayFacts& facts, const RunContext& context);

}  // namespace retrace::runs
