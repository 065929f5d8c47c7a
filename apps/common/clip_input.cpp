#include "common/clip_input.h"

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

namespace retrace::apps {
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

void AddClipOptions(CLI::App& app, ClipOptions& o) {
  app.add_option("clip", o.clip, "Recorded motion: .bvh, or .amc with --skeleton")->type_name("CLIP");
  app.add_option("--skeleton", o.skeleton, "Skeleton of an AMC motion")->type_name("FILE.asf");
  app.add_option("--start", o.start, "First second of the clip to use")->capture_default_str();
  app.add_option("--end", o.end, "Last second of the clip to use [its end]");
  app.add_option("--time-scale", o.time_scale, "Play the clip this many times as long")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 100.0));
  const std::string group = "What is told of the clip, where it would be found out";
  app.add_option("--unit", o.unit, "Unit of lengths: auto, m, cm, mm, in, ft, cmu or metres per unit")
      ->capture_default_str()
      ->group(group);
  app.add_option("--up", o.up, "Axis that points up: auto, x, y, z, -x, -y or -z")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "x", "y", "z", "-x", "-y", "-z"}))
      ->group(group);
  app.add_option("--frame-rate", o.frame_rate, "Frames per second [what the file says; AMC: 120]")
      ->check(CLI::Range(1.0, 10000.0))
      ->group(group);
  app.add_option("--skip-frames", o.skipped_frames, "Frames at the start to leave out [those in the rest pose]")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_option("--floor-height", o.floor_height, "Height of the floor in the recording [m], or auto")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--keep-tilt", o.keep_tilt, "Do not level a tilted capture floor")->group(group);
  app.add_option("--facing", o.facing, "Heading at the start [degrees about y from z], or recorded")
      ->capture_default_str()
      ->group(group);
  app.add_option("--map", o.map, "Which joint moves which segment: {\"pelvis\": \"Hips\", ...}")
      ->type_name("FILE.json")
      ->group(group);
}

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

}  // namespace retrace::apps
