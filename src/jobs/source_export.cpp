#include "retrace/jobs/source_export.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "retrace/exports/skeleton_glb.h"
#include "retrace/io/describe.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/io/remedy.h"
#include "retrace/metrics/trajectory_states.h"
#include "retrace/recordings/bvh.h"
#include "retrace/results/run_folder.h"
#include "retrace/robots/human_motion.h"
#include "retrace/runs/inputs/clip_input.h"
#include "retrace/runs/inputs/inputs.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

constexpr int kMostSteps = 20;  // from a replay of a replay ... to the run that was made from the recording

const char* EndingOf(SourceFormat format) {
  return format == SourceFormat::kBvh ? ".bvh" : ".glb";
}

/// How a clip became a reference, as a manifest has it.
struct StoredReferenceOptions {
  character::ReferenceOptions options;
};
void Describe(StoredReferenceOptions& stored, io::FieldVisitor& v) {
  character::Describe(stored.options, v);
  character::DescribeClip(stored.options, v);
  character::DescribeRange(stored.options, v);
}

/// A recording as a manifest names it.
struct NamedRecording {
  std::vector<InputRecord> files;
  recordings::Choice choice;
  character::ReferenceOptions options;
};

std::string TextOr(const io::JsonView& view, const char* key) {
  return view.Has(key) ? view[key].String() : std::string();
}

bool IsOfRecording(const std::string& role) {
  return role == kClipRole || role == "skeleton" || role == "map" || role.starts_with("beside ");
}

NamedRecording ReadNamed(const io::JsonView& manifest) {
  NamedRecording named;
  const io::JsonView clip = manifest["clip"];
  named.choice = {TextOr(clip, "animation"), TextOr(clip, "performer")};
  io::Json options = clip["options"].json();
  if (options.is_object() && options.contains("joint_map")) {
    named.options.joint_map = options["joint_map"];
    named.options.joint_map_file = clip["options"]["joint_map"].place();
    options.erase("joint_map");
  }
  StoredReferenceOptions stored{named.options};
  io::Read(io::JsonView(options, clip["options"].place()), stored);
  named.options = stored.options;
  const io::JsonView inputs = manifest["inputs"];
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string role = TextOr(inputs[i], "role");
    if (!IsOfRecording(role)) continue;
    InputRecord record{{role, inputs[i]["file"].String()}, inputs[i]["sha256"].String()};
    record.in_memory = inputs[i].Has("in_memory");
    named.files.push_back(std::move(record));
  }
  return named;
}

/// The recording that a run was made from, also where the run is the replay of another one.
NamedRecording FindRecording(const StoredRun& run) {
  fs::path folder = run.folder;
  for (int step = 0; step < kMostSteps; ++step) {
    const fs::path file = folder / results::kManifestFile;
    if (!fs::exists(file)) break;
    const io::Json manifest = io::ReadJson(file);
    const io::JsonView view(manifest, file.string());
    if (view.Has("clip") && view["clip"].Has("options")) return ReadNamed(view);
    if (!view.Has("inputs") || view["inputs"].size() == 0) break;
    const fs::path control = TextOr(view["inputs"][0], "file");
    if (control.filename() != results::kControlFile) break;
    folder = control.parent_path();
  }
  throw InputError(run.folder.string(), "a run that was not made from one recording",
                   "a run of reconstruct, or a replay of one: only that has a skeleton to return to");
}

/// Reads the files again.
std::vector<InputFile> ReadAgain(const NamedRecording& named, const fs::path& moved_to) {
  std::vector<InputFile> files;
  for (const InputRecord& record : named.files) {
    const bool is_clip = record.name.role == kClipRole;
    InputName name = record.name;
    if (!moved_to.empty() && is_clip) {
      name.path = moved_to;
    } else if (!moved_to.empty() && !fs::exists(name.path)) {
      name.path = moved_to.parent_path() / name.path.filename();
    }
    if (record.in_memory && moved_to.empty()) {
      throw WithHint<UsageError>({Remedy::kNamedRecording},
                                 name.path.string() +
                                     ": found a recording that was given in memory, expected "
                                     "a file");
    }
    if (!fs::exists(name.path)) {
      throw WithHint<InputError>({Remedy::kNamedRecording}, name.path.string(), "no such file",
                                 "the recording that the run was made from");
    }
    InputFile file = ReadInput(name);
    if (file.record.sha256 != record.sha256) {
      throw WithHint<InputError>({Remedy::kNamedRecording}, name.path.string(), "another content",
                                 "the file that the run was made from");
    }
    files.push_back(std::move(file));
  }
  if (FindInput(files, kClipRole) == nullptr) throw UsageError("no clip is named");
  return files;
}

}  // namespace

