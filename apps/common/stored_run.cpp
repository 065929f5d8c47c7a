#include "common/stored_run.h"

#include <algorithm>

#include "retrace/character/skeleton.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/motion/bvh.h"
#include "retrace/reconstruction/configuration.h"
#include "retrace/results/run_folder.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace fs = std::filesystem;
namespace {

/// A manifest, or null where there is none.
io::Json ManifestOf(const fs::path& folder) {
  const fs::path path = folder / results::kManifestFile;
  return fs::exists(path) ? io::ReadJson(path) : io::Json();
}

fs::path ControlOf(const fs::path& folder) {
  const fs::path file = folder / results::kControlFile;
  if (!fs::is_directory(folder)) throw InputError(folder.string(), "no such folder", "the folder of a run");
  if (!fs::exists(file)) throw InputError(file.string(), "no such file", "the folder of a run, with its control");
  return file;
}

}  // namespace

character::ReferenceMotion ReadReference(const fs::path& file, const character::Character& character) {
  const motion::Clip clip = motion::ReadBvh(file);
  std::vector<character::Pose> poses = character::PosesOf(character, clip, file.string());
  if (poses.size() < 2) throw InputError(file.string(), "fewer than two frames", "a motion");
  return character::ReferenceMotion(character, clip.frame_time, std::move(poses), clip.frame_time);
}

void TrackReference(const character::ReferenceMotion& reference, control::OpenLoopControl& control) {
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

std::vector<control::Push> ReadPushes(const io::JsonView& view, const character::Character& character) {
  std::vector<control::Push> pushes;
  for (const io::JsonView& entry : view.Elements()) {
    control::Push& push = pushes.emplace_back();
    push.body = character.FindBody(entry["body"].String());
    if (push.body < 0) {
      std::string names;
      for (const character::Body& body : character.bodies) names += (names.empty() ? "" : ", ") + body.name;
      entry["body"].Expect("one of " + names);
    }
    push.force = entry["force"].Vector();
    push.start = entry["start"].Number(io::kNonNegative);
    push.duration = entry["duration"].Number(io::kPositive);
  }
  return pushes;
}

std::vector<control::Push> PushesOf(const fs::path& folder, const character::Character& character) {
  const io::Json manifest = ManifestOf(folder);
  const io::JsonView view(manifest, (folder / results::kManifestFile).string());
  if (!manifest.is_object() || !view.Has("pushes")) return {};
  return ReadPushes(view["pushes"], character);
}

metrics::GateLimits GatesOf(const fs::path& folder) {
  const io::Json manifest = ManifestOf(folder);
  if (manifest.is_null()) return {};
  const io::JsonView view(manifest, (folder / results::kManifestFile).string());
  reconstruction::Configuration configuration;
  if (view.Has("configuration")) configuration.Read(view["configuration"]);
  return configuration.gates;
}

StoredRun::StoredRun(const fs::path& path)
    : folder(path),
      loaded(control::LoadControl(ControlOf(path))),
      manifest(ManifestOf(path)),
      pushes(PushesOf(path, loaded.character)) {
  const fs::path reference_file = folder / results::kReferenceFile;
  if (fs::exists(reference_file)) reference.emplace(ReadReference(reference_file, loaded.character));
  trajectory = control::Replay(loaded.character, loaded.control, pushes);
  if (reference) {
    expected = std::max(loaded.control.duration(), reference->duration() - loaded.control.world.time_step);
    evaluation = metrics::Evaluate(loaded.character, trajectory, *reference, expected, GatesOf(folder));
  }
  const fs::path table = folder / results::kTrajectoryFile;
  differs = fs::exists(table) && io::ReadFile(table) != results::FormatTrajectory(loaded.character, trajectory);
}

}  // namespace retrace::apps
