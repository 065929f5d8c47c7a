/// Options of the conversion from a clip to a reference motion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/io/describe.h"
#include "retrace/io/json.h"
#include "retrace/retargeting/retiming.h"

namespace retrace::character {

// What may be set for a clip.
inline constexpr io::Range kUnits{1e-6, 1000};     ///< [m]
inline constexpr io::Range kFrameRates{1, 10000};  ///< [1/s]
inline constexpr int kMostSkippedFrames = 10000000;
inline constexpr io::Range kFloorHeights{-1000, 1000};  ///< [m]
inline constexpr io::Range kHeadings{-7, 7};            ///< [rad], a full turn both ways
inline constexpr io::Range kBeltSpeeds{0, 20};          ///< [m/s]
/// Durations of references [s]: from one step of control to what fits into memory.
inline constexpr io::Range kDurations{0.1, 1200};

/// How a clip becomes a reference. Every default holds for all clips.
struct ReferenceOptions {
  double start = 0;                     ///< first instant of the clip to use [s]
  std::optional<double> end;            ///< last instant to use [s]; none: to the end
  double time_scale = 1;                ///< durations are multiplied by this: 2 plays at half speed
  std::vector<Retiming> retimings;      ///< parts that are played at yet another speed
  std::optional<double> loop;           ///< repeat the best cycle for so many seconds (cycle.h); none: as recorded
  double smoothing = 0.025;             ///< standard deviation of the Gaussian filter [s]
  double velocity_interval = 1.0 / 60;  ///< half width of the central difference for velocities [s]
  /// Joints that are turned elsewhere and back within a few frames, faster than any limb, are turned steadily instead.
  bool bridge_spikes = true;
  bool level_floor = true;  ///< turn a tilted capture floor level
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
  /// Speed of a treadmill's belt, which is taken out of the motion [m/s]; none: it is found; 0: there is none.
  std::optional<double> treadmill;
  std::optional<double> facing;  ///< heading at the start, about y from z [rad]; none: as recorded
  io::JsonBox joint_map;         ///< see MapClip; null: none
  std::string joint_map_file;    ///< where it comes from, for messages

  io::Json ToJson() const;
};

/// How any clip becomes a reference.
void Describe(ReferenceOptions& o, io::FieldVisitor& v);

/// What is stated about one clip. The joint map is not among it: MapClip reads and checks it.
void DescribeClip(ReferenceOptions& o, io::FieldVisitor& v);

/// Which part of the clip is used, and how fast it is played.
void DescribeRange(ReferenceOptions& o, io::FieldVisitor& v);

}  // namespace retrace::character