std::vector<SourceFormat> ParseSourceFormats(const std::vector<std::string>& names) {
  bool bvh = false, glb = false;
  for (const std::string& list : names) {
    for (size_t from = 0; from <= list.size();) {
      const size_t comma = std::min(list.find(',', from), list.size());
      const std::string name = list.substr(from, comma - from);
      from = comma + 1;
      if (name == "fbx") {
        throw UsageError("the formats \"" + list +
                         "\": found \"fbx\", expected bvh or glb, which programs for FBX import: what Assimp, the only "
                         "free writer of "
                         "FBX, writes is refused by its own reader, or comes back without its motion");
      }
      if (name != "bvh" && name != "glb" && name != "all") {
        throw UsageError("the formats \"" + list + "\": found \"" + name +
                         "\", expected bvh, glb, both with a comma between, or all: no other format has a skeleton of "
                         "its own");
      }
      bvh = bvh || name != "glb";
      glb = glb || name != "bvh";
    }
  }
  std::vector<SourceFormat> formats;
  if (bvh) formats.push_back(SourceFormat::kBvh);
  if (glb) formats.push_back(SourceFormat::kGlb);
  return formats;
}

std::vector<fs::path> SourceExportTargets(const SourceExportOptions& o) {
  const fs::path output = o.output.empty() ? o.folder / results::kExportFolder : o.output;
  std::vector<fs::path> targets;
  for (const SourceFormat format : o.formats) {
    const bool is_file = o.formats.size() == 1 && !fs::is_directory(output) && output.extension() == EndingOf(format);
    targets.push_back(is_file ? output : output / (std::string("source_skeleton") + EndingOf(format)));
  }
  const std::vector<fs::path> inputs = results::FilesOfRun(o.folder);
  for (const fs::path& target : targets) {
    io::CheckOutput(target, inputs);
    if (o.output.empty() || o.force || !fs::exists(target)) continue;
    throw WithHint<UsageError>({Remedy::kOverwrite}, target.string() + ": found a file, expected none");
  }
  return targets;
}

SourceExport WriteSourceExports(const ExportableRun& exportable, const SourceExportOptions& o,
                                const std::vector<fs::path>& targets) {
  const StoredRun& run = exportable.run.run;
  run.RequireOneCharacter("the skeleton of a recording is that of one character");
  const exports::ExportedMotion& motion = exportable.motions[0];
  const NamedRecording named = FindRecording(run);
  const std::vector<InputFile> files = ReadAgain(named, o.recording);
  const InputFile& file = *FindInput(files, kClipRole);
  const std::string name = file.record.name.path.string();
  const motion::Clip clip = ParseClip(files, named.choice);
  if (robots::IsRobot(motion.character) && !robots::IsOfOwnSkeleton(clip, motion.character)) {
    throw UsageError(name + ": found the recording of a person, whom a robot followed, expected one of the robot: " +
                     "the joints of \"" + motion.character.name + "\" are none of a person");
  }
  SourceExport result;
  result.recording = file.record.name.path;
  result.motion = character::OnSourceSkeleton(
      motion.character, clip, name, named.options, motion.duration(),
      [&](double time, character::State& state) { metrics::StateAt(motion.trajectory, time, state); });
  for (size_t i = 0; i < targets.size(); ++i) {
    const fs::path& path = targets[i];
    std::error_code error;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
    if (error) throw OutputError(path.parent_path().string() + ": cannot be created: " + error.message());
    std::string bytes;
    if (o.formats[i] == SourceFormat::kGlb) {
      bytes = exports::FormatSkeletonGlb(result.motion.clip, motion.name, result.motion.unit, result.motion.turn);
    } else if (ExtensionOf(file.record.name.path) == ".bvh") {
      motion::BvhLoss loss;
      bytes = motion::FormatBvh(result.motion.clip, motion::ParseBvhLayout(file.bytes, name), loss);
      result.lost_angle = loss.angle;
      result.lost_distance = loss.distance;
    } else {
      bytes = motion::FormatBvh(result.motion.clip);
    }
    io::WriteFile(path, bytes);
  }
  return result;
}

}  // namespace retrace::runs
