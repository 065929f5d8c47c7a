#include "retrace/runs/stored_run.h"

#include <algorithm>

#include "retrace/character/skeleton.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/motion/bvh.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/configuration.h"
#include "retrace/runs/pushes.h"
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

fs::path ControlOf(const fs::path& folder) {
  fs::path file = folder / results::kControlFile;
  if (!fs::is_directory(folder)) throw InputError(folder.string(), "no such folder", "the folder of a run");
  if (!fs::exists(file)) throw InputError(file.string(), "no such file", "the folder of a run, with its control");
  return file;
}

bool KeepsContactTables(const fs::path& folder) {
  const auto kept = [&folder](std::string_view name) { return fs::exists(folder / name); };
  return kept(results::kBodyContactsFile) || kept(results::kContactTotalsFile) || kept(results::kContactSummaryFile) ||
         kept(results::kPressureFile);
}

/// The first place where two tables differ, for a message; empty when they are the same to the byte.
std::string FirstDifferentLine(const std::string& name, const std::string& stored, const std::string& simulated) {
  if (stored == simulated) return "";
  size_t line = 1;
  size_t i = 0;
  while (i < stored.size() && i < simulated.size() && stored[i] == simulated[i]) line += stored[i++] == '\n';
  return name + ":" + std::to_string(line) + ": the replay differs from what is stored";
}

/// A reference.bvh. The character must outlive the motion.
character::ReferenceMotion ReadReference(const fs::path& file, const character::Character& character) {
  const motion::Clip clip = motion::ReadBvh(file);
  std::vector<character::Pose> poses = character::PosesOf(character, clip, file.string());
  if (poses.size() < 2) throw InputError(file.string(), "fewer than two frames", "a motion");
  return character::ReferenceMotion(character, clip.frame_time, std::move(poses), clip.frame_time);
}

}  // namespace

void SetTargetsToReference(const character::ReferenceMotion& reference, control::OpenLoopControl& control) {
  for (control::Fragment& fragment : control.fragments) {
    const size_t knots = fragment.targets.size();
    for (size_t k = 0; k < knots; ++k) {
      const double along = knots == 1 ? 1.0 : static_cast<double>(k) / static_cast<double>(knots - 1);
      character::Pose pose;
      reference.PoseAt((fragment.first_step + along * fragment.num_steps) * control.world.time_step, pose);
      fragment.targets[k] = pose.joint_rotations;
    }
  }
}

StoredRun::StoredRun(const fs::path& path)
    : folder(path), loaded(control::LoadControl(ControlOf(path))), manifest(ManifestOf(path)) {
  if (!manifest.is_null()) {
    const io::JsonView view(manifest, (folder / results::kManifestFile).string());
    if (view.Has("pushes")) pushes = ReadPushes(view["pushes"], loaded.character);
    Configuration configuration;
    if (view.Has("configuration")) configuration.Read(view["configuration"]);
    gates = configuration.task.gates;
  }
  simulation::WorldOptions& world = loaded.control.world;
  solver = DescribeSolver(world);
  solver_warning = SolverWarning(world);
  world.solver = SolverInUse(world);
  if (fs::exists(reference_file())) reference.emplace(ReadReference(reference_file(), loaded.character));
}

fs::path StoredRun::reference_file() const {
  return folder / results::kReferenceFile;
}

double StoredRun::expected_duration() const {
  if (!reference) return 0;
  return std::max(loaded.control.duration(), reference->duration() - loaded.control.world.time_step);
}

task::PlacedWorld StoredRun::PutInto(const task::AlteredWorld& world) {
  if (!reference) {
    throw InputError(reference_file().string(), "no such file", "the reference that tells where a world is");
  }
  loaded.character = task::WithLoads(loaded.character, world);
  task::PlacedWorld placed = task::PlaceWorld(world, *reference);
  reference.emplace(placed.reference);
  control::OpenLoopControl& control = loaded.control;
  if (world.gravity) control.world.gravity = *world.gravity;
  control.world.environment = placed.environment;
  control.start.resize(loaded.character.bodies.size());
  control.world.environment.AppendStart(control.start);
  return placed;
}

void StoredRun::TrackReference() {
  if (!reference) throw InputError(reference_file().string(), "no such file", "the reference to track");
  SetTargetsToReference(*reference, loaded.control);
}

std::optional<metrics::Evaluation> StoredRun::Evaluate(const control::Trajectory& trajectory) const {
  if (!reference) return std::nullopt;
  return metrics::Evaluate(loaded.character, trajectory, *reference, expected_duration(), gates);
}

std::string StoredRun::FirstDifference(const control::Trajectory& trajectory, bool required) const {
  const auto hashes = manifest.is_object() ? manifest.find("tables_sha256") : manifest.end();
  const bool hashed = manifest.is_object() && hashes != manifest.end() && hashes->is_object();
  std::vector<NamedTable> tables = StateTables(loaded.character, trajectory);
  if (KeepsContactTables(folder)) {  // they follow from the others
    for (NamedTable& table : ContactTables(loaded.character, trajectory)) {
      if (fs::exists(folder / table.name)) tables.push_back(std::move(table));
    }
  }
  for (const auto& [name, text] : tables) {
    if (!fs::exists(folder / name) && hashed && hashes->contains(name)) {
      if (hashes->at(name) == io::Sha256(text)) continue;
      const std::string file = (folder / results::kManifestFile).string();
      return file + ": /tables_sha256/" + name + ": the replay differs from what was found";
    }
    if (!required && !fs::exists(folder / name)) continue;
    std::string difference = FirstDifferentLine((folder / name).string(), io::ReadFile(folder / name), text);
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string StoredRun::Verify() const {
  return FirstDifference(control::Replay(loaded.character, loaded.control, pushes), true);
}

ReplayedRun::ReplayedRun(const fs::path& path)
    : StoredRun(path),
      trajectory(control::Replay(loaded.character, loaded.control, pushes)),
      evaluation(Evaluate(trajectory)),
      difference(FirstDifference(trajectory, false)) {}

}  // namespace retrace::runs
