/// Options of the conversion from a clip to a reference motion.
#pragma once

#include <optional>
#include <string>

#include "retrace/io/describe.h"
#include "retrace/io/json.h"

namespace retrace::character {

// What may be set for a clip.
inline constexpr io::Range kInstants{0, 86400};  ///< [s]
inline constexpr io::Range kTimeScales{0.01, 100};
inline constexpr io::Range kUnits{1e-6, 1000};     ///< [m]
inline constexpr io::Range kFrameRates{1, 10000};  ///< [1/s]
inline constexpr int kMostSkippedFrames = 10000000;
inline constexpr io::Range kFloorHeights{-1000, 1000};  ///< [m]
inline constexpr io::Range kHeadings{-7, 7};            ///< [rad], a full turn both ways
/// Durations of references [s]: from one step of control to what fits into memory.
inline constexpr io::Range kDurations{0.1, 1200};

/// How a clip becomes a reference. Every default holds for all clips.
struct ReferenceOptions {
  double start = 0;                     ///< first instant of the clip to use [s]
  std::optional<double> end;            ///< last instant to use [s]; none: to the end
  double time_scale = 1;                ///< durations are multiplied by this: 2 plays at half speed
  std::optional<double> loop;           ///< repeat the best cycle for so many seconds (cycle.h); none: as recorded
  double smoothing = 0.025;             ///< standard deviation of the Gaussian filter [s]
  double velocity_interval = 1.0 / 60;  ///< half width of the central difference for velocities [s]
  bool level_floor = true;              ///< turn a tilted capture floor level
  bool lift_root = true;    ///< raise the root where trunk, pelvis, head, thighs or upper arms are under the floor
  bool raise_hands = true;  ///< bend the arms where hands or forearms are under the floor

  // What the user sets for the clip. By default it follows from the clip itself.
  std::optional<double> unit;        ///< meters per file unit; none: from an ASF, else from the skeleton's size
  std::string up_axis = "auto";      ///< x, y, z, -x, -y or -z; auto: z where the rest pose stands along it, else y
  std::optional<double> frame_rate;  ///< of the source [1/s]; none: from the file
  int skipped_frames = -1;           ///< at the start; negative: those in the rest pose, and one before a jump
  /// Calibration poses at either end, which no motion leads to, are kept (motion/calibration.h).
  bool keep_calibration_frames = false;
  bool mirror = false;                 ///< mirror the recording: its left and right are exchanged (handedness.h)
  std::optional<double> floor_height;  ///< of the floor in the recording [m]; none: found under the feet
  std::optional<double> facing;        ///< heading at the start, about y from z [rad]; none: as recorded
  io::Json joint_map;                  ///< see MapClip; null: none
  std::string joint_map_file;          ///< where it comes from, for messages

  io::Json ToJson() const;
};

/// How any clip becomes a reference.
template <io::DescribedAs<ReferenceOptions> Options, typename Visitor>
void Describe(Options& o, Visitor& v) {
  v.Field({"smoothing", "Standard deviation of the Gaussian filter", "s"}, o.smoothing, io::Real{{0, 1}});
  v.Field({"velocity_interval", "Half width of the central difference for velocities", "s"}, o.velocity_interval,
          io::Real{{1e-4, 0.5}});
  v.Field({"level_floor", "Whether a tilted capture floor is turned level"}, o.level_floor, io::Flag{});
  v.Field({"lift_root", "Whether the root is raised where trunk, head, thighs or upper arms are under the floor"},
          o.lift_root, io::Flag{});
  v.Field({"raise_hands", "Whether the arms are bent where hands or forearms are under the floor"}, o.raise_hands,
          io::Flag{});
}

/// What is stated about one clip. The joint map is not among it: MapClip reads and checks it.
template <io::DescribedAs<ReferenceOptions> Options, typename Visitor>
void DescribeClip(Options& o, Visitor& v) {
  v.Field({"unit", "Length of a unit of the file; null: it is detected", "m"}, o.unit, io::OptionalReal{kUnits});
  v.Field({"up_axis", "Axis of the file that points up; auto: it is detected"}, o.up_axis,
          io::Text{{"auto", "x", "y", "z", "-x", "-y", "-z"}});
  v.Field({"frame_rate", "Frames per second of the recording; null: from the file", "1/s"}, o.frame_rate,
          io::OptionalReal{kFrameRates});
  v.Field({"skipped_frames", "Number of frames at the start that are left out; -1: they are detected"},
          o.skipped_frames, io::Integer{-1, kMostSkippedFrames});
  v.Field({"keep_calibration_frames", "Whether poses at either end are kept from which no body can move to the motion"},
          o.keep_calibration_frames, io::Flag{});
  v.Field({"mirror", "Whether the recording is mirrored, whose left and right are exchanged"}, o.mirror, io::Flag{});
  v.Field({"floor_height", "Height of the floor in the recording; null: it is found under the feet", "m"},
          o.floor_height, io::OptionalReal{kFloorHeights});
  v.Field({"facing", "Heading at the start, about y from z; null: as recorded", "rad"}, o.facing,
          io::OptionalReal{kHeadings});
}

/// Which part of the clip is used, and how fast it is played.
template <io::DescribedAs<ReferenceOptions> Options, typename Visitor>
void DescribeRange(Options& o, Visitor& v) {
  v.Field({"start", "First instant of the clip that is used", "s"}, o.start, io::Real{kInstants});
  v.Field({"end", "Last instant of the clip that is used; null: its end", "s"}, o.end, io::OptionalReal{kInstants});
  v.Field({"time_scale", "Factor on all durations"}, o.time_scale, io::Real{kTimeScales});
  v.Field({"loop", "Seconds for which the best cycle is repeated; null: as recorded", "s"}, o.loop,
          io::OptionalReal{kDurations});
}

}  // namespace retrace::character
