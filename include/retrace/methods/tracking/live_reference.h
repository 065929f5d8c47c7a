/// A reference that comes as it is made, pose by pose: from a motion generator, a game, or a motion capture system.
/// What is tracked at an instant is prepared of the poses up to a short preview after it.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/methods/tracking/options.h"
#include "retrace/metrics/intervals.h"
#include "retrace/simulation/world_options.h"

namespace retrace::tracking {

/// How much of a motion that is being made is looked at.
struct LiveOptions {
  /// After an instant, so far no later pose has any influence on what is done at it [s].
  double preview = 0.6;
  double past = 1;  ///< before it [s]
};

/// The poses that have come, and the part about the present as it is tracked: put on the ground, smoothed, made to fall
/// freely in flight, and balanced (PrepareReference), anew in each part of the motion. What was tracked is never
/// changed, and from there the motion goes over smoothly to what later poses make of it.
class LiveReference {
 public:
  /// The character must outlive the object. Throws UsageError for options that are not valid.
  /// @param frame_time between two poses [s] @param world that the poses are in
  LiveReference(const character::Character& character, double frame_time, const simulation::WorldOptions& world,
                const Options& options, const LiveOptions& live);

  /// The next pose; the first one is at time 0. Throws UsageError after Finish, and for a pose of another character.
  void Append(character::Pose pose);
  /// No pose comes any more.
  void Finish();
  /// Whether the poses that have come suffice for an instant [s]: all poses of its preview, or all that there will be.
  bool Suffices(double time) const;
  double duration() const;  ///< of the poses that have come [s]

  /// Prepares the motion about an instant [s] that is not before that of the last call. Poses after its preview are not
  /// looked at. Throws UsageError where the poses do not suffice.
  void Prepare(double time);
  /// What was prepared last, with its first pose at the time begin() [s].
  const character::ReferenceMotion& motion() const { return motion_; }
  double begin() const { return static_cast<double>(prepared_first_) * frame_time_; }
  const std::vector<metrics::Interval>& flights() const { return flights_; }  ///< of motion(), in its time

 private:
  /// The pose that is the last one not after a time, and not after those that have come.
  size_t PoseBefore(double time) const;

  const character::Character& character_;
  double frame_time_;
  simulation::WorldOptions world_;
  Options options_;
  LiveOptions live_;
  bool finished_ = false;
  size_t first_ = 0;  // pose that is still kept
  std::deque<character::Pose> poses_;
  size_t prepared_first_ = 0;  // pose that motion_ begins with
  character::ReferenceMotion motion_;
  std::vector<metrics::Interval> flights_;
};

}  // namespace retrace::tracking
