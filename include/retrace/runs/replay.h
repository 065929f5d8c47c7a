/// A stored run simulated again: as it was, in other worlds, under pushes, or with the servos driven at the reference.
///
///     retrace::runs::StoredRun run("results/walk");
///     const auto replayed = retrace::runs::Replay(run);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/runs/manifest.h"
#include "retrace/runs/pushes.h"
#include "retrace/runs/stored_run.h"

namespace retrace::runs {

struct Replayed {
  std::vector<control::Push> pushes;  ///< under which it was simulated
  control::Trajectory trajectory;
  std::optional<metrics::Evaluation> evaluation;  ///< where there is a reference
};

/// Simulates the control of a run in a new world.
Replayed Replay(const StoredRun& run, std::vector<control::Push> pushes = {});

/// Writes the files of a replayed motion and their manifest. `tracks_reference` names what the targets are in title and
/// manifest. Throws OutputError.
void WriteReplay(results::RunFolder& folder, const StoredRun& run, const Replayed& replayed, bool tracks_reference,
                 const RunContext& context);

/// Writes the table of pushes and its manifest. Throws OutputError.
void WritePushTable(results::RunFolder& folder, const StoredRun& run, const std::vector<PushOutcome>& outcomes,
                    const RunContext& context);

}  // namespace retrace::runs
