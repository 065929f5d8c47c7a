#include "retrace/runs/stored/stored_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "retrace/character/limits.h"
#include "retrace/character/skeleton.h"
#include "retrace/control/pushes.h"
#include "retrace/io/describe.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

/// A manifest, or null where there is none.
io::Json ManifestOf(const fs::path& folder) {
  const fs::path path = folder / results::kManifestFile;
  return fs::exists(path) ? io::ReadJson(path) : io::Json();
}

/// The control file of a folder, and its text.
struct ControlText {
  explicit ControlText(const fs::path& folder) : file(folder / results::kControlFile) {
    if (!fs::is_directory(folder)) throw InputError(folder.string(), "no such folder", "the folder of a run");
    if (!fs::exists(file)) throw InputError(file.string(), "no such file", "the folder of a run, with its control");
    text = io::ReadFile(file);
  }
  fs::path file;
  std::string text;
};

/// A reference.bvh or recording.bvh. The character must outlive the motion.
character::ReferenceMotion ReadReference(const fs::path& file, const character::Character& character) {
  const motion::Clip clip = motion::ReadBvh(file);
  std::vector<character::Pose> poses = character::PosesOf(character, clip, file.string());
  if (poses.size() < 2) throw InputError(file.string(), "fewer than two frames", "a motion");
  return character::ReferenceMotion(character, clip.frame_time, std::move(poses), clip.frame_time);
}

/// Headings of characters that joined, each of which may have been turned before [rad].
constexpr io::Range kHeadings{-1000, 1000};

/// What the manifest of a scene says of its characters.
void ReadCharacters(const io::JsonView& view, std::vector<RunCharacter>& characters) {
  if (view.size() != characters.size()) {
    view.Expect("an array of " + std::to_string(characters.size()) + ", one entry per character of the control");
  }
  for (size_t c = 0; c < characters.size(); ++c) {
    const io::JsonView entry = view[c];
    characters[c].run = entry["run"].String();
    characters[c].control_sha256 = entry["control_sha256"].String();
    characters[c].placement = {entry["heading"].Number(kHeadings), entry["offset"].Vector(character::kPositions)};
    io::Read(entry["gates"], characters[c].gates);
  }
}

/// The pushes of a manifest, without those of the control, with which they begin.
std::vector<control::Push> FurtherPushes(const io::JsonView& view, const control::Scene& scene) {
  std::vector<control::Push> pushes = control::ReadPushes(view, scene);
  const auto same = [](const control::Push& a, const control::Push& b) {
    return a.body == b.body && a.force == b.force && a.start == b.start && a.duration == b.duration;
  };
  const auto own = static_cast<std::ptrdiff_t>(scene.pushes.size());
  if (pushes.size() < scene.pushes.size() ||
      !std::equal(scene.pushes.begin(), scene.pushes.end(), pushes.begin(), pushes.begin() + own, same)) {
    view.Fail("other pushes", "those of the control first");
  }
  pushes.erase(pushes.begin(), pushes.begin() + own);
  return pushes;
}

/// What the control of a character lasts.
int StepsOf(const control::Scene& scene, size_t character) {
  return scene.num_steps_of(character);
}

}  // namespace

void ReplayInParts(const control::Scene& scene, std::span<const control::Push> pushes,
                   const std::function<void(size_t character, const control::Trajectory& part)>& observe) {
  const simulation::Layout layout = scene.layout();
  control::ReplayInParts(scene, pushes, StepsPerPart(scene.world.time_step), [&](const control::Trajectory& part) {
    if (layout.num_characters() == 1) return observe(0, part);
    for (size_t c = 0; c < layout.num_characters(); ++c) observe(c, control::TrajectoryOf(part, layout, c));
  });
}

Placement Placement::After(const Placement& first) const {
  return {heading + first.heading, AxisRotation(1, heading) * first.offset + offset};
}

StoredRun::StoredRun(const fs::path& path) : folder(path) {
  const ControlText control(path);
  scene = control::ParseScene(control.text, control.file.string());
  controls = {{control.file, io::Sha256(control.text)}};
  manifest = ManifestOf(path);
  for (size_t c = 0; c < scene.characters.size(); ++c) {
    RunCharacter& character = characters.emplace_back();
    character.run = folder.string();
    character.control_sha256 = controls[0].sha256;
    character.reference_file =
        folder / (results::CharacterPrefix(c, scene.characters.size()) + std::string(results::kReferenceFile));
  }
  if (!manifest->is_null()) {
    const io::JsonView view(manifest, (folder / results::kManifestFile).string());
    if (view.Has("pushes")) pushes = FurtherPushes(view["pushes"], scene);
    Configuration configuration;
    if (view.Has("configuration")) configuration.Read(view["configuration"]);
    for (RunCharacter& character : characters) character.gates = configuration.task.gates;
    if (view.Has("characters")) ReadCharacters(view["characters"], characters);
  }
  solver = simulation::DescribeSolver(scene.world);
  solver_warning = simulation::SolverWarning(scene.world);
  scene.world.solver = simulation::SolverInUse(scene.world);
  for (size_t c = 0; c < characters.size(); ++c) {
    const fs::path& file = characters[c].reference_file;
    if (fs::exists(file)) characters[c].reference.emplace(ReadReference(file, scene.characters[c]));
  }
}

std::vector<fs::path> StoredRun::Files() const {
  std::vector<fs::path> files;
  for (const ControlInput& control : controls) {
    for (fs::path& file : results::FilesOfRun(control.file.parent_path())) files.push_back(std::move(file));
  }
  return files;
}

fs::path StoredRun::PathOf(size_t character, std::string_view name) const {
  return folder / results::CharacterPrefix(character, characters.size()).append(name);
}

std::optional<character::ReferenceMotion> StoredRun::Recording(size_t character) const {
  const fs::path file = PathOf(character, results::kRecordingFile);
  if (!fs::exists(file)) return std::nullopt;
  return ReadReference(file, scene.characters[character]);
}

std::vector<control::Push> StoredRun::AllPushes() const {
  std::vector<control::Push> all = scene.pushes;
  all.insert(all.end(), pushes.begin(), pushes.end());
  return all;
}

double StoredRun::control_duration(size_t character) const {
  return StepsOf(scene, character) * scene.world.time_step;
}

double StoredRun::expected_duration(size_t character) const {
  const auto& reference = characters[character].reference;
  if (!reference) return 0;
  return std::max(control_duration(character), reference->duration() - scene.world.time_step);
}

void StoredRun::RequireOneCharacter(const std::string& why) const {
  if (characters.size() == 1) return;
  throw UsageError(folder.string() + ": found " + std::to_string(characters.size()) +
                   " characters, expected one: " + why);
}

void StoredRun::RequirePhysical(const std::string& why) const {
  if (scene.physical()) return;
  throw UsageError(folder.string() + ": found a motion with " +
                   (scene.beginning          ? "a beginning that is not simulated"
                    : !scene.endings.empty() ? "an end that is not simulated"
                                             : "kinematic transitions") +
                   ", expected a simulated one: " + why);
}

std::optional<metrics::Evaluator> StoredRun::EvaluatorOf(size_t character) const {
  const auto& reference = characters[character].reference;
  if (!reference) return std::nullopt;
  return metrics::Evaluator(scene.characters[character], *reference, characters[character].gates,
                            static_cast<size_t>(StepsOf(scene, character)));
}

}  // namespace retrace::runs
