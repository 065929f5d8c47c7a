#include "retrace/jobs/push_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/control/pushes.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {
namespace {

[[noreturn]] void Refuse(const std::string& text, const std::string& found, const std::string& expected) {
  std::string message = "push " + text;
  message += ": found " + found;
  message += ", expected " + expected;
  throw UsageError(message);
}

bool InMotion(double time, double motion_duration) {
  return time >= 0 && time < motion_duration;
}

std::string InstantsOf(double motion_duration) {
  return "an instant of the motion, 0 to " + io::Fixed(motion_duration, 2) + " s";
}

std::string Padded(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

/// Directions of a table, turned with the body's heading.
struct Direction {
  const char* name;
  Vec3 along;
};
const std::array<Direction, 4>& Directions() {
  static const std::array<Direction, 4> kDirections = {
      {{"forward", Vec3::UnitZ()}, {"backward", -Vec3::UnitZ()}, {"left", Vec3::UnitX()}, {"right", -Vec3::UnitX()}}};
  return kDirections;
}

/// Replays a run under one push. The run has a reference.
PushOutcome TryPush(const PushReplay& replay, const control::Push& push) {
  const Replayed replayed = replay({push});
  const metrics::Evaluation& evaluation = *replayed.characters[0].evaluation;
  PushOutcome outcome;
  outcome.push = push;
  double until = evaluation.simulated_duration;
  if (const metrics::Gate* gate = evaluation.FirstViolated()) {
    outcome.left = true;
    outcome.gate = gate->name;
    until = gate->first_violation;
  } else if (replayed.diverged()) {
    outcome.left = true;
    outcome.gate = "diverged";
  }
  outcome.survived = until - push.start;
  outcome.at_end = evaluation.at_end;
  return outcome;
}

}  // namespace

std::vector<PushOutcome> TryPushes(const StoredRun& run, const control::Trajectory& unpushed,
                                   const PushTableOptions& options, const PushReplay& replay) {
  run.RequireOneCharacter("a table of pushes is of one");
  if (!run.characters[0].reference) {
    throw InputError(run.characters[0].reference_file.string(), "no such file",
                     "the reference to which the tolerances apply");
  }
  const character::Character& character = run.scene.characters[0];
  const double duration = run.scene.duration();
  const int body = control::FindBody(run.scene, options.body);
  if (body < 0) Refuse("table", "the body \"" + options.body + "\"", "one of " + control::NamesOfBodies(run.scene));
  for (const double time : options.times) {
    if (InMotion(time, duration)) continue;
    Refuse("table", "the start \"" + io::Number(time) + "\"", InstantsOf(duration));
  }
  std::vector<double> times = options.times;
  if (times.empty()) {
    for (const double share : {0.25, 0.5, 0.75}) times.push_back(share * duration);
  }
  const PushReplay open_loop = [&run](std::vector<control::Push> pushes) { return Replay(run, std::move(pushes)); };
  std::vector<PushOutcome> outcomes;
  for (const double time : times) {
    const auto index = std::min(unpushed.num_steps(), static_cast<size_t>(std::lround(time / unpushed.time_step)));
    const Quat heading = Heading(unpushed.states[index][static_cast<size_t>(character.root)].orientation);
    for (const Direction& direction : Directions()) {
      for (const double size : options.forces) {
        outcomes.push_back(
            TryPush(replay ? replay : open_loop, {body, size * (heading * direction.along), time, options.duration}));
        outcomes.back().size = size;
        outcomes.back().direction = direction.name;
      }
    }
  }
  return outcomes;
}

std::string FormatPushTable(const control::Scene& scene, const std::vector<PushOutcome>& outcomes,
                            const std::vector<PushOutcome>& with_feedback) {
  io::CsvWriter csv;
  for (const char* column : {"body", "direction", "force", "force_x", "force_y", "force_z", "start", "duration",
                             "survived", "left", "gate", "at_end"}) {
    csv.Text(column);
  }
  if (!with_feedback.empty()) {
    for (const char* column : {"feedback_survived", "feedback_left", "feedback_gate", "feedback_at_end"})
      csv.Text(column);
  }
  csv.EndRow();
  const auto write_end = [&](const PushOutcome& outcome) {
    csv.Number(outcome.survived);
    csv.Integer(outcome.left ? 1 : 0);
    csv.Text(outcome.gate);
    csv.Number(outcome.at_end);
  };
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const PushOutcome& outcome = outcomes[i];
    const control::Push& push = outcome.push;
    csv.Text(control::BodyName(scene, push.body));
    csv.Text(outcome.direction);
    csv.Number(outcome.size);
    csv.Vector(push.force);
    for (const double number : {push.start, push.duration}) csv.Number(number);
    write_end(outcome);
    if (!with_feedback.empty()) write_end(with_feedback[i]);
    csv.EndRow();
  }
  return csv.Take();
}

std::string DescribePushTable(const std::vector<PushOutcome>& outcomes, const std::vector<PushOutcome>& with_feedback) {
  std::string text;
  const size_t width = with_feedback.empty() ? 9 : 17;
  const auto same_row = [](const PushOutcome& a, const PushOutcome& b) {
    return a.push.start == b.push.start && a.direction == b.direction;
  };
  const auto cell = [](const PushOutcome& outcome) {
    return outcome.left ? io::Fixed(outcome.survived, 2) + " s" : "end";
  };
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const bool begins = i == 0 || !same_row(outcomes[i], outcomes[i - 1]);
    if (i == 0) {
      text += "   start  direction";
      for (size_t k = 0; k < outcomes.size() && same_row(outcomes[k], outcomes[0]); ++k) {
        text += Padded(io::Number(outcomes[k].size) + " N", width);
      }
      text += "\n";
    }
    if (begins) {
      text += Padded(io::Fixed(outcomes[i].push.start, 2) + " s", 8) + "  ";
      text += outcomes[i].direction + std::string(9 - outcomes[i].direction.size(), ' ');
    }
    text +=
        Padded(with_feedback.empty() ? cell(outcomes[i]) : cell(outcomes[i]) + " | " + cell(with_feedback[i]), width);
    if (i + 1 == outcomes.size() || !same_row(outcomes[i], outcomes[i + 1])) text += "\n";
  }
  if (with_feedback.empty()) return text;
  const auto to_the_end = [](const std::vector<PushOutcome>& list) {
    const auto stays = std::count_if(list.begin(), list.end(), [](const PushOutcome& o) { return !o.left; });
    return std::to_string(stays) + " of " + std::to_string(list.size());
  };
  return text.append("to the end: ")
      .append(to_the_end(outcomes))
      .append(" open loop, ")
      .append(to_the_end(with_feedback))
      .append(" with feedback\n");
}

void WritePushTable(results::RunFolder& folder, const StoredRun& run, const std::vector<PushOutcome>& outcomes,
                    const RunContext& context, const ReplayOptions& options,
                    const std::vector<PushOutcome>& with_feedback) {
  folder.Write(results::kPushTableFile, FormatPushTable(run.scene, outcomes, with_feedback));
  ReplayFacts facts{"replay of a push table", "completed"};
  facts.feedback = options.feedback;
  facts.perturbation = options.perturbation;
  FinishWith(folder, ReplayManifest(run, facts, context));
}

}  // namespace retrace::runs
