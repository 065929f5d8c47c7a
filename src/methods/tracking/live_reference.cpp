#include "retrace/methods/tracking/live_reference.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "retrace/control/time_grid.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/smooth_step.h"
#include "retrace/methods/tracking/problem.h"

namespace retrace::tracking {
namespace {

constexpr double kLeastPreview = 0.3;            // [s]
constexpr double kLeastPast = 0.1;               // [s]
constexpr double kUnsure = 0.2;                  // end of a preview, which later poses change most [s]
constexpr double kVelocityInterval = 1.0 / 120;  // of the states of a motion [s]

}  // namespace

LiveReference::LiveReference(const character::Character& character, double frame_time,
                             const simulation::WorldOptions& world, const Options& options, const LiveOptions& live)
    : character_(character),
      frame_time_(frame_time),
      world_(world),
      options_(options),
      live_(live),
      motion_(character, frame_time, {}, kVelocityInterval) {
  if (const auto wrong = options.Validate()) throw UsageError(*wrong);
  if (!(frame_time > 0 && frame_time <= kLeastPast)) {
    throw UsageError("the time between two poses is " + io::Number(frame_time) +
                     " s, expected more than 0 and at most " + io::Number(kLeastPast) + " s");
  }
  if (!(live.preview >= kLeastPreview)) {
    throw UsageError("the preview is " + io::Number(live.preview) + " s, expected at least " +
                     io::Number(kLeastPreview) + " s");
  }
  if (!(live.past >= kLeastPast)) {
    throw UsageError("the past is " + io::Number(live.past) + " s, expected at least " + io::Number(kLeastPast) + " s");
  }
}

void LiveReference::Append(character::Pose pose) {
  if (finished_) throw UsageError("a pose comes after the end of the motion");
  if (pose.joint_rotations.size() != character_.joints.size()) {
    throw UsageError("a pose has " + std::to_string(pose.joint_rotations.size()) + " joints, expected the " +
                     std::to_string(character_.joints.size()) + " of the character");
  }
  poses_.push_back(std::move(pose));
}

void LiveReference::Finish() {
  finished_ = true;
}

double LiveReference::duration() const {
  const size_t count = first_ + poses_.size();
  return count == 0 ? 0 : static_cast<double>(count - 1) * frame_time_;
}

size_t LiveReference::PoseBefore(double time) const {
  const int pose = control::TimeGrid{frame_time_}.Floor(std::max(0.0, time));
  return std::min(static_cast<size_t>(pose), first_ + poses_.size() - 1);
}

bool LiveReference::Suffices(double time) const {
  if (first_ + poses_.size() < 2) return false;
  return finished_ ||
         control::TimeGrid{frame_time_}.Floor(duration()) >= control::TimeGrid{frame_time_}.Floor(time + live_.preview);
}

void LiveReference::Prepare(double time) {
  if (!Suffices(time)) {
    throw UsageError("the motion at " + io::Fixed(time, 3) + " s needs poses up to " +
                     io::Fixed(time + live_.preview, 3) + " s, and they have come up to " + io::Fixed(duration(), 3) +
                     " s");
  }
  const size_t last = std::max<size_t>(PoseBefore(time + live_.preview), 1);
  const size_t first = std::min(PoseBefore(time - live_.past), last - 1);
  while (first_ < first) {
    poses_.pop_front();
    ++first_;
  }
  const auto begin = poses_.begin() + static_cast<std::ptrdiff_t>(first - first_);
  const character::ReferenceMotion came(
      character_, frame_time_, {begin, begin + static_cast<std::ptrdiff_t>(last - first + 1)}, kVelocityInterval);
  PreparedReference prepared = PrepareReference(came, world_, options_);
  std::vector<character::Pose> poses = prepared.motion.poses();
  const size_t before = motion_.poses().size();
  for (size_t pose = first; pose < std::min(prepared_first_ + before, last + 1); ++pose) {
    const double ahead = static_cast<double>(pose) * frame_time_ - time;
    const double share = SmoothStep(std::clamp(ahead / (live_.preview - kUnsure), 0.0, 1.0));
    character::Pose& now = poses[pose - first];
    character::Interpolate(motion_.poses()[pose - prepared_first_], character::Pose(now), share, now);
  }
  prepared_first_ = first;
  motion_ = came.WithPoses(std::move(poses));
  flights_ = std::move(prepared.flight.flights);
}

}  // namespace retrace::tracking
