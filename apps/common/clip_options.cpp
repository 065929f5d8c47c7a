#include "common/clip_options.h"

#include <map>

#include "common/program.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

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

std::optional<double> MetresPerUnit(const std::string& text) {
  static const std::map<std::string, double> kUnits = {{"m", 1},       {"cm", 0.01},   {"mm", 0.001},
                                                       {"in", 0.0254}, {"ft", 0.3048}, {"cmu", 0.0254 / 0.45}};
  if (text == "auto") return std::nullopt;
  const auto known = kUnits.find(text);
  if (known != kUnits.end()) return known->second;
  double value = 0;
  if (io::ParseNumber(text, value) && value > 0) return value;
  throw UsageError("--unit " + text + ": expected auto, m, cm, mm, in, ft, cmu or a number of metres per unit");
}

}  // namespace

void AddClipOptions(CLI::App& app, ClipArguments& o) {
  app.add_option("clip", o.clip, "Recorded motion: .bvh, or .amc with --skeleton")->type_name("CLIP");
  app.add_option("--skeleton", o.skeleton, "Skeleton of an AMC motion")->type_name("FILE.asf");
  app.add_option("--start", o.start, "First second of the clip to use")->capture_default_str();
  app.add_option("--end", o.end, "Last second of the clip to use [its end]");
  app.add_option("--time-scale", o.time_scale, "Play the clip this many times as long")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 100.0));
  const std::string group = "What is known of the clip, where it would be found out";
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

runs::ClipOptions ParseClip(const ClipArguments& o) {
  runs::ClipOptions clip;
  clip.file = o.clip;
  clip.skeleton = o.skeleton;
  clip.joint_map = o.map;
  clip.start = o.start;
  if (o.end >= 0) clip.end = o.end;
  clip.time_scale = o.time_scale;
  clip.unit = MetresPerUnit(o.unit);
  if (o.up != "auto") clip.up_axis = o.up;
  if (o.frame_rate > 0) clip.frame_rate = o.frame_rate;
  if (o.skipped_frames >= 0) clip.skipped_frames = o.skipped_frames;
  clip.floor_height = NumberOr("--floor-height", o.floor_height, "auto");
  clip.level_floor = !o.keep_tilt;
  if (const auto degrees = NumberOr("--facing", o.facing, "recorded")) clip.facing = Radians(*degrees);
  if (runs::LacksSkeleton(clip)) throw UsageError(o.clip + ": an AMC file needs --skeleton FILE.asf");
  return clip;
}

void RequireClip(const ClipArguments& o) {
  if (o.clip.empty()) throw UsageError("a clip is needed (--help lists the options)");
}

std::string ClipCommand(const ClipArguments& o, double time_scale, const std::string& character) {
  std::string command = ShellWord(o.clip);
  if (!o.skeleton.empty()) command += " --skeleton " + ShellWord(o.skeleton);
  if (character != "human") command += " --character " + ShellWord(character);
  if (o.start > 0) command += " --start " + io::Number(o.start);
  if (o.end >= 0) command += " --end " + io::Number(o.end);
  if (time_scale != 1) command += " --time-scale " + io::Fixed(time_scale, 2);
  if (o.unit != "auto") command += " --unit " + ShellWord(o.unit);
  if (o.up != "auto") command += " --up " + o.up;
  if (o.frame_rate > 0) command += " --frame-rate " + io::Number(o.frame_rate);
  if (o.skipped_frames >= 0) command += " --skip-frames " + std::to_string(o.skipped_frames);
  if (o.floor_height != "auto") command += " --floor-height " + o.floor_height;
  if (o.keep_tilt) command += " --keep-tilt";
  if (o.facing != "recorded") command += " --facing " + o.facing;
  if (!o.map.empty()) command += " --map " + ShellWord(o.map);
  return command;
}

}  // namespace retrace::apps
