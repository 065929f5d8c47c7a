/// The map of a skeleton with meaningless names, from its shape: two pairs of mirrored limbs and a head.
#include "skeleton_topology.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <optional>

namespace retrace::character {
namespace {

using motion::Clip;
using motion::GlobalPose;
using motion::Skeleton;

constexpr double kLengthTolerance = 0.05;  // relative difference of lengths of a left and a right limb

/// A path from a joint to the tip of its longest branch.
struct Limb {
  std::vector<int> joints;      // from the branch's first joint to its tip
  std::vector<double> lengths;  // of the bones between them
  size_t upper = 0;             // index in `joints` at which the upper one of the two long bones begins
  double reach = 0;             // sum of the two long bones
};

/// Two limbs that are mirror images, and the joint that they grow from.
struct Pair {
  int parent = -1;
  Limb a;
  Limb b;
};

class Tree {
 public:
  explicit Tree(const Skeleton& skeleton)
      : skeleton_(skeleton), children_(skeleton.joints.size()), depth_(skeleton.joints.size(), 0.0) {
    for (size_t j = skeleton.joints.size(); j-- > 1;) {
      const size_t parent = static_cast<size_t>(skeleton.joints[j].parent);
      children_[parent].insert(children_[parent].begin(), static_cast<int>(j));
      depth_[parent] = std::max(depth_[parent], Length(static_cast<int>(j)) + depth_[j]);
    }
  }

  double Length(int joint) const { return skeleton_.joints[static_cast<size_t>(joint)].offset.norm(); }
  const std::vector<int>& ChildrenOf(int joint) const { return children_[static_cast<size_t>(joint)]; }
  double Depth(int joint) const { return depth_[static_cast<size_t>(joint)]; }
  bool IsEndSite(int joint) const { return skeleton_.joints[static_cast<size_t>(joint)].end_site; }

  /// The longest path downwards, or nothing where there are no two bones to bend.
  std::optional<Limb> LimbFrom(int joint) const {
    Limb limb;
    limb.joints.push_back(joint);
    for (int j = joint; !ChildrenOf(j).empty();) {
      const auto& next = ChildrenOf(j);
      const int longest = *std::max_element(next.begin(), next.end(),
                                            [&](int x, int y) { return Length(x) + Depth(x) < Length(y) + Depth(y); });
      limb.lengths.push_back(Length(longest));
      limb.joints.push_back(longest);
      j = longest;
    }
    // The two bones must each end in a joint that can move, the ankle or the wrist being the second.
    for (size_t k = 0; k + 1 < limb.lengths.size(); ++k) {
      if (IsEndSite(limb.joints[k + 2])) break;
      const double reach = limb.lengths[k] + limb.lengths[k + 1];
      if (reach > limb.reach) {
        limb.reach = reach;
        limb.upper = k;
      }
    }
    if (limb.reach == 0) return std::nullopt;
    return limb;
  }

  static bool AreAlike(const Limb& a, const Limb& b) {
    if (a.upper != b.upper || a.joints.size() != b.joints.size()) return false;
    for (size_t k = a.upper; k < a.upper + 2; ++k) {
      if (std::abs(a.lengths[k] - b.lengths[k]) > kLengthTolerance * std::max(a.lengths[k], b.lengths[k])) return false;
    }
    return true;
  }

  /// All pairs of mirrored branches, the one with the longest bones first.
  std::vector<Pair> Pairs() const {
    std::vector<Pair> pairs;
    for (size_t p = 0; p < children_.size(); ++p) {
      const auto& children = children_[p];
      for (size_t i = 0; i < children.size(); ++i) {
        const auto a = LimbFrom(children[i]);
        if (!a) continue;
        for (size_t k = i + 1; k < children.size(); ++k) {
          const auto b = LimbFrom(children[k]);
          if (b && AreAlike(*a, *b)) pairs.push_back({static_cast<int>(p), *a, *b});
        }
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& x, const Pair& y) { return x.a.reach + x.b.reach > y.a.reach + y.b.reach; });
    return pairs;
  }

  bool IsBelow(int joint, int ancestor) const {
    for (int j = joint; j >= 0; j = skeleton_.joints[static_cast<size_t>(j)].parent) {
      if (j == ancestor) return true;
    }
    return false;
  }

