/// Reading whatever recording the user named, and what the user says about it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/motion/clip.h"

namespace retrace::runs {

/// The options of every program that reads a recording.
struct ClipOptions {
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

/// Puts what was said of the clip into the reference's options. Throws UsageError for a value that makes no sense and
/// InputError for a bad joint map.
void Apply(const ClipOptions& options, character::ReferenceOptions& reference);

/// A file that a result depends on.
struct InputFile {
  std::string role;  ///< "clip", "skeleton", "map", ...
  std::filesystem::path path;
};

/// Files of a recording: the clip, the skeleton of an AMC motion (the one given, else that of the same name beside it
/// where there is one) and the joint map.
std::vector<InputFile> ClipFiles(const ClipOptions& options);

/// Reads BVH, or AMC with its ASF. Throws UsageError for another kind of file or a missing skeleton, InputError for a
/// bad one.
motion::Clip ReadClip(const ClipOptions& options);

}  // namespace retrace::runs
