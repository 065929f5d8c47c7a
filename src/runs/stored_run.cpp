#include "retrace/runs/stored_run.h"

#include <algorithm>

#include "motion_comparison.h"
#include "reference_targets.h"
#include "retrace/character/limits.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/describe.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/motion/bvh.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/configuration.h"
#include "retrace/runs/pushes.h"
#include "retrace/runs/replay.h"
#include "retrace/runs/run_files.h"
#include "retrace/runs/solver.h"

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

/// A reference turned and moved, of a character that is equal to its own.
character::ReferenceMotion Placed(const character::ReferenceMotion& reference, const character::Character& character,
                                  const Placement& placement) {
  const Quat heading = AxisRotation(1, placement.heading);
  std::vector<character::Pose> poses = reference.poses();
  for (character::Pose& pose : poses) {
    pose.root_position = heading * pose.root_position + placement.offset;
    pose.root_orientation = heading * pose.root_orientation;
  }
  return reference.Of(character).WithPoses(std::move(poses));
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
  std::vector<control::Push> pushes = ReadPushes(view, scene);
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

/// Options of the world in which two runs differ, but for what is there besides the characters.
std::vector<std::string> DifferingOptions(const simulation::WorldOptions& a, const simulation::WorldOptions& b) {
  std::vector<std::string> names;
  const io::Json json_a = a.ToJson();
  const io::Json json_b = b.ToJson();
  for (const auto& [name, value] : json_a.items()) {
    const bool of_characters = name == "contact_scale" || name == "environment";
    if (!of_characters && value != json_b[name]) names.push_back(name);
  }
  return names;
}

/// What the control of a character lasts.
int StepsOf(const control::Scene& scene, size_t character) {
  if (scene.ending) return scene.num_steps();
  const std::vector<control::Fragment>& fragments = scene.fragments[character];
  return fragments.empty() ? 0 : fragments.back().end_step();
}

/// What is kinematic of a scene is taken away: what was shown after the end of the simulation is then driven at.
void MakePhysical(control::Scene& scene) {
  scene.transitions.clear();
  if (!scene.ending) return;
  const int first = scene.ending->step, steps = scene.num_steps() - first;
  scene.ending.reset();
  control::Fragment& last = scene.fragments[0].emplace_back();
  last.first_step = first;
  last.num_steps = steps;
  last.targets.resize(static_cast<size_t>(steps) + 1);
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
  if (!manifest.is_null()) {
    const io::JsonView view(manifest, (folder / results::kManifestFile).string());
    if (view.Has("pushes")) pushes = FurtherPushes(view["pushes"], scene);
    Configuration configuration;
    if (view.Has("configuration")) configuration.Read(view["configuration"]);
    for (RunCharacter& character : characters) character.gates = configuration.task.gates;
    if (view.Has("characters")) ReadCharacters(view["characters"], characters);
  }
  solver = DescribeSolver(scene.world);
  solver_warning = SolverWarning(scene.world);
  scene.world.solver = SolverInUse(scene.world);
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
                   (scene.ending ? "an end that is not simulated" : "kinematic transitions") +
                   ", expected a simulated one: " + why);
}

task::PlacedWorld StoredRun::PutInto(const task::AlteredWorld& world) {
  RequireOneCharacter("a world is placed along the motion of one (put its run there first, and let others join)");
  std::optional<character::ReferenceMotion>& reference = characters[0].reference;
  if (!reference) {
    throw InputError(characters[0].reference_file.string(), "no such file",
                     "the reference, which the place of a world follows from");
  }
  for (const control::Push& push : AllPushes()) {
    if (!scene.layout().IsFree(push.body)) continue;
    throw UsageError(folder.string() + ": found a push on " + BodyName(scene, push.body) +
                     ", expected none on what is not in another world");
  }
  scene.characters[0] = task::WithLoads(scene.characters[0], world);
  task::PlacedWorld placed = task::PlaceWorld(world, *reference);
  reference.emplace(placed.reference);
  if (world.gravity) scene.world.gravity = *world.gravity;
  scene.start = scene.layout().StateOf(scene.start, 0);
  scene.world.environment = placed.environment;
  scene.world.environment.AppendStart(scene.start);
  return placed;
}

std::vector<std::string> StoredRun::Join(const StoredRun& other, const Placement& placement) {
  std::vector<std::string> notes;
  const std::string name = other.folder.string();
  const std::vector<std::string> differing = DifferingOptions(scene.world, other.scene.world);
  if (!differing.empty()) {
    notes.push_back(name + " was made in a world with another " + io::List(differing) + "; here that of " +
                    folder.string() + " holds");
  }
  if (!other.AllPushes().empty()) notes.push_back(name + " was made under pushes, which are left out");
  const std::vector<ControlInput> added = other.controls;  // a run may join itself
  const size_t joining = other.characters.size();
  for (size_t c = 0; c < joining; ++c) {
    try {
      control::AddToScene(other.scene.characters[c], control::ControlOf(other.scene, c),
                          AxisRotation(1, placement.heading), placement.offset, scene);
    } catch (const UsageError& error) {
      throw UsageError(name + ": " + error.what());
    }
    RunCharacter& joined = characters.emplace_back(other.characters[c]);
    joined.placement = placement.After(joined.placement);
    if (joined.reference) joined.reference = Placed(*joined.reference, scene.characters.back(), placement);
    const size_t number = characters.size();
    const auto root = static_cast<size_t>(scene.layout().BodyOf(number - 1, scene.characters.back().root));
    const Vec3& at = scene.start[root].position;
    notes.push_back("character " + std::to_string(number) + " is " + scene.characters.back().name + " of " + name +
                    ", which starts at x " + io::Fixed(at.x(), 2) + ", z " + io::Fixed(at.z(), 2) + " m");
  }
  // The scene's characters may have moved to another place in memory.
  for (size_t c = 0; c < characters.size(); ++c) {
    auto& reference = characters[c].reference;
    if (reference) reference = reference->Of(scene.characters[c]);
  }
  controls.insert(controls.end(), added.begin(), added.end());
  return notes;
}

