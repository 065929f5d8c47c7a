/// A recording as a file: what is read, which part of it is used, and what its file does not say.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/motion/clip.h"
#include "retrace/runs/inputs.h"

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

/// Puts these options into those of the reference, but for the joint map, which is in a file.
void Apply(const ClipOptions& options, character::ReferenceOptions& reference);
/// Takes the joint map where the files have one. Throws InputError when it is not JSON.
void ApplyJointMap(std::span<const InputFile> files, character::ReferenceOptions& reference);

/// Files of a recording: the clip, the skeleton of an AMC motion and the joint map.
std::vector<InputName> ClipInputs(const ClipOptions& options);

/// Throws UsageError when the clip is neither BVH nor AMC with its skeleton.
void CheckClip(const ClipOptions& options);

/// Whether the recording is an AMC file whose skeleton is neither named nor beside it.
bool LacksSkeleton(const ClipOptions& options);

/// The recording in files that were read: BVH, or AMC with its ASF. Throws InputError for a file that cannot be used.
motion::Clip ParseClip(std::span<const InputFile> files);

}  // namespace retrace::runs
