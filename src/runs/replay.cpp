#include "retrace/runs/replay.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/runs/run_files.h"
#include "retrace/runs/stabilization.h"
#include "scene_files.h"
#include "split.h"

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

ReplayedRun::ReplayedRun(StoredRun stored)
    : run(std::move(stored)), replayed(Replay(run, run.pushes)), difference(run.FirstDifference(replayed)) {}

JoiningRun ParseJoiningRun(const std::string& text) {
  const auto refuse = [&](const std::string& found) {
    std::string message = "the other run \"" + text + "\"";
    message.append(": found ").append(found).append(", expected OTHER, OTHER,X,Z or OTHER,X,Z,HEADING: the folder of ");
    throw UsageError(message.append("a run, metres up to 1000, and degrees"));
  };
  const std::vector<std::string> parts = Split(text, ',');
  if (parts.size() == 2 || parts.size() > 4) refuse(std::to_string(parts.size()) + " parts between commas");
  if (parts[0].empty()) refuse("no folder");
  const auto number = [&](size_t part, double limit) {
    double value = 0;
    if (part >= parts.size()) return value;
    // Written so that NaN is refused, too.
    if (!io::ParseNumber(parts[part], value) || !(std::abs(value) <= limit)) refuse("\"" + parts[part] + "\"");
    return value;
  };
  constexpr double kFarAway = 1000;  // [m] a simulation that goes further has diverged
  const Vec3 offset(number(1, kFarAway), 0, number(2, kFarAway));
  return {parts[0], {Radians(number(3, 360)), offset}};
}

void WriteReplay(results::RunFolder& folder, const StoredRun& run, const Replayed& replayed, const RunContext& context,
                 const ReplayOptions& options) {
  const bool pushed = !replayed.pushes.empty();
  std::string title = options.tracks_reference ? "naive tracking" : "replay";
  if (options.feedback != nullptr) title += " with feedback";
  if (pushed) title += ", pushed";
  const control::Scene& control = options.feedback != nullptr ? options.feedback_replay->scene : run.scene;
  control::WriteControl(control, [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  if (options.feedback != nullptr) {
    folder.Write(results::kFeedbackTableFile,
                 FormatFeedbackRecords(run.scene.characters[0], options.feedback_replay->records));
  }
  std::vector<CharacterMotion> motions;
  for (size_t c = 0; c < run.characters.size(); ++c) {
    const auto& reference = run.characters[c].reference;
    motions.push_back({replayed.characters[c].trajectory, reference ? &*reference : nullptr});
  }
  WriteMotions(folder, run.scene.characters, run.scene.world, motions, title);
  ReplayFacts facts;
  facts.program = options.feedback != nullptr ? "replay --feedback"
                  : pushed                    ? "replay --push"
                  : options.tracks_reference  ? "replay --track-only"
                  : run.controls.size() > 1   ? "replay --with"
                                              : "replay";
  facts.status = replayed.diverged() ? "diverged" : replayed.completed() ? "completed" : "partial";
  facts.replayed = &replayed;
  facts.feedback = options.feedback;
  facts.perturbation = options.perturbation;
  FinishWith(folder, ReplayManifest(run, facts, context));
}

void WritePushTable(results::RunFolder& folder, const StoredRun& run, const std::vector<PushOutcome>& outcomes,
                    const RunContext& context, const ReplayOptions& options,
                    const std::vector<PushOutcome>& with_feedback) {
  folder.Write(results::kPushTableFile, FormatPushTable(run.scene, outcomes, with_feedback));
  ReplayFacts facts{"replay --push-table", "completed"};
  facts.feedback = options.feedback;
  facts.perturbation = options.perturbation;
  FinishWith(folder, ReplayManifest(run, facts, context));
}

std::string Describe(const StoredRun& run, const Replayed& replayed) {
  const bool pushed = !replayed.pushes.empty();
  const std::string folder = run.folder.string();
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
    text.append(pushed ? "pushed, " : "").append(evaluation->success() ? "within" : "below").append(" the gates\n");
    text.append(Describe(*evaluation, run.expected_duration(c), trajectory.diverged));
  }
  return text;
}

std::string DescribeVerified(const StoredRun& run, const Verification& verification) {
  std::string text = run.folder.string() + ": all " + std::to_string(verification.num_states);
  text.append(" states, contacts and torques ");
  if (run.characters.size() > 1)
    text.append("of ").append(std::to_string(run.characters.size())).append(" characters ");
  text.append("are the same to the bit")
      .append(!run.pushes.empty()         ? ", under the pushes of its manifest"
              : !run.scene.pushes.empty() ? ", under the pushes of its control"
                                          : "");
  text.append("\n");
  for (size_t c = 0; c < run.characters.size(); ++c) {
    const std::optional<metrics::Evaluation>& evaluation = verification.evaluations[c];
    if (!evaluation || evaluation->completed) continue;
    text.append("  the control")
        .append(run.characters.size() > 1 ? " of" + NumberOf(run.scene.characters, c).substr(1) : "");
    text.append(" is a part: ").append(io::Fixed(evaluation->simulated_duration, 2)).append(" of ");
    text.append(io::Fixed(run.expected_duration(c), 2)).append(" s\n");
  }
  return text;
}

}  // namespace retrace::runs
