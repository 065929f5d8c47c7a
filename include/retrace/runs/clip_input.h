/// A recording as a file: what is read, which part of it is used, and what its file does not say.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/io/describe.h"
#include "retrace/motion/clip.h"

namespace retrace::runs {

/// A recording. What is not set is found out from the recording itself.
struct ClipOptions {
  std::filesystem::path file;      ///< BVH, or AMC with its skeleton
  std::filesystem::path skeleton;  ///< ASF of an AMC motion; empty: the file of the same name beside it
  std::filesystem::path
      joint_map;              ///< JSON that says which joint moves which segment (character::MapClip); empty: none
  double start = 0;           ///< first instant to use [s]
  std::optional<double> end;  ///< last instant to use [s]; none: the end of the recording
  double time_scale = 1;      ///< factor on durations

  std::optional<double> unit;          ///< metres per unit of the file, above 0
  std::optional<std::string> up_axis;  ///< x, y, z, -x, -y or -z
  std::optional<double> frame_rate;    ///< of the recording [1/s]
  std::optional<int> skipped_frames;   ///< at the start
  std::optional<double> floor_height;  ///< of the floor in the recording [m]
  bool level_floor = true;             ///< a tilted capture floor becomes level
  std::optional<double> facing;        ///< heading at the start, about y from z [rad]; none: as recorded
};

/// The numbers among the options: those of a command line and of a list of clips.
template <io::DescribedAs<ClipOptions> Options, typename Visitor>
void Describe(Options& o, Visitor& v) {
  v.Field({"start", "First second of the clip to use", "s"}, o.start, io::Real{character::kInstants});
  v.Field({"end", "Last second of the clip to use", "s"}, o.end, io::OptionalReal{character::kInstants});
  v.Field({"time_scale", "Play the clip this many times as long"}, o.time_scale, io::Real{character::kTimeScales});
  v.Field({"unit", "Length of a unit of the file", "m"}, o.unit, io::OptionalReal{character::kUnits});
  v.Field({"frame_rate", "Frames per second", "1/s"}, o.frame_rate, io::OptionalReal{character::kFrameRates});
  v.Field({"skip_frames", "Frames at the start to leave out"}, o.skipped_frames,
          io::OptionalInteger{0, character::kMostSkippedFrames});
  v.Field({"floor_height", "Height of the floor in the recording", "m"}, o.floor_height,
          io::OptionalReal{character::kFloorHeights});
  v.Field({"facing", "Heading at the start, about y from z", "degrees"}, o.facing, io::OptionalAngle{{-360, 360}});
}

/// Puts these options into those of the reference. Reads the joint map: throws InputError when that cannot be used.
void Apply(const ClipOptions& options, character::ReferenceOptions& reference);

/// A file that a result depends on.
struct InputFile {
  std::string role;  ///< "clip", "skeleton", "map", ...
  std::filesystem::path path;
};

/// Files of a recording: the clip, the skeleton of an AMC motion and the joint map.
std::vector<InputFile> ClipFiles(const ClipOptions& options);

/// Whether the recording is an AMC file whose skeleton is neither named nor beside it.
bool LacksSkeleton(const ClipOptions& options);

/// Reads BVH, or AMC with its ASF. Throws UsageError for another kind of file or a missing skeleton, InputError for a
/// file that cannot be used.
motion::Clip ReadClip(const ClipOptions& options);

}  // namespace retrace::runs
