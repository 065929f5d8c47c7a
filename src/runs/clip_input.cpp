#include "retrace/runs/clip_input.h"

#include <algorithm>
#include <cctype>

#include "retrace/io/error.h"
#include "retrace/io/json.h"
#include "retrace/io/number.h"
#include "retrace/motion/asf_amc.h"
#include "retrace/motion/bvh.h"

namespace retrace::runs {
namespace {

/// The skeleton that a clip needs: the one that is named, or the one of the AMC file's own name; empty where there is
/// none.
std::filesystem::path SkeletonOf(const ClipOptions& o) {
  if (!o.skeleton.empty()) return o.skeleton;
  std::filesystem::path beside = std::filesystem::path(o.file).replace_extension(".asf");
  const bool used = ExtensionOf(o.file) == ".amc" && std::filesystem::exists(beside);
  return used ? beside : std::filesystem::path();
}

}  // namespace

std::optional<ClipInstant> ParseClipInstant(const std::string& text) {
  const size_t at = text.rfind('@');
  double second = 0;
  if (at == std::string::npos || !io::ParseNumber(std::string_view(text).substr(at + 1), second)) return std::nullopt;
  return ClipInstant{text.substr(0, at), second};
}

std::string ExtensionOf(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

void Apply(const ClipOptions& o, character::ReferenceOptions& reference) {
  reference.start = o.start;
  reference.end = o.end;
  reference.time_scale = o.time_scale;
  reference.loop = o.loop;
  reference.unit = o.unit;
  reference.up_axis = o.up_axis.value_or("auto");
  reference.frame_rate = o.frame_rate;
  reference.skipped_frames = o.skipped_frames.value_or(-1);
  reference.floor_height = o.floor_height;
  if (!o.level_floor) reference.level_floor = false;
  if (o.facing) reference.facing = o.facing;
}

void ApplyJointMap(std::span<const InputFile> files, character::ReferenceOptions& reference) {
  const InputFile* map = FindInput(files, "map");
  if (map == nullptr) return;
  reference.joint_map = map->Parse();
  reference.joint_map_file = map->record.name.path.string();
}

std::vector<InputName> ClipInputs(const ClipOptions& o) {
  std::vector<InputName> names = {{"clip", o.file}};
  if (const std::filesystem::path skeleton = SkeletonOf(o); !skeleton.empty()) names.push_back({"skeleton", skeleton});
  if (!o.joint_map.empty()) names.push_back({"map", o.joint_map});
  return names;
}

bool LacksSkeleton(const ClipOptions& o) {
  return ExtensionOf(o.file) == ".amc" && SkeletonOf(o).empty();
}

void CheckClip(const ClipOptions& o) {
  if (o.file.empty()) throw UsageError("no clip is named");
  const std::string extension = ExtensionOf(o.file);
  if (extension == ".bvh") {
    if (!o.skeleton.empty()) {
      throw UsageError(o.skeleton.string() + ": found a skeleton for " + o.file.string() +
                       ", expected none: a BVH file has its own");
    }
    return;
  }
  if (extension != ".amc") {
    throw UsageError(o.file.string() + ": found \"" + extension + "\", expected a .bvh or .amc file");
  }
  if (LacksSkeleton(o)) {
    throw UsageError(o.file.string() + ": found no skeleton, expected one to be named or an .asf file beside it");
  }
}

motion::Clip ParseClip(std::span<const InputFile> files) {
  const InputFile* clip = FindInput(files, "clip");
  const InputFile* skeleton = FindInput(files, "skeleton");
  if (clip == nullptr) throw UsageError("no clip is named");
  const std::string name = clip->record.name.path.string();
  if (skeleton == nullptr) return motion::ParseBvh(clip->bytes, name);
  return motion::ParseAsfAmc(skeleton->bytes, skeleton->record.name.path.string(), clip->bytes, name);
}

}  // namespace retrace::runs
