/// The reference motion: a recorded clip as a motion of this character.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/skeleton_map.h"
#include "retrace/character/state.h"
#include "retrace/io/describe.h"
#include "retrace/io/json.h"
#include "retrace/motion/clip.h"

namespace retrace::character {

// What may be set for a clip.
inline constexpr io::Range kInstants{0, 86400};  ///< [s]
inline constexpr io::Range kTimeScales{0.01, 100};
inline constexpr io::Range kUnits{1e-6, 1000};     ///< [m]
inline constexpr io::Range kFrameRates{1, 10000};  ///< [1/s]
inline constexpr int kMostSkippedFrames = 10000000;
inline constexpr io::Range kFloorHeights{-1000, 1000};  ///< [m]
inline constexpr io::Range kHeadings{-7, 7};            ///< [rad], a full turn both ways
/// Of references [s]: from one step of control to what fits into memory.
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
  std::optional<double> unit;          ///< metres per file unit; none: from an ASF, else from the skeleton's size
  std::string up_axis = "auto";        ///< x, y, z, -x, -y or -z; auto: z where the rest pose stands along it, else y
  std::optional<double> frame_rate;    ///< of the source [1/s]; none: from the file
  int skipped_frames = -1;             ///< at the start; negative: those in the rest pose, and one before a jump
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

/// A height over the floor at which feet stand: steps, rungs, a slope.
struct StandingLevel {
  double height = 0;   ///< over the floor [m]
  double seconds = 0;  ///< of one foot, or of both together
};

/// What was recognised in a clip and what was changed.
struct ReferenceReport {
  SkeletonMap map;                    ///< which joint moves which segment, and how they were recognised
  bool rest_pose_used = false;        ///< axes come from the source's rest pose (else from the motion's geometry)
  double frame_rate = 0;              ///< of the source [1/s]
  double unit = 0;                    ///< metres per file unit
  std::string unit_from;              ///< where that comes from: given, the file, size of the skeleton
  double height = 0;                  ///< of the recorded skeleton, feet to tip of the head [m]
  std::string up_axis;                ///< axis of the file that points up
  double facing = 0;                  ///< recorded heading at the start, about y from z [rad]
  double scale = 0;                   ///< metres per file unit: legs of the source get the length of the character's
  double joint_distance = 0;          ///< mean distance of joints from the recorded ones, hips on hips [m]
  double floor_height = 0;            ///< of the fitted floor at the root's first position, taken away [m]
  double floor_tilt = 0;              ///< of the fitted floor, taken away [rad]
  bool floor_shown = true;            ///< feet stand on it, or it is given; else it is under the lowest feet
  std::vector<StandingLevel> levels;  ///< where feet stand beside the floor, from below to above
  double largest_lift = 0;            ///< of the root over its recorded height [m]
  double largest_hand_raise = 0;      ///< of a wrist over its recorded height [m]
  double start_speed_lost = 0;        ///< of the root's velocity at the start, by filtering [m/s]
  int lead_in_frames = 0;             ///< frames at the start that hold a rest pose and were skipped
  double loop_start = 0;              ///< of the cycle that is repeated, in the part that is used [s]
  double loop_duration = 0;           ///< of one round [s]; 0: none is repeated
  double loop_seam = 0;               ///< Cycle::seam [rad]
  std::vector<std::string> notes;     ///< all of that and more as sentences

  io::Json ToJson() const;
};

/// The pose at a share of the way from `a` to `b`: orientations along the shorter arc.
void Interpolate(const Pose& a, const Pose& b, double share, Pose& pose);

/// Evenly spaced poses through a Gaussian filter. @param deviation standard deviation [poses]
std::vector<Pose> SmoothPoses(const std::vector<Pose>& poses, double deviation);

/// Evenly spaced poses of the character with the first at time 0, and states between them.
class ReferenceMotion {
 public:
  /// The character must outlive the motion; at least two poses.
  ReferenceMotion(const Character& character, double frame_time, std::vector<Pose> poses, double velocity_interval);

  double duration() const { return static_cast<double>(poses_.size() - 1) * frame_time_; }
  double frame_time() const { return frame_time_; }
  const std::vector<Pose>& poses() const { return poses_; }
  /// The bodies at each pose, at rest.
  std::vector<State> StatesOfPoses() const;
  const Character& character() const { return *character_; }
  /// The same with other poses at the same times.
  ReferenceMotion WithPoses(std::vector<Pose> poses) const {
    return ReferenceMotion(*character_, frame_time_, std::move(poses), velocity_interval_);
  }

  /// The same for another character with the same bodies and joints, which must outlive it.
  ReferenceMotion Of(const Character& character) const {
    return ReferenceMotion(character, frame_time_, poses_, velocity_interval_);
  }

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

/// Makes the reference of a character from a clip. `name` stands for the clip in messages. `report` receives what was
/// recognised and changed. Throws InputError for a clip that cannot be interpreted and UsageError for a time range
/// outside it.
ReferenceMotion MakeReference(const Character& character, const motion::Clip& clip, const std::string& name,
                              const ReferenceOptions& options, ReferenceReport& report);

}  // namespace retrace::character