control::Scene StoredRun::NaiveTracking() const {
  control::Scene tracking = scene;
  if (characters[0].reference) MakePhysical(tracking);
  for (size_t c = 0; c < characters.size(); ++c) {
    if (!characters[c].reference) continue;
    SetTargetsToReference(*characters[c].reference, scene.world.time_step, tracking.fragments[c]);
  }
  return tracking;
}

void StoredRun::TrackReference() {
  for (const RunCharacter& character : characters) {
    if (character.reference) continue;
    throw InputError(character.reference_file.string(), "no such file", "the reference to track");
  }
  // Not the whole scene: references point to its characters.
  scene.fragments = NaiveTracking().fragments;
  scene.transitions.clear();
  scene.ending.reset();
}

std::optional<metrics::Evaluator> StoredRun::EvaluatorOf(size_t character) const {
  const auto& reference = characters[character].reference;
  if (!reference) return std::nullopt;
  return metrics::Evaluator(scene.characters[character], *reference, characters[character].gates,
                            static_cast<size_t>(StepsOf(scene, character)));
}

std::vector<StoredTable> StoredRun::StoredTables(size_t character, bool required) const {
  std::vector<StoredTable> stored;
  const auto hashes = manifest.is_object() ? manifest.find("tables_sha256") : manifest.end();
  const bool hashed = manifest.is_object() && hashes != manifest.end() && hashes->is_object();
  for (const std::string_view table : {results::kTrajectoryFile, results::kContactsFile, results::kTorquesFile}) {
    const std::string name = results::CharacterPrefix(character, characters.size()).append(table);
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
    const fs::path file = PathOf(character, table);
    if (fs::exists(file)) stored.emplace_back(std::string(table), file);
  }
  return stored;
}

std::string StoredRun::FirstDifference(const Replayed& replayed) const {
  if (!manifest.is_null()) {
    if (std::string change = results::FirstChange(folder, manifest); !change.empty()) return change;
  }
  for (size_t c = 0; c < characters.size(); ++c) {
    MotionComparison comparison(scene.characters[c], StoredTables(c, false));
    comparison.Add(replayed.characters[c].trajectory);
    if (std::string difference = comparison.Finish(); !difference.empty()) return difference;
  }
  return "";
}

Verification StoredRun::Verify() const {
  Verification verification;
  // Without a manifest nobody can tell what else was removed.
  verification.difference = manifest.is_null() ? (folder / results::kManifestFile).string() + ": no such file"
                                               : results::FirstChange(folder, manifest);
  if (!verification.difference.empty()) return verification;
  std::vector<std::vector<StoredTable>> tables;
  for (size_t c = 0; c < characters.size(); ++c) tables.push_back(StoredTables(c, true));
  Compare(
      std::move(tables), [](size_t, const control::Trajectory&) {}, verification);
  return verification;
}

Verification StoredRun::Replay(
    const std::function<void(size_t character, const control::Trajectory& part)>& observe) const {
  Verification verification;
  if (!manifest.is_null()) verification.difference = results::FirstChange(folder, manifest);
  std::vector<std::vector<StoredTable>> tables(characters.size());
  for (size_t c = 0; c < characters.size() && verification.difference.empty(); ++c) tables[c] = StoredTables(c, false);
  Compare(std::move(tables), observe, verification);
  return verification;
}

void StoredRun::Compare(std::vector<std::vector<StoredTable>> tables,
                        const std::function<void(size_t character, const control::Trajectory& part)>& observe,
                        Verification& verification) const {
  std::vector<MotionComparison> comparisons;
  std::vector<std::optional<metrics::Evaluator>> evaluators;
  for (size_t c = 0; c < characters.size(); ++c) {
    comparisons.emplace_back(scene.characters[c], std::move(tables[c]));
    evaluators.push_back(EvaluatorOf(c));
  }
  ReplayInParts(scene, pushes, [&](size_t c, const control::Trajectory& part) {
    if (c == 0) verification.num_states += part.states.size() - part.first_new_state();
    comparisons[c].Add(part);
    if (evaluators[c]) evaluators[c]->Add(part);
    observe(c, part);
  });
  for (size_t c = 0; c < characters.size(); ++c) {
    auto& evaluation = verification.evaluations.emplace_back();
    if (evaluators[c]) evaluation = evaluators[c]->Finish(expected_duration(c));
    if (verification.difference.empty()) verification.difference = comparisons[c].Finish();
  }
}

}  // namespace retrace::runs
