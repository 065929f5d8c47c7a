#include "retrace/runs/stored/verification.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "motion_comparison.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/runs/stored/scene_files.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

/// What is stored of a character's tables.
/// @param required whether a state table that is neither in the folder nor in the manifest is an InputError; else it
/// is left out
std::vector<StoredTable> StoredTables(const StoredRun& run, size_t character, bool required) {
  const fs::path& folder = run.folder;
  const io::Json& manifest = run.manifest;
  std::vector<StoredTable> stored;
  const auto hashes = manifest.is_object() ? manifest.find("tables_sha256") : manifest.end();
  const bool hashed = manifest.is_object() && hashes != manifest.end() && hashes->is_object();
  for (const std::string_view table : {results::kTrajectoryFile, results::kContactsFile, results::kTorquesFile}) {
    const std::string name = results::CharacterPrefix(character, run.characters.size()).append(table);
    const bool exists = fs::exists(folder / name);
    if (!exists && hashed && hashes->contains(name)) {
      const std::string place = (folder / results::kManifestFile).string().append(": /tables_sha256/").append(name);
      stored.emplace_back(std::string(table), place, io::JsonView(hashes->at(name), place).String());
    } else if (exists || required) {
      stored.emplace_back(std::string(table), folder / name);
    }
  }
  for (const std::string_view table :
       {results::kBodyContactsFile, results::kContactTotalsFile, results::kContactSummaryFile, results::kPressureFile,
        results::kMotionFile}) {  // they follow from the others
    const fs::path file = run.PathOf(character, table);
    if (fs::exists(file)) stored.emplace_back(std::string(table), file);
  }
  return stored;
}

/// Simulates the run part by part, and compares it with those tables of each character.
void Compare(const StoredRun& run, std::vector<std::vector<StoredTable>> tables,
             const std::function<void(size_t character, const control::Trajectory& part)>& observe,
             Verification& verification) {
  std::vector<MotionComparison> comparisons;
  std::vector<std::optional<metrics::Evaluator>> evaluators;
  for (size_t c = 0; c < run.characters.size(); ++c) {
    comparisons.emplace_back(run.scene.characters[c], std::move(tables[c]));
    evaluators.push_back(run.EvaluatorOf(c));
  }
  ReplayInParts(run.scene, run.pushes, [&](size_t c, const control::Trajectory& part) {
    if (c == 0) verification.num_states += part.states.size() - part.first_new_state();
    comparisons[c].Add(part);
    if (evaluators[c]) evaluators[c]->Add(part);
    observe(c, part);
  });
  for (size_t c = 0; c < run.characters.size(); ++c) {
    auto& evaluation = verification.evaluations.emplace_back();
    if (evaluators[c]) evaluation = evaluators[c]->Finish(run.expected_duration(c));
    if (verification.difference.empty()) verification.difference = comparisons[c].Finish();
  }
}

}  // namespace

std::string FirstDifference(const StoredRun& run, const Replayed& replayed) {
  if (!run.manifest->is_null()) {
    if (std::string change = results::FirstChange(run.folder, run.manifest); !change.empty()) return change;
  }
  for (size_t c = 0; c < run.characters.size(); ++c) {
    MotionComparison comparison(run.scene.characters[c], StoredTables(run, c, false));
    comparison.Add(replayed.characters[c].trajectory);
    if (std::string difference = comparison.Finish(); !difference.empty()) return difference;
  }
  return "";
}

Verification Verify(const StoredRun& run) {
  Verification verification;
  // Without a manifest it is unknown what else was removed.
  verification.difference = run.manifest->is_null() ? (run.folder / results::kManifestFile).string() + ": no such file"
                                                    : results::FirstChange(run.folder, run.manifest);
  if (!verification.difference.empty()) return verification;
  std::vector<std::vector<StoredTable>> tables;
  for (size_t c = 0; c < run.characters.size(); ++c) tables.push_back(StoredTables(run, c, true));
  Compare(
      run, std::move(tables), [](size_t, const control::Trajectory&) {}, verification);
  return verification;
}

Verification ReplayAndCompare(const StoredRun& run,
                              const std::function<void(size_t character, const control::Trajectory& part)>& observe) {
  Verification verification;
  if (!run.manifest->is_null()) verification.difference = results::FirstChange(run.folder, run.manifest);
  std::vector<std::vector<StoredTable>> tables(run.characters.size());
  for (size_t c = 0; c < run.characters.size() && verification.difference.empty(); ++c)
    tables[c] = StoredTables(run, c, false);
  Compare(run, std::move(tables), observe, verification);
  return verification;
}

ReplayedRun::ReplayedRun(StoredRun stored)
    : run(std::move(stored)), replayed(Replay(run, run.pushes)), difference(FirstDifference(run, replayed)) {}

std::string DescribeVerified(const StoredRun& run, const Verification& verification) {
  std::string text = MessageLine(run.folder.string()) + ": all " + std::to_string(verification.num_states);
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
