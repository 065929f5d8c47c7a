#include "retrace/retargeting/handedness.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

constexpr const char* kSidesOfBody[] = {"left_", "right_"};
constexpr size_t kMostLooks = 2000;  // frames that are looked at
constexpr double kKneeSeen = 0.3;    // mean sine of a bend that is all that can be asked for
constexpr double kElbowSeen = 0.5;   // likewise
constexpr double kWaySeen = 1;       // of the body's height of the trunk, per second
constexpr double kClear = 0.5;       // a vote, times its weight, that alone refutes the others
constexpr double kSomeWeight = 0.1;  // of a vote that counts as one

/// Sum of signed values, each with its size as weight.
class Ballot {
 public:
  void Add(double value) {
    sum_ += value * std::abs(value);
    squares_ += value * value;
    count_ += 1;
  }
  /// @param shown mean size of values that have the weight 1
  SideVote Vote(const char* of, double shown) const {
    if (!(squares_ > 0)) return {of, 0, 0};
    return {of, sum_ / squares_, std::min(1.0, std::sqrt(squares_ / count_) / shown)};
  }

 private:
  double sum_ = 0, squares_ = 0, count_ = 0;
};

class SideJudge {
 public:
  SideJudge(const motion::Clip& clip, const SkeletonMap& map) : clip_(clip), map_(map) {
    for (size_t side = 0; side < 2; ++side) toes_[side] = ToeOf(side);
  }

  Handedness Judge(size_t first, size_t end) {
    const size_t stride = 1 + (end - first) / kMostLooks;
    Vec3 before = Vec3::Zero();
    for (size_t f = first; f < end; f += stride) {
      motion::ForwardKinematics(clip_.skeleton, clip_.frames[f], pose_);
      const Vec3 hips = 0.5 * (At("left_thigh") + At("right_thigh"));
      const Vec3 over = 0.5 * (At("left_upper_arm") + At("right_upper_arm")) - hips;
      left_ = (At("left_thigh") - At("right_thigh")).normalized();
      up_ = (over - over.dot(left_) * left_).normalized();
      front_ = left_.cross(up_);
      if (!front_.allFinite()) continue;
      for (size_t side = 0; side < 2; ++side) {
        LookAtLeg(side);
        LookAtArm(side);
      }
      if (f > first) {
        const Vec3 velocity = (hips - before) / (static_cast<double>(stride) * clip_.frame_time * over.norm());
        const double ahead = velocity.dot(front_);
        // Not what jumps, and not what goes sideways, up or down.
        if (velocity.norm() < 10 && std::abs(ahead) > 0.7 * velocity.norm()) way_.Add(ahead);
      }
      before = hips;
    }
    Handedness result;
    result.votes = {feet_.Vote("toes", kClear), knees_.Vote("knees", kKneeSeen), elbows_.Vote("elbows", kElbowSeen),
                    way_.Vote("way", kWaySeen)};
    double sum = 0;
    size_t against = 0;
    bool refuted = false;
    for (const SideVote& vote : result.votes) {
      const double weighted = vote.value * vote.weight;
      sum += weighted;
      against += vote.weight > kSomeWeight && vote.value < -kClear ? 1 : 0;
      const bool decisive = vote.of == "toes" || vote.of == "knees";
      refuted = refuted || (decisive && weighted > kClear);
    }
    result.mirrored = against >= 2 && sum < 0 && !refuted;
    return result;
  }

 private:
  Vec3 At(const std::string& segment) const {
    return pose_.positions[static_cast<size_t>(map_.segments.at(segment).position)];
  }
  Vec3 At(size_t side, const char* segment) const { return At(kSidesOfBody[side] + std::string(segment)); }
  bool Has(size_t side, const char* segment) const { return map_.Has(kSidesOfBody[side] + std::string(segment)); }

  /// The joint in which a foot ends, or the foot itself.
  size_t ToeOf(size_t side) const {
    const auto foot = static_cast<size_t>(map_.segments.at(std::string(kSidesOfBody[side]) + "foot").position);
    if (Has(side, "toe"))
      return static_cast<size_t>(map_.segments.at(std::string(kSidesOfBody[side]) + "toe").position);
    size_t end = foot;
    for (size_t j = foot + 1; j < clip_.skeleton.joints.size(); ++j) {
      if (clip_.skeleton.joints[j].parent == static_cast<int>(end)) end = j;
    }
    return end;
  }

  void LookAtLeg(size_t side) {
    const Vec3 hip = At(side, "thigh"), knee = At(side, "shin"), ankle = At(side, "foot");
    const Vec3 thigh = (knee - hip).normalized(), shin = (ankle - knee).normalized();
    const double bend = thigh.cross(shin).dot(left_);
    if (std::isfinite(bend)) knees_.Add(bend);
    // A foot points to the front of its shin, of which the part across the shin is seen.
    const Vec3 foot = (pose_.positions[toes_[side]] - ankle).normalized();
    const Vec3 front = front_ - front_.dot(shin) * shin;
    const double ahead = foot.dot(front);
    if (std::isfinite(ahead)) feet_.Add(ahead);
  }

  /// Forearms bend to the front of a hanging arm and of one that is stretched out to its side: about an axis that goes
  /// with the arm, from left to up.
  void LookAtArm(size_t side) {
    if (!Has(side, "hand")) return;
    const double out = side == 0 ? 1 : -1;
    const Vec3 elbow = At(side, "lower_arm");
    const Vec3 upper = (elbow - At(side, "upper_arm")).normalized(), lower = (At(side, "hand") - elbow).normalized();
    const Quat carried = ShortestArc(out * left_, upper);
    const double bend = out * lower.cross(upper).dot(carried * up_);
    if (std::isfinite(bend)) elbows_.Add(bend);
  }

  const motion::Clip& clip_;
  const SkeletonMap& map_;
  size_t toes_[2];
  motion::GlobalPose pose_;
  Vec3 left_, up_, front_;  // of the body in a frame
  Ballot feet_, knees_, elbows_, way_;
};

}  // namespace

std::string Handedness::Votes() const {
  std::string text;
  for (const SideVote& vote : votes) {
    if (vote.weight <= kSomeWeight) continue;
    text.append(text.empty() ? "" : ", ").append(vote.of).append(vote.value < 0 ? " " : " +");
    text.append(io::Fixed(vote.value, 2));
  }
  return text.empty() ? "nothing is seen" : text;
}

io::Json Handedness::ToJson() const {
  io::Json list = io::Json::array();
  for (const SideVote& vote : votes) list.push_back({{"of", vote.of}, {"value", vote.value}, {"weight", vote.weight}});
  return {{"mirrored", mirrored}, {"votes", list}};
}

Handedness JudgeHandedness(const motion::Clip& clip, const SkeletonMap& map, size_t first, size_t end) {
  return SideJudge(clip, map).Judge(first, end);
}

}  // namespace retrace::character
