#include "retrace/runs/clip_input.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/motion/asf_amc.h"
#include "retrace/motion/bvh.h"

namespace retrace::runs {
namespace {

/// A number, or nothing for the word that stands for finding it out.
std::optional<double> NumberOr(const char* option, const std::string& text, const char* word) {
  if (text == word) return std::nullopt;
  double value = 0;
  if (!io::ParseNumber(text, value)) {
    throw UsageError(std::string(option) + " " + text + ": expected a number or " + word);
  }
  return value;
}

double MetresPerUnit(const std::string& text) {
  static const std::map<std::string, double> kUnits = {{"m", 1},       {"cm", 0.01},   {"mm", 0.001},
                                                       {"in", 0.0254}, {"ft", 0.3048}, {"cmu", 0.0254 / 0.45}};
  if (text == "auto") return 0;
  const auto known = kUnits.find(text);
  if (known != kUnits.end()) return known->second;
  double value = 0;
  if (io::ParseNumber(text, value) && value > 0) return value;
  throw UsageError("--unit " + text + ": expected auto, m, cm, mm, in, ft, cmu or a number of metres per unit");
}

/// Of a file's name, in lower case.
std::string ExtensionOf(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

/// The skeleton that a clip needs beside itself: the one told, or of the AMC file's own name; empty where there is
/// none.
std::filesystem::path SkeletonOf(const ClipOptions& o) {
  if (!o.skeleton.empty()) return o.skeleton;
  std::filesystem::path beside = std::filesystem::path(o.clip).replace_extension(".asf");
  const bool used = ExtensionOf(o.clip) == ".amc" && std::filesystem::exists(beside);
  return used ? beside : std::filesystem::path();
}

}  // namespace

void Apply(const ClipOptions& o, character::ReferenceOptions& reference) {
  reference.start = o.start;
  reference.end = o.end;
  reference.time_scale = o.time_scale;
  reference.unit = MetresPerUnit(o.unit);
  reference.up_axis = o.up;
  reference.frame_rate = o.frame_rate;
  reference.skipped_frames = o.skipped_frames;
  reference.floor_height = NumberOr("--floor-height", o.floor_height, "auto");
  if (o.keep_tilt) reference.level_floor = false;
  if (const auto degrees = NumberOr("--facing", o.facing, "recorded")) reference.facing = Radians(*degrees);
  if (!o.map.empty()) {
    reference.joint_map = io::ReadJson(o.map);
    reference.joint_map_file = o.map;
  }
}

std::vector<InputFile> ClipFiles(const ClipOptions& o) {
  std::vector<InputFile> files = {{"clip", o.clip}};
  if (const std::filesystem::path skeleton = SkeletonOf(o); !skeleton.empty()) files.push_back({"skeleton", skeleton});
  if (!o.map.empty()) files.push_back({"map", o.map});
  return files;
}

motion::Clip ReadClip(const ClipOptions& o) {
  if (o.clip.empty()) throw UsageError("a clip is needed (--help lists the options)");
  const std::string extension = ExtensionOf(o.clip);
  if (extension == ".bvh") {
    if (!o.skeleton.empty()) throw UsageError("--skeleton " + o.skeleton + ": a BVH file has its own skeleton");
    return motion::ReadBvh(o.clip);
  }
  if (extension != ".amc") throw UsageError(o.clip + ": found \"" + extension + "\", expected a .bvh or .amc file");
  const std::filesystem::path skeleton = SkeletonOf(o);
  if (skeleton.empty()) throw UsageError(o.clip + ": an AMC file needs --skeleton FILE.asf");
  return motion::ReadAsfAmc(skeleton, o.clip);
}

}  // namespace retrace::runs
