/// export: the motion of a run in the formats of other programs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/json_printout.h"
#include "retrace/body_fitting/character_of_mesh.h"
#include "retrace/body_fitting/skinned_mesh.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/io/number.h"
#include "retrace/jobs/source_export.h"
#include "retrace/math/rotation.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/stored/run_export.h"

namespace retrace::apps::export_command {
namespace {

const double kShownLoss = Radians(0.1);
constexpr double kShownGap = 1e-4;  // [m]

struct Options {
  std::string folder;
  std::vector<std::string> formats;
  std::string output;
  double rate = 0;  // 0: the format's own [1/s]
  std::string skeleton = "character";
  std::string recording;
  bool skin = false;
  std::string mesh, map;
  bool force = false;
  bool json = false;

  bool has_skin() const { return skin || !mesh.empty(); }
};

/// A stored run as what is exported of it, after a line about it.
std::unique_ptr<runs::ExportableRun> Prepare(const Options& o, runs::StoredRun stored) {
  auto exportable = std::make_unique<runs::ExportableRun>(std::move(stored));
  const runs::StoredRun& run = exportable->run.run;
  std::string who;
  for (const exports::ExportedMotion& motion : exportable->motions) {
    who.append(who.empty() ? "" : ", ").append(motion.character.name);
  }
  if (o.json) return exportable;
  const control::Trajectory& trajectory = exportable->run.replayed.first();
  std::printf("%s: %s for %s s, %zu steps of %s ms%s%s\n", cli::Shown(o.folder).c_str(), cli::Shown(who).c_str(),
              io::Fixed(exportable->motions[0].duration(), 2).c_str(), trajectory.num_steps(),
              io::Fixed(1000 * trajectory.time_step, 3).c_str(), run.AllPushes().empty() ? "" : ", under its pushes",
              trajectory.diverged ? ", until it diverged" : "");
  return exportable;
}

/// What the bodies wear in GLB files: nothing, the generated skins, or the mesh of the user.
std::vector<skin::BodySkin> SkinsOf(const Options& o, const runs::ExportableRun& run) {
  if (!o.has_skin()) return {};
  if (o.mesh.empty()) return runs::GeneratedSkins(run);
  if (run.motions.size() > 1) {
    throw UsageError("--mesh: found a mesh for a run with " + std::to_string(run.motions.size()) +
                     " characters, expected one character; --skin gives each its own");
  }
  std::optional<io::Json> map;
  std::optional<io::JsonView> map_view;
  if (!o.map.empty()) map_view.emplace(map.emplace(io::ReadJson(o.map)), o.map);
  const body_fitting::SkinnedMesh mesh =
      body_fitting::ParseSkinnedGlb(io::ReadFile(o.mesh, body_fitting::kLargestMesh), o.mesh);
  return {body_fitting::SkinOfMesh(mesh, run.motions[0].character, o.mesh, map_view ? &*map_view : nullptr)};
}

int CodeOf(const runs::ExportableRun& exportable, const Call& call) {
  const std::string& difference = exportable.run.difference;
  if (difference.empty()) return 0;
  std::fprintf(stderr, "%s: %s; what was written is the replay\n", cli::Shown(call.name).c_str(),
               cli::Shown(difference).c_str());
  return static_cast<int>(ExitCode::kBelowGate);
}

/// On the skeleton of the recording.
int ExportToSource(const Options& o, const Call& call) {
  if (o.rate > 0) {
    throw UsageError("--rate: found " + io::Number(o.rate) +
                     " frames per second with --skeleton source, expected none: the rate is that of the recording");
  }
  if (o.has_skin()) {
    throw UsageError(
        "--skin: found a skin with --skeleton source, expected none: it is that of the simulated character");
  }
  runs::SourceExportOptions options;
  options.folder = o.folder;
  options.formats = runs::ParseSourceFormats(o.formats);
  options.output = o.output;
  options.recording = o.recording;
  options.force = o.force;
  runs::StoredRun stored(options.folder);
  const std::vector<std::filesystem::path> targets = runs::SourceExportTargets(options);
  const std::unique_ptr<runs::ExportableRun> exportable = Prepare(o, std::move(stored));
  const runs::SourceExport done = runs::WriteSourceExports(*exportable, options, targets);
  const motion::Clip& clip = done.motion.clip;
  if (o.json) {
    io::Json files = io::Json::array();
    for (const std::filesystem::path& target : targets) files.push_back({{"file", target.string()}});
    PrintJson({{"folder", o.folder},
               {"difference", exportable->run.difference},
               {"recording", done.recording.string()},
               {"joints", clip.skeleton.joints.size()},
               {"joints_moved", done.motion.moved.size()},
               {"frames", clip.frames.size()},
               {"frame_time", clip.frame_time},
               {"start", done.motion.start},
               {"lost_angle", done.lost_angle},
               {"lost_distance", done.lost_distance * done.motion.unit},
               {"files", files}});
    return CodeOf(*exportable, call);
  }
  std::printf("  on the skeleton of %s: %zu of %zu joints move with the simulated bodies, the others are as recorded\n",
              cli::Shown(done.recording.string()).c_str(), done.motion.moved.size(), clip.skeleton.joints.size());
  std::printf("  %zu frames, %s per second; the first one is at %s s of the recording\n", clip.frames.size(),
              io::Number(std::round(1e4 / clip.frame_time) / 1e4).c_str(), io::Fixed(done.motion.start, 3).c_str());
  if (done.lost_angle > kShownLoss || done.lost_distance * done.motion.unit > kShownGap) {
    std::printf(
        "  joints of %s with fewer than three rotations or without positions: up to %s degrees and %s m of the "
        "motion have no channel in the file; GLB has all\n",
        cli::Shown(done.recording.string()).c_str(), io::Fixed(Degrees(done.lost_angle), 1).c_str(),
        io::Fixed(done.lost_distance * done.motion.unit, 3).c_str());
  }
  for (const std::filesystem::path& target : targets) {
    std::printf("  %s (%ju kB)\n", cli::Shown(target.string()).c_str(),
                static_cast<uintmax_t>((std::filesystem::file_size(target) + 999) / 1000));
  }
  return CodeOf(*exportable, call);
}

int Export(const Options& o, const Call& call) {
  if (o.skeleton == "source") return ExportToSource(o, call);
  if (!o.recording.empty()) {
    throw UsageError("--recording: found a file without --skeleton source, expected none: nothing is read of it");
  }
  runs::ExportOptions options;
  options.folder = o.folder;
  options.formats = exports::ParseFormats(o.formats);
  options.output = o.output;
  if (o.rate > 0) options.rate = o.rate;
  options.force = o.force;
  const bool has_glb =
      std::find(options.formats.begin(), options.formats.end(), exports::ExportFormat::kGlb) != options.formats.end();
  if (o.has_skin() && !has_glb) {
    throw UsageError("--skin: found formats without glb, expected glb among them: no other format has a surface");
  }
  runs::StoredRun stored(options.folder);
  const std::vector<runs::ExportTarget> targets = runs::ExportTargets(options, stored.characters.size());
  const std::unique_ptr<runs::ExportableRun> exportable = Prepare(o, std::move(stored));
  io::Json files = io::Json::array();
  const auto on_file = [&](const runs::ExportTarget& target, size_t bytes, double rate) {
    if (o.json) {
      files.push_back({{"file", target.path.string()}, {"bytes", bytes}});
      if (exports::HasRate(target.format)) files.back()["rate"] = rate;
      return;
    }
    std::printf("  %s (%zu kB%s)\n", cli::Shown(target.path).c_str(), (bytes + 999) / 1000,
                exports::HasRate(target.format) ? (", " + io::Number(rate) + " frames per second").c_str() : "");
  };
  options.skins = SkinsOf(o, *exportable);
  for (const skin::BodySkin& skin : options.skins) {
    if (o.json) break;
    std::printf("  a skin of %zu vertices, which %zu bodies move\n", skin.surface.vertices.size(), skin.binds.size());
  }
  runs::WriteExports(*exportable, options, targets, on_file);
  if (o.json) {
    PrintJson({{"folder", o.folder}, {"difference", exportable->run.difference}, {"files", files}});
  }
  return CodeOf(*exportable, call);
}

void AddOptions(cli::Command& command, Options& o) {
  command.Add("folder", o.folder, "Folder of a run").Type("DIR").Required();
  command
      .Add("--to", o.formats,
           "glb (3D scenes), bvh (animation), csv (tables), npz (numpy), sto (OpenSim: motion, ground forces), trc "
           "(markers), joints (robots: angles, targets, torques), mujoco (the same with a model of the robot), or all; "
           "repeatable, or with commas between")
      .Type("FORMAT")
      .OneEach()
      .Required();
  command.Add("--output", o.output, "Folder for the files, or the file itself where there is one only [DIR/export]")
      .Type("PATH");
  cli::AddNumber(
      command, "--rate", o.rate, io::Real{{1, 10000}},
      "Frames per second [glb 60; bvh, csv, trc, joints 120; mujoco 240]; npz and sto have every simulation step; with "
      "--skeleton source that of the recording");
  command
      .Add("--skeleton", o.skeleton,
           "Whose skeleton moves: that of the simulated character, or the recording's own with its names, bones and "
           "frame rate (source; bvh, glb)")
      .OneOf({"character", "source"})
      .ShowDefault();
  command
      .Add("--recording", o.recording,
           "The recording, where it is no longer where the run was made from it (with --skeleton source)")
      .Type("FILE");
  const cli::Option skin = command.AddFlag(
      "--skin", o.skin,
      "In GLB one generated mesh that bends at the joints, instead of the shapes that collide (humans)");
  const cli::Option mesh =
      command.Add("--mesh", o.mesh, "As --skin, with the mesh of which `character from-mesh` made the character")
          .Type("GLB")
          .Excludes(skin);
  command.Add("--map", o.map, "JSON file that says which joint of --mesh moves which segment").Type("FILE").Needs(mesh);
  command.AddFlag("--force", o.force, "Overwrite files in --output");
  AddJsonOption(command, o.json);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Export(*options, call); };
}

}  // namespace retrace::apps::export_command
