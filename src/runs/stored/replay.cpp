#include "retrace/runs/stored/replay.h"

#include <algorithm>
#include <utility>

#include "retrace/control/push_text.h"
#include "retrace/control/pushes.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/runs/stored/scene_files.h"

namespace retrace::runs {
namespace {

/// What a trajectory is to each character. It is that of the only one already.
std::vector<control::Trajectory> Split(control::Trajectory trajectory, const simulation::Layout& layout) {
  std::vector<control::Trajectory> parts;
  if (layout.num_characters() == 1) {
    parts.push_back(std::move(trajectory));
    return parts;
  }
  for (size_t c = 0; c < layout.num_characters(); ++c) {
    parts.push_back(control::TrajectoryOf(trajectory, layout, c));
  }
  return parts;
}

}  // namespace

bool Replayed::success() const {
  return std::all_of(characters.begin(), characters.end(), [](const CharacterReplay& character) {
    return !character.evaluation || character.evaluation->success();
  });
}

bool Replayed::completed() const {
  return std::all_of(characters.begin(), characters.end(), [](const CharacterReplay& character) {
    return !character.evaluation || character.evaluation->completed;
  });
}

Replayed Replay(const StoredRun& run, std::vector<control::Push> pushes) {
  return Replay(run, run.scene, std::move(pushes));
}

Replayed Replay(const StoredRun& run, const control::Scene& scene, std::vector<control::Push> pushes) {
  if (const size_t count = run.AllPushes().size() + pushes.size(); count > control::kMostPushes) {
    throw UsageError("found " + std::to_string(count) + " pushes with those of " + run.folder.string() +
                     ", expected at most " + std::to_string(control::kMostPushes));
  }
  Replayed replayed;
  for (control::Trajectory& trajectory : Split(control::Replay(scene, pushes), scene.layout())) {
    const size_t character = replayed.characters.size();
    std::optional<metrics::Evaluation> evaluation;
    if (std::optional<metrics::Evaluator> evaluator = run.EvaluatorOf(character)) {
      evaluator->Add(trajectory);
      evaluation = evaluator->Finish(run.expected_duration(character));
    }
    replayed.characters.push_back({std::move(trajectory), std::move(evaluation)});
  }
  replayed.pushes = std::move(pushes);
  return replayed;
}

std::string Describe(const StoredRun& run, const Replayed& replayed) {
  const bool pushed = !replayed.pushes.empty();
  const std::string folder = MessageLine(run.folder.string());
  std::string text;
  for (const control::Push& push : replayed.pushes) {
    text.append(folder).append(": pushed: ").append(Describe(run.scene, push)).append("\n");
  }
  if (!pushed && !run.pushes.empty()) {
    text.append(folder).append(": this motion was made under pushes; this is its control without them\n");
  }
  for (size_t c = 0; c < run.characters.size(); ++c) {
    const auto& [trajectory, evaluation] = replayed.characters[c];
    text.append(folder).append(NumberOf(run.scene.characters, c)).append(": ");
    if (!evaluation) {
      const double duration = static_cast<double>(trajectory.num_steps()) * trajectory.time_step;
      text.append("replayed ").append(io::Fixed(duration, 2));
      text.append(" s; there is no reference to compare with\n");
      continue;
    }
    text.append(pushed ? "pushed, " : "").append(evaluation->success() ? "within tolerance\n" : "out of tolerance\n");
    text.append(Describe(*evaluation, run.expected_duration(c), trajectory.diverged));
  }
  return text;
}

}  // namespace retrace::runs
