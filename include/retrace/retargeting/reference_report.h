/// What was recognized in a clip, and what was changed to make a reference motion of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/io/json.h"
#include "retrace/math/types.h"
#include "retrace/retargeting/handedness.h"
#include "retrace/retargeting/skeleton_map.h"

namespace retrace::character {

/// A height over the floor at which feet stand: steps, rungs, a slope.
struct StandingLevel {
  double height = 0;   ///< over the floor [m]
  double seconds = 0;  ///< of one foot, or of both together
};

/// The belt of a treadmill. The motion goes over ground: what the belt moved is taken out.
struct Belt {
  Vec3 velocity = Vec3::Zero();  ///< horizontal, in the axes and the scale of the reference [m/s]
  double speed = 0;              ///< in the recording [m/s]
  double slope = 0;              ///< by which the belt rises against its velocity; it is not taken out [rad]
  double seconds = 0;            ///< for which feet move with it, of both together
  double agreement = 0;          ///< share of the time of feet on the floor in which they do
  bool given = false;            ///< the speed is the user's
};

/// What is to be doubted in a recording.
struct Doubt {
  std::string kind;  ///< mirrored, recording, proportions
  std::string text;  ///< a sentence, with what to do
};

/// What was recognized in a clip and what was changed.
struct ReferenceReport {
  SkeletonMap map;                    ///< which joint moves which segment, and how they were recognized
  bool rest_pose_used = false;        ///< axes come from the source's rest pose (else from the motion's geometry)
  double frame_rate = 0;              ///< of the source [1/s]
  double unit = 0;                    ///< meters per file unit
  std::string unit_from;              ///< where that comes from: given, the file, size of the skeleton
  double height = 0;                  ///< of the recorded skeleton, feet to tip of the head [m]
  std::string up_axis;                ///< axis of the file that points up
  double facing = 0;                  ///< recorded heading at the start, about y from z [rad]
  double scale = 0;                   ///< meters per file unit: legs of the source get the length of the character's
  double joint_distance = 0;          ///< mean distance of joints from the recorded ones, hips on hips [m]
  double floor_height = 0;            ///< of the fitted floor at the root's first position, taken away [m]
  double floor_tilt = 0;              ///< of the fitted floor, taken away [rad]
  bool floor_shown = true;            ///< feet stand on it, or it is given; else it is under the lowest feet
  std::vector<StandingLevel> levels;  ///< where feet stand beside the floor, from below to above
  double largest_lift = 0;            ///< of the root over its recorded height [m]
  double largest_hand_raise = 0;      ///< of a wrist over its recorded height [m]
  double start_speed_lost = 0;        ///< of the root's velocity at the start, by filtering [m/s]
  std::optional<Belt> belt;           ///< none: the floor stands still
  int lead_in_frames = 0;             ///< frames at the start that were left out: a rest pose, a calibration
  int lead_out_frames = 0;            ///< at the end, likewise
  Handedness handedness;           ///< whether left and right are as they are called; no votes where nothing shows it
  double loop_start = 0;           ///< of the cycle that is repeated, in the part that is used [s]
  double loop_duration = 0;        ///< of one round [s]; 0: none is repeated
  double loop_seam = 0;            ///< Cycle::seam [rad]
  std::vector<std::string> notes;  ///< all of that and more as sentences
  std::vector<Doubt> doubts;

  io::Json ToJson() const;
};

}  // namespace retrace::character