 private:
  const Skeleton& skeleton_;
  std::vector<std::vector<int>> children_;
  std::vector<double> depth_;  // longest path down
};

SegmentSource At(int joint) {
  return {joint, joint};
}

/// Positions of a pose in which left and right can be distinguished: the rest pose where it has an extent, else the
/// first frame.
GlobalPose ShownPose(const Clip& clip, const Pair& legs) {
  motion::Frame rest;
  for (const motion::Joint& joint : clip.skeleton.joints) {
    rest.translations.push_back(joint.offset);
    rest.rotations.push_back(Quat::Identity());
  }
  GlobalPose pose;
  motion::ForwardKinematics(clip.skeleton, rest, pose);
  const auto at = [&](int joint) { return pose.positions[static_cast<size_t>(joint)]; };
  const Vec3 across = at(legs.a.joints[legs.a.upper]) - at(legs.b.joints[legs.b.upper]);
  const Vec3 leg = at(legs.a.joints[legs.a.upper + 2]) - at(legs.a.joints[legs.a.upper]);
  const bool legs_hang = across.norm() > 0 && std::abs(across.normalized().dot(leg.normalized())) < 0.5;
  if (!legs_hang) motion::ForwardKinematics(clip.skeleton, clip.frames.front(), pose);
  return pose;
}

}  // namespace

std::optional<SkeletonMap> MapByTopology(const Clip& clip) {
  const Tree tree(clip.skeleton);
  const std::vector<Pair> pairs = tree.Pairs();
  if (pairs.empty() || clip.frames.empty()) return std::nullopt;
  const Pair& legs = pairs.front();
  // Arms grow from another joint, and not from a leg.
  const auto is_arms = [&](const Pair& pair) {
    return !tree.IsBelow(pair.parent, legs.a.joints[0]) && !tree.IsBelow(pair.parent, legs.b.joints[0]) &&
           pair.a.joints[0] != legs.a.joints[0] && pair.a.joints[0] != legs.b.joints[0] &&
           pair.b.joints[0] != legs.a.joints[0] && pair.b.joints[0] != legs.b.joints[0];
  };
  const auto arms = std::find_if(pairs.begin() + 1, pairs.end(), is_arms);
  if (arms == pairs.end()) return std::nullopt;

  // The head ends the longest path from the chest that is not an arm.
  int head = -1;
  double longest = 0;
  for (const int child : tree.ChildrenOf(arms->parent)) {
    const bool leads_to_legs = tree.IsBelow(legs.parent, child);
    if (child == arms->a.joints[0] || child == arms->b.joints[0] || leads_to_legs) continue;
    const double way = tree.Length(child) + tree.Depth(child);
    if (way <= longest) continue;
    longest = way;
    head = child;
  }
  if (head < 0) return std::nullopt;
  for (;;) {
    const auto& next = tree.ChildrenOf(head);
    const auto deeper = std::max_element(next.begin(), next.end(), [&](int x, int y) {
      return tree.Length(x) + tree.Depth(x) < tree.Length(y) + tree.Depth(y);
    });
    if (deeper == next.end() || tree.IsEndSite(*deeper)) break;
    head = *deeper;
  }

  // Feet point forwards; with the head above the hips that distinguishes left from right.
  const GlobalPose pose = ShownPose(clip, legs);
  const auto at = [&](int joint) -> Vec3 { return pose.positions[static_cast<size_t>(joint)]; };
  const auto joint_of = [](const Limb& limb, size_t k) { return limb.joints[limb.upper + k]; };
  const Vec3 hips = 0.5 * (at(joint_of(legs.a, 0)) + at(joint_of(legs.b, 0)));
  const Vec3 up = (at(head) - hips).normalized();
  Vec3 forward = Vec3::Zero();
  for (const Limb* leg : {&legs.a, &legs.b}) forward += at(leg->joints.back()) - at(joint_of(*leg, 2));
  forward -= forward.dot(up) * up;
  const double foot = (forward / 2).norm();
  if (foot < 0.1 * legs.a.reach) return std::nullopt;  // no feet to decide by
  const Vec3 left = up.cross(forward);
  const auto is_left = [&](const Limb& a, const Limb& b) {
    return (at(joint_of(a, 0)) - at(joint_of(b, 0))).dot(left) > 0;
  };

  SkeletonMap map;
  map.family = "shape of the skeleton";
  map.segments["pelvis"] = At(legs.parent);
  map.segments["trunk"] = At(arms->parent);
  map.segments["head"] = At(head);
  const auto add = [&](const Limb& limb, const std::string& side, const char* const(&names)[3]) {
    for (size_t k = 0; k < 3; ++k) map.segments[side + names[k]] = At(joint_of(limb, k));
  };
  const bool legs_in_order = is_left(legs.a, legs.b);
  const bool arms_in_order = is_left(arms->a, arms->b);
  for (const bool is_left_side : {true, false}) {
    const std::string side = is_left_side ? "left_" : "right_";
    const Limb& leg = is_left_side == legs_in_order ? legs.a : legs.b;
    const Limb& arm = is_left_side == arms_in_order ? arms->a : arms->b;
    add(leg, side, {"thigh", "shin", "foot"});
    add(arm, side, {"upper_arm", "lower_arm", "hand"});
    const size_t toe = leg.upper + 3;
    if (toe < leg.joints.size() && !tree.IsEndSite(leg.joints[toe])) map.segments[side + "toe"] = At(leg.joints[toe]);
    if (arm.upper > 0) map.segments[side + "clavicle"] = At(arm.joints[arm.upper - 1]);
  }
  return map;
}

}  // namespace retrace::character
