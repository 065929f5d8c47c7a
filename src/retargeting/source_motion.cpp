#include "retrace/retargeting/source_motion.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "reference_trace.h"
#include "retarget.h"
#include "retrace/character/index.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/segments.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/retargeting/retiming.h"

namespace retrace::character {
namespace {

using motion::GlobalPose;

constexpr double kOnFrame = 1e-6;  // share of a frame by which an instant may miss it: rounding of times

/// A position among frames.
struct Between {
  size_t before = 0;
  size_t after = 0;
  double share = 0;
};

Between PlaceAmong(double place, size_t count) {
  const auto last = static_cast<double>(count - 1);
  place = std::clamp(place, 0.0, last);
  const double nearest = std::round(place);
  if (std::abs(place - nearest) < kOnFrame) place = nearest;
  const auto before = static_cast<size_t>(place);
  return {before, std::min(before + 1, count - 1), place - static_cast<double>(before)};
}

motion::Frame FrameAt(const motion::Clip& clip, double place) {
  const Between at = PlaceAmong(place, clip.frames.size());
  motion::Frame frame = clip.frames[at.before];
  if (at.share == 0) return frame;
  const motion::Frame& next = clip.frames[at.after];
  for (size_t j = 0; j < frame.rotations.size(); ++j) {
    frame.translations[j] += at.share * (next.translations[j] - frame.translations[j]);
    frame.rotations[j] = Nlerp(frame.rotations[j], next.rotations[j], at.share);
  }
  return frame;
}

Pose PoseAt(const std::vector<Pose>& poses, double place) {
  const Between at = PlaceAmong(place, poses.size());
  Pose pose = poses[at.before];
  if (at.share > 0) MoveTowards(poses[at.before], poses[at.after], at.share, pose);
  return pose;
}

/// A joint of the recording, and the body that turns it.
struct Driven {
  size_t joint = 0;
  size_t body = 0;
};

/// A joint of the spine between two driven ones, and its share of the difference between these.
struct Shared {
  size_t joint = 0;
  size_t below = 0;
  size_t above = 0;
  double share = 0;
};

/// Turns and moves the frames of a recording.
class SkeletonMover {
 public:
  SkeletonMover(const Character& character, const motion::Clip& clip, const ReferenceReport& report,
                const ReferenceTrace& trace)
      : character_(character),
        skeleton_(clip.skeleton),
        joints_(skeleton_.joints),
        map_(report.map),
        scale_(report.scale),
        up_(TurnToY(report.up_axis)),
        trace_(trace) {
    FindDriven();
    ShareSpine("trunk");
    ShareSpine("head");
    FindAnchors();
    FindMover(clip);
  }

  const std::vector<Driven>& driven() const { return driven_; }
  const Quat& up() const { return up_; }

  /// @param time by the clock of the recording [s]
  void Move(const Pose& recorded, const State& simulated, double time, motion::Frame& frame) {
    motion::ForwardKinematics(skeleton_, frame, global_);
    ForwardKinematics(character_, recorded, recorded_);
    const Quat back = trace_.turn.conjugate();
    // Turns of the recorded orientations in the world of the file (joints); of what is not driven that of its parent.
    std::vector<std::optional<Quat>> turns(joints_.size());
    for (const Driven& d : driven_) {
      const Quat turn = back * simulated[d.body].orientation * recorded_[d.body].orientation.conjugate();
      turns[d.joint] = (up_.conjugate() * turn * up_).normalized();
    }
    for (const Shared& s : shared_) turns[s.joint] = Nlerp(*turns[s.below], *turns[s.above], s.share);
    const Vec3 hips_before = Anchors(global_);
    for (size_t j = 0; j < joints_.size(); ++j) {
      if (!turns[j]) continue;
      const int parent = joints_[j].parent;
      Quat above = Quat::Identity();
      if (parent >= 0) above = TurnAbove(parent, turns) * global_.orientations[Index(parent)];
      frame.rotations[j] = (above.conjugate() * *turns[j] * global_.orientations[j]).normalized();
    }
    const size_t root = Index(character_.root);
    const Vec3 over_hips =
        recorded_[root].orientation.conjugate() * Vec3(recorded_[root].position - scale_ * (up_ * hips_before));
    Vec3 position = back * Vec3(simulated[root].position - trace_.offset);
    position += trace_.belt_velocity * (time - trace_.first_time);
    const Vec3 hips = position - back * simulated[root].orientation * over_hips;
    motion::ForwardKinematics(skeleton_, frame, global_);
    const Vec3 shift = up_.conjugate() * Vec3(hips / scale_) - Anchors(global_);
    const int above = joints_[mover_].parent;
    const Quat axes = above < 0 ? Quat(Quat::Identity()) : global_.orientations[Index(above)];
    frame.translations[mover_] += axes.conjugate() * shift;
  }

 private:
  /// That of the nearest joint at or above this one that is turned; none: the identity.
  Quat TurnAbove(int joint, const std::vector<std::optional<Quat>>& turns) const {
    for (int j = joint; j >= 0; j = joints_[Index(j)].parent) {
      if (turns[Index(j)]) return *turns[Index(j)];
    }
    return Quat::Identity();
  }

  void FindDriven() {
    for (size_t b = 0; b < character_.bodies.size(); ++b) {
      const auto segment = map_.segments.find(character_.bodies[b].segment);
      if (segment == map_.segments.end()) continue;
      driven_.push_back({Index(segment->second.orientation), b});
    }
    std::sort(driven_.begin(), driven_.end(), [](const Driven& a, const Driven& b) { return a.joint < b.joint; });
  }

