/// The options of every program that reads a recording, as a user writes them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "retrace/runs/clip_input.h"

namespace retrace::apps {

struct ClipArguments {
  std::string clip;
  std::string skeleton;
  double start = 0;
  double end = -1;
  double time_scale = 1;
  std::string unit = "auto";
  std::string up = "auto";
  double frame_rate = 0;
  int skipped_frames = -1;
  std::string floor_height = "auto";
  bool keep_tilt = false;
  std::string facing = "recorded";
  std::string map;
};

void AddClipOptions(CLI::App& app, ClipArguments& o);

/// What the options mean. Throws UsageError for a value that makes no sense; a clip need not be named.
runs::ClipOptions ParseClip(const ClipArguments& o);

/// Throws UsageError where no clip was named.
void RequireClip(const ClipArguments& o);

/// The options that differ from the defaults, as a shell takes them, with `time_scale` in the place of the user's and
/// the character after the skeleton: the end of a command line.
std::string ClipCommand(const ClipArguments& o, double time_scale, const std::string& character);

}  // namespace retrace::apps
