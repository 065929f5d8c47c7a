#include "common/clip_options.h"

namespace retrace::apps {

void AddClipOptions(CLI::App& app, runs::ClipOptions& o) {
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

}  // namespace retrace::apps
