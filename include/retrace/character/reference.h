/// The reference motion: a recorded clip as a motion of this character.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/io/json.h"
#include "retrace/motion/clip.h"

namespace retrace::character {

/// How a clip becomes a reference. Every default holds for all clips.
struct ReferenceOptions {
  double start = 0;                     ///< first instant of the clip to use [s]
  double end = -1;                      ///< last instant to use [s]; negative: to the end
  double time_scale = 1;                ///< durations are multiplied by this: 2 plays at half speed
  double smoothing = 0.025;             ///< standard deviation of the Gaussian filter [s]
  double velocity_interval = 1.0 / 60;  ///< half width of the central difference for velocities [s]
  bool level_floor = true;              ///< turn a tilted capture floor level
  bool lift_root = true;  ///< raise the root where trunk, pelvis, head, thighs or upper arms are under the floor

  io::Json ToJson() const;
};

/// What was understood of a clip and what was changed.
struct ReferenceReport {
  std::string family;              ///< naming family of the joints
  bool rest_pose_used = false;     ///< axes come from the source's rest pose (else from the motion's geometry)
  double frame_rate = 0;           ///< of the source [1/s]
  double scale = 0;                ///< metres per file unit: legs of the source get the length of the character's
  double floor_height = 0;         ///< of the fitted floor at the root's first position, taken away [m]
  double floor_tilt = 0;           ///< of the fitted floor, taken away [rad]
  double largest_lift = 0;         ///< of the root over its recorded height [m]
  int lead_in_frames = 0;          ///< frames at the start that hold a rest pose and were skipped
  std::vector<std::string> notes;  ///< all of that and more as sentences

  io::Json ToJson() const;
};

/// Evenly spaced poses of the character with the first at time 0, and states between them.
class ReferenceMotion {
 public:
  /// The character must outlive the motion; at least two poses.
  ReferenceMotion(const Character& character, double frame_time, std::vector<Pose> poses, double velocity_interval);

  double duration() const { return static_cast<double>(poses_.size() - 1) * frame_time_; }
  double frame_time() const { return frame_time_; }
  const std::vector<Pose>& poses() const { return poses_; }
  const Character& character() const { return *character_; }

  /// Pose at a time [s], clamped to the motion.
  void PoseAt(double time, Pose& pose) const;
  /// State at a time: the pose, and velocities by central differences (one-sided at the ends).
  void StateAt(double time, State& state) const;

 private:
  const Character* character_;
  double frame_time_;
  std::vector<Pose> poses_;
  double velocity_interval_;
};

/// Makes the reference of a character from a clip. `name` stands for the clip in messages. `report` tells what was
/// understood and changed. Throws InputError for a clip that cannot be understood and UsageError for a time range
/// outside it.
ReferenceMotion MakeReference(const Character& character, const motion::Clip& clip, const std::string& name,
                              const ReferenceOptions& options, ReferenceReport& report);

}  // namespace retrace::character
