#include "retrace/runs/replay.h"

#include <utility>

#include "retrace/runs/run_files.h"

namespace retrace::runs {

Replayed Replay(const StoredRun& run, std::vector<control::Push> pushes) {
  Replayed replayed;
  replayed.trajectory = control::Replay(run.loaded.character, run.loaded.control, pushes);
  replayed.evaluation = run.Evaluate(replayed.trajectory);
  replayed.pushes = std::move(pushes);
  return replayed;
}

void WriteReplay(results::RunFolder& folder, const StoredRun& run, const Replayed& replayed, bool tracks_reference,
                 const RunContext& context) {
  const std::optional<metrics::Evaluation>& evaluation = replayed.evaluation;
  const bool pushed = !replayed.pushes.empty();
  std::string title = tracks_reference ? "naive tracking" : "replay";
  if (pushed) title += ", pushed";
  WriteMotion(folder, run.loaded.character, run.loaded.control, replayed.trajectory,
              run.reference ? &*run.reference : nullptr, title);
  ReplayFacts facts;
  facts.program = pushed ? "replay --push" : tracks_reference ? "replay --track-only" : "replay";
  facts.status = replayed.trajectory.diverged           ? "diverged"
                 : evaluation && !evaluation->completed ? "partial"
                                                        : "completed";
  facts.pushes = replayed.pushes;
  facts.evaluation = evaluation ? &*evaluation : nullptr;
  FinishWith(folder, ReplayManifest(run, facts, context));
}

void WritePushTable(results::RunFolder& folder, const StoredRun& run, const std::vector<PushOutcome>& outcomes,
                    const RunContext& context) {
  folder.Write(results::kPushTableFile, FormatPushTable(run.loaded.character, outcomes));
  FinishWith(folder, ReplayManifest(run, {"replay --push-table", "completed"}, context));
}

}  // namespace retrace::runs
