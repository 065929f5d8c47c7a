#include "retrace/runs/stored/run_export.h"

#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/remedy.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {
namespace fs = std::filesystem;

std::vector<ExportTarget> ExportTargets(const ExportOptions& o, size_t num_characters) {
  const fs::path output = o.output.empty() ? o.folder / results::kExportFolder : o.output;
  std::vector<ExportTarget> targets;
  for (const exports::ExportFormat format : o.formats) {
    for (const std::string& name : exports::FilesOf(format, num_characters)) {
      targets.push_back({format, output / name});
    }
  }
  const std::vector<std::string> first = exports::FilesOf(o.formats.front());
  const bool one_file = o.formats.size() == 1 && first.size() == 1 && !fs::is_directory(output) &&
                        output.extension() == fs::path(first[0]).extension();
  if (one_file && targets.size() > 1) {
    throw UsageError(output.string() +
                     ": found the name of a file, expected that of a folder: there is a file for each "
                     "of " +
                     std::to_string(num_characters) + " characters");
  }
  if (one_file) targets.front().path = output;
  const std::vector<fs::path> inputs = results::FilesOfRun(o.folder);
  for (const ExportTarget& target : targets) {
    io::CheckOutput(target.path, inputs);
    // What is in the run's own `export` is ours.
    if (o.output.empty() || o.force || !fs::exists(target.path)) continue;
    throw WithHint<UsageError>({Remedy::kOverwrite}, target.path.string() + ": found a file, expected none");
  }
  return targets;
}

ExportableRun::ExportableRun(StoredRun stored) : run(std::move(stored)) {
  const control::Scene& scene = run.run.scene;
  for (size_t c = 0; c < scene.characters.size(); ++c) controls.push_back(control::ControlOf(scene, c));
  for (size_t c = 0; c < scene.characters.size(); ++c) {
    motions.push_back(
        {scene.characters[c], controls[c], run.replayed.characters[c].trajectory, results::NameOf(run.run.folder)});
  }
}

std::vector<skin::BodySkin> GeneratedSkins(const ExportableRun& run) {
  std::vector<skin::BodySkin> skins;
  for (const exports::ExportedMotion& motion : run.motions) {
    skins.push_back(skin::MakeBodySkin(motion.character));
    if (!skins.back().empty()) continue;
    throw UsageError("a skin: found the character " + motion.character.name +
                     ", which has none, expected a human; without a skin its collision shapes are written");
  }
  return skins;
}

void WriteExports(const ExportableRun& run, const ExportOptions& o, const std::vector<ExportTarget>& targets,
                  const std::function<void(const ExportTarget& target, size_t bytes, double rate)>& on_file) {
  size_t next = 0;
  while (next < targets.size()) {
    const exports::ExportFormat format = targets[next].format;
    const double rate = o.rate.value_or(exports::DefaultRate(format));
    for (const std::string& bytes : exports::Format(format, run.motions, rate, o.skins)) {
      const ExportTarget& target = targets[next++];
      const fs::path& path = target.path;
      std::error_code error;
      if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
      if (error) throw OutputError(path.parent_path().string() + ": cannot be created: " + error.message());
      io::WriteFile(path, bytes);
      on_file(target, bytes.size(), rate);
    }
  }
}

}  // namespace retrace::runs
