#include "retrace/runs/stored/replay_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "retrace/control/control_file.h"
#include "retrace/control/pushes.h"
#include "retrace/io/describe.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/runs/stored/scene_files.h"

namespace retrace::runs {
namespace {

/// For each character of a scene: where it came from, and its outcome.
io::Json CharactersMember(const StoredRun& run, const Replayed& replayed) {
  io::Json list = io::Json::array();
  for (size_t c = 0; c < run.characters.size(); ++c) {
    const RunCharacter& character = run.characters[c];
    std::string folder = results::CharacterPrefix(c, run.characters.size());
    folder.pop_back();
    io::Json entry = {{"name", run.scene.characters[c].name},
                      {"folder", folder},
                      {"run", character.run},
                      {"control_sha256", character.control_sha256},
                      {"heading", character.placement.heading},
                      {"offset", io::ToJson(character.placement.offset)},
                      {"gates", io::Write(character.gates)}};
    if (character.reference) {
      entry["reference"] = "that of its run, turned and moved: kinematics that take no account of the other characters";
    }
    if (replayed.characters[c].evaluation) entry["evaluation"] = replayed.characters[c].evaluation->ToJson();
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

io::Json ReplayManifest(const StoredRun& run, const ReplayFacts& facts, const RunContext& context) {
  io::Json manifest = BeginManifest(facts.program, facts.status);
  if (facts.replayed != nullptr) {
    const Replayed& replayed = *facts.replayed;
    if (!replayed.pushes.empty()) manifest["perturbed"] = true;  // no result of the control alone
    std::vector<control::Push> pushes = run.scene.pushes;
    pushes.insert(pushes.end(), replayed.pushes.begin(), replayed.pushes.end());
    if (!pushes.empty()) manifest["pushes"] = control::PushesToJson(run.scene, pushes);
    const auto compared = [](const CharacterReplay& character) { return character.evaluation.has_value(); };
    if (std::all_of(replayed.characters.begin(), replayed.characters.end(), compared)) {
      manifest["success"] = replayed.success();
    }
    if (replayed.characters.size() > 1) {
      manifest["characters"] = CharactersMember(run, replayed);
    } else if (replayed.characters[0].evaluation) {
      manifest["evaluation"] = replayed.characters[0].evaluation->ToJson();
    }
  }
  manifest["command"] = context.command;
  manifest["inputs"] = io::Json::array();
  for (const ControlInput& control : run.controls) {
    manifest["inputs"].push_back({{"file", control.file.string()}, {"sha256", control.sha256}});
  }
  if (facts.feedback != nullptr) {
    manifest["inputs"].push_back({{"file", facts.feedback->file.string()}, {"sha256", facts.feedback->sha256}});
    if (facts.feedback->tree)
      manifest["inputs"].push_back(
          {{"file", facts.feedback->tree_file.string()}, {"sha256", facts.feedback->tree_sha256}});
    manifest["feedback"] = io::Write(facts.feedback->options);
    if (!facts.feedback->sensors.empty()) manifest.update(io::Write(facts.feedback->sensors));
  }
  if (!facts.perturbation->is_null()) manifest["perturbation"] = *facts.perturbation;
  manifest["solver"] = run.solver;
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : results::RunTimer(), {});
  return manifest;
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
  facts.program = options.feedback != nullptr ? "replay with feedback"
                  : pushed                    ? "replay under pushes"
                  : options.tracks_reference  ? "replay of the reference"
                  : run.controls.size() > 1   ? "replay with others"
                                              : "replay";
  facts.status = replayed.diverged() ? "diverged" : replayed.completed() ? "completed" : "partial";
  facts.replayed = &replayed;
  facts.feedback = options.feedback;
  facts.perturbation = options.perturbation;
  FinishWith(folder, ReplayManifest(run, facts, context));
}

}  // namespace retrace::runs