  bool IsDriven(size_t joint) const {
    return std::any_of(driven_.begin(), driven_.end(), [&](const Driven& d) { return d.joint == joint; });
  }

  /// The joints below that of a segment, down to the next driven one.
  void ShareSpine(const std::string& segment) {
    const auto found = map_.segments.find(segment);
    if (found == map_.segments.end() || !IsDriven(Index(found->second.orientation))) return;
    const size_t above = Index(found->second.orientation);
    std::vector<size_t> between;
    int j = joints_[above].parent;
    for (; j >= 0 && !IsDriven(Index(j)); j = joints_[Index(j)].parent) between.push_back(Index(j));
    if (j < 0) return;
    const double parts = static_cast<double>(between.size()) + 1;
    for (size_t k = 0; k < between.size(); ++k) {
      shared_.push_back({between[k], Index(j), above, (parts - static_cast<double>(k + 1)) / parts});
    }
  }

  void FindAnchors() {
    const auto add = [&](const std::string& segment) {
      const auto found = map_.segments.find(segment);
      if (found != map_.segments.end()) anchors_.push_back(Index(found->second.position));
    };
    if (IsHumanlike(character_)) {
      add("left_thigh");
      add("right_thigh");
      return;
    }
    for (const Joint& joint : character_.joints) {
      if (joint.parent == character_.root) add(character_.bodies[Index(joint.child)].segment);
    }
  }

  Vec3 Anchors(const GlobalPose& pose) const {
    Vec3 sum = Vec3::Zero();
    for (const size_t joint : anchors_) sum += pose.positions[joint];
    return sum / static_cast<double>(anchors_.size());
  }

  /// The joint whose translation brings the body where it is: the lowest above all anchors whose position the
  /// recording changes, else the first of the skeleton above them.
  void FindMover(const motion::Clip& clip) {
    const auto is_above_all = [&](size_t joint) {
      return std::all_of(anchors_.begin(), anchors_.end(), [&](size_t anchor) {
        int j = static_cast<int>(anchor);
        while (j >= 0 && Index(j) != joint) j = joints_[Index(j)].parent;
        return j >= 0;
      });
    };
    for (int j = static_cast<int>(anchors_.front()); j >= 0; j = joints_[Index(j)].parent) {
      const size_t joint = Index(j);
      if (!is_above_all(joint)) continue;
      mover_ = joint;
      const Vec3& first = clip.frames.front().translations[joint];
      const bool moves = std::any_of(clip.frames.begin(), clip.frames.end(),
                                     [&](const motion::Frame& frame) { return frame.translations[joint] != first; });
      if (moves) return;
    }
  }

  const Character& character_;
  const motion::Skeleton& skeleton_;
  const std::vector<motion::Joint>& joints_;
  const SkeletonMap& map_;
  double scale_;
  Quat up_;
  const ReferenceTrace& trace_;
  std::vector<Driven> driven_;
  std::vector<Shared> shared_;
  std::vector<size_t> anchors_;  // joints
  size_t mover_ = 0;
  GlobalPose global_;
  State recorded_;
};

}  // namespace

SourceMotion OnSourceSkeleton(const Character& character, const motion::Clip& clip, const std::string& name,
                              const ReferenceOptions& options, double duration, const StateAtTime& at) {
  if (character.planar) {
    throw InputError(name, "a motion of the character \"" + character.name + "\", which moves in a plane",
                     "one in space, to return to the skeleton of the recording");
  }
  ReferenceReport report;
  ReferenceTrace trace;
  MakeReference(character, clip, name, options, report, trace);
  const std::optional<motion::Clip> changed = ChangedClip(clip, options);
  const motion::Clip& source = changed ? *changed : clip;

  SkeletonMover mover(character, source, report, trace);
  SourceMotion result;
  result.start = trace.start;
  result.unit = report.unit;
  result.turn = mover.up();
  for (const Driven& driven : mover.driven()) result.moved.push_back(clip.skeleton.joints[driven.joint].name);
  result.clip.skeleton = source.skeleton;
  result.clip.frame_time = source.frame_time;
  result.clip.frame_time_known = source.frame_time_known;
  result.clip.unit = source.unit;
  result.clip.start_time = source.start_time + trace.start;
  const auto count = static_cast<size_t>(std::floor(duration / source.frame_time + kOnFrame)) + 1;
  const PlaybackClock clock(trace.start, trace.end, options.time_scale, options.retimings, name);
  State simulated;
  for (size_t k = 0; k < count; ++k) {
    const double time = static_cast<double>(k) * source.frame_time;
    double of_part = time;
    if (report.loop_duration > 0) of_part = report.loop_start + std::fmod(time, report.loop_duration);
    const double recorded_time = clock.RecordedTime(of_part);
    at(std::min(time, duration), simulated);
    const Pose recorded = PoseAt(trace.recorded, (recorded_time - trace.first_time) / source.frame_time);
    motion::Frame& frame = result.clip.frames.emplace_back(FrameAt(source, recorded_time / source.frame_time));
    mover.Move(recorded, simulated, clock.RecordedTime(time), frame);
  }
  if (options.mirror) result.clip = motion::Mirrored(std::move(result.clip));
  return result;
}

}  // namespace retrace::character
