/// A recording as a file: what is read, which part of it is used, and what is missing in its file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/io/describe.h"
#include "retrace/io/json.h"
#include "retrace/motion/clip.h"
#include "retrace/recordings/choice.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/runs/inputs/inputs.h"

namespace retrace::runs {

/// A recording. What is not set is found out from the recording itself.
struct ClipOptions {
  std::filesystem::path file;      ///< in any format of recordings/recording.h
  std::filesystem::path skeleton;  ///< of a motion without its own (ASF of AMC); empty: the file of its name beside it
  recordings::Choice choice;       ///< where there are several motions in the file
  std::filesystem::path
      joint_map;     ///< JSON that assigns joints to the segments that they move (character::MapClip), and in "markers"
                     ///< and "arrays" names of the file to known ones (recordings::OtherNames); empty: none
  double start = 0;  ///< first instant to use [s]
  std::optional<double> end;                   ///< last instant to use [s]; none: the end of the recording
  double time_scale = 1;                       ///< factor on durations
  std::vector<character::Retiming> retimings;  ///< parts that are played at yet another speed
  std::optional<double> loop;                  ///< repeat the best cycle of it for so many seconds; none: as recorded

  std::optional<double> unit;            ///< meters per unit of the file, above 0
  std::optional<std::string> up_axis;    ///< x, y, z, -x, -y or -z
  std::optional<double> frame_rate;      ///< of the recording [1/s]
  std::optional<int> skipped_frames;     ///< at the start
  bool keep_calibration_frames = false;  ///< also those at either end that no motion leads to
  bool mirror = false;                   ///< its left and right are exchanged: mirror it
  std::optional<double> floor_height;    ///< of the floor in the recording [m]
  std::optional<double> treadmill;       ///< speed of a treadmill's belt [m/s]; none: it is found; 0: there is none
  bool level_floor = true;               ///< a tilted capture floor becomes level
  std::optional<double> facing;          ///< heading at the start, about y from z [rad]; none: as recorded
};

/// The numbers among the options: those of a command line and of a list of clips.
void Describe(ClipOptions& o, io::FieldVisitor& v);

/// Puts these options into those of the reference, but for the joint map, which is in a file.
void Apply(const ClipOptions& options, character::ReferenceOptions& reference);
/// Takes the joint map where the files have one. Throws InputError when it is not JSON.
void ApplyJointMap(std::span<const InputFile> files, character::ReferenceOptions& reference);

/// Names in a document what was chosen among the motions of the file; nothing where nothing was.
void AddChoice(const recordings::Choice& choice, io::Json& document);

/// Files of a recording: the clip, its skeleton where that is another file, files that it names, and the joint map.
std::vector<InputName> ClipInputs(const ClipOptions& options);

/// A recording and a second of it, written as CLIP@SECOND.
struct ClipInstant {
  std::filesystem::path file;
  double second = 0;
};
/// Nothing for a text that is not written so.
std::optional<ClipInstant> ParseClipInstant(const std::string& text);

/// The extension of a file's name in lower case, with its dot.
std::string ExtensionOf(const std::filesystem::path& file);

/// Throws UsageError when the clip is in no format that is read, or lacks its skeleton.
void CheckClip(const ClipOptions& options);

/// Whether the file can be a recording.
bool IsRecording(const std::filesystem::path& file);

/// Whether the recording needs a skeleton that is neither named nor beside it.
bool LacksSkeleton(const ClipOptions& options);

/// The recording in files that were read. Throws InputError for a file that cannot be used, and UsageError for a choice
/// that is not there.
motion::Clip ParseClip(std::span<const InputFile> files, const recordings::Choice& choice);

}  // namespace retrace::runs
