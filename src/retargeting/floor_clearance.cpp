#include "floor_clearance.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"

namespace retrace::character {
namespace {

constexpr double kTolerance = 0.005;   // skin is soft [m]
constexpr double kStraightKnee = 0.1;  // sine of its bend
// Heights of the root over the floor, as shares of the leg: below the first a body is on the floor with more than its
// feet, above the second it stands on them.
constexpr double kLow = 0.6, kHigh = 0.8;

bool CarriesTheBody(const Body& body) {
  return body.part == Part::kBody;
}

double DepthUnderFloor(double lowest) {
  return std::max(0.0, -lowest - kTolerance);
}

/// A smooth curve that is nowhere below `depth`: its running maximum over `reach`, smoothed with a kernel of the same
/// reach. Times in samples.
std::vector<double> ClearingCurve(const std::vector<double>& depth, int reach, double deviation) {
  const int n = static_cast<int>(depth.size());
  const auto at = [&](const std::vector<double>& v, int i) { return v[static_cast<size_t>(std::clamp(i, 0, n - 1))]; };
  std::vector<double> envelope(depth.size());
  for (int i = 0; i < n; ++i) {
    for (int k = -reach; k <= reach; ++k)
      envelope[static_cast<size_t>(i)] = std::max(at(envelope, i), at(depth, i + k));
  }
  std::vector<double> curve(depth.size());
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    double weights = 0;
    for (int k = -reach; k <= reach; ++k) {
      const double w = std::exp(-0.5 * k * k / (deviation * deviation));
      sum += w * at(envelope, i + k);
      weights += w;
    }
    curve[static_cast<size_t>(i)] = sum / weights;
  }
  return curve;
}

/// The joints of an arm or a leg.
struct BentLimb {
  size_t upper = 0;   // shoulder, hip
  size_t middle = 0;  // elbow, knee
  size_t lower = 0;   // wrist, ankle
  bool leg = false;
};

/// Limbs of three segments, the last one first.
std::vector<BentLimb> LimbsOf(const Character& character, const std::array<const char*, 3>& segments, bool legs) {
  const auto above = [&](int joint) { return character.JointOf(character.joints[static_cast<size_t>(joint)].parent); };
  const auto moves = [&](int joint, const char* segment) {
    const auto child = static_cast<size_t>(character.joints[static_cast<size_t>(joint)].child);
    return character.bodies[child].segment.ends_with(segment);
  };
  std::vector<BentLimb> limbs;
  for (int lower = 0; lower < static_cast<int>(character.joints.size()); ++lower) {
    if (!moves(lower, segments[0])) continue;
    const int middle = above(lower);
    if (middle < 0 || !moves(middle, segments[1])) continue;
    const int upper = above(middle);
    if (upper < 0 || !moves(upper, segments[2])) continue;
    limbs.push_back({static_cast<size_t>(upper), static_cast<size_t>(middle), static_cast<size_t>(lower), legs});
  }
  return limbs;
}

/// Raises the wrist or ankle of a limb by `rise` meters.
void RaiseEnd(const Character& character, const BentLimb& limb, double rise, Pose& pose) {
  // A straight arm has no plane to flex in; it flexes with its elbow backwards, as in the rest pose (z is forward).
  constexpr double kStraight = 0.01;  // [m] how far the elbow is off the line from shoulder to wrist
  State state;
  ForwardKinematics(character, pose, state);
  const Joint& elbow_joint = character.joints[limb.middle];
  const Quat upper_arm = state[static_cast<size_t>(elbow_joint.parent)].orientation;
  const Quat forearm = state[static_cast<size_t>(elbow_joint.child)].orientation;
  const Quat hand = state[static_cast<size_t>(character.joints[limb.lower].child)].orientation;
  const Quat base = upper_arm * pose.joint_rotations[limb.upper].conjugate();
  const Vec3 shoulder = JointPosition(character, character.joints[limb.upper], state);
  const Vec3 elbow = JointPosition(character, elbow_joint, state);
  const Vec3 wrist = JointPosition(character, character.joints[limb.lower], state);
  const double upper = (elbow - shoulder).norm();
  const double lower = (wrist - elbow).norm();
  const Vec3 goal = wrist + Vec3(0, rise, 0);
  const double distance = std::clamp((goal - shoulder).norm(), std::abs(upper - lower) + 1e-3, upper + lower - 1e-6);
  const auto angle_at = [&](double d) {
    return std::acos(std::clamp((upper * upper + lower * lower - d * d) / (2 * upper * lower), -1.0, 1.0));
  };
  const Vec3 along = (wrist - shoulder).normalized();
  Vec3 axis;
  if (elbow_joint.type == JointType::kHinge) {
    axis = upper_arm * elbow_joint.direction();
    const Vec3 bend = (shoulder - elbow).cross(wrist - elbow);
    // To turn about it is to extend. A straight knee extends forwards.
    const bool straight = limb.leg && bend.norm() < kStraightKnee * upper * lower;
    const double with_axis = straight ? axis.cross(wrist - elbow).dot(upper_arm * Vec3(0, 0, 1)) : axis.dot(bend);
    if (with_axis < 0) axis = -axis;
  } else {
    const Vec3 off_line = elbow - shoulder - along * along.dot(elbow - shoulder);
    axis = along.cross(off_line + kStraight * (upper_arm * Vec3(0, 0, -1))).normalized();
  }
  const Quat flexion = FromRotationVector(axis * (angle_at(distance) - angle_at((wrist - shoulder).norm())));
  const Vec3 flexed = elbow + flexion * Vec3(wrist - elbow) - shoulder;
  const Quat swing = ShortestArc(flexed.normalized(), (goal - shoulder).normalized());
  const Quat new_upper = swing * upper_arm;
  const Quat new_fore = swing * flexion * forearm;
  pose.joint_rotations[limb.upper] = (base.conjugate() * new_upper).normalized();
  pose.joint_rotations[limb.middle] = (new_upper.conjugate() * new_fore).normalized();
  if (character.joints[limb.lower].type == JointType::kBall) {
    pose.joint_rotations[limb.lower] = (new_fore.conjugate() * hand).normalized();
  }
}

}  // namespace

void LiftRoot(const Character& character, double rate, std::vector<Pose>& poses, ReferenceReport& report) {
  std::vector<double> depth;
  State state;
  for (const Pose& pose : poses) {
    ForwardKinematics(character, pose, state);
    double lowest = 0;
    for (size_t b = 0; b < state.size(); ++b) {
      if (CarriesTheBody(character.bodies[b])) lowest = std::min(lowest, LowestPoint(character.bodies[b], state[b]));
    }
    depth.push_back(DepthUnderFloor(lowest));
  }
  const std::vector<double> lift = ClearingCurve(depth, static_cast<int>(0.1 * rate), 0.05 * rate);
  for (size_t i = 0; i < poses.size(); ++i) {
    poses[i].root_position.y() += lift[i];
    report.largest_lift = std::max(report.largest_lift, lift[i]);
  }
  if (report.largest_lift > 0) {
    report.notes.push_back("root raised by up to " + io::Fixed(report.largest_lift, 3) +
                           " m where the trunk, head, thighs or upper arms were under the floor");
  }
}

namespace {

/// Raises the ends of limbs by what they and the segments next to them are under the floor, times `share` of each pose.
/// Returns the largest rise [m].
double RaiseEnds(const Character& character, double rate, const std::vector<BentLimb>& limbs,
                 const std::vector<double>& share, std::vector<Pose>& poses) {
  State state;
  double largest = 0;
  for (const BentLimb& limb : limbs) {
    const auto end = static_cast<size_t>(character.joints[limb.lower].child);
    const auto next = static_cast<size_t>(character.joints[limb.lower].parent);
    std::vector<double> raised(poses.size(), 0.0);
    // The segment next to it turns as the end rises, so that its lowest point does not rise by as much: what is left is
    // raised in a second and third round.
    for (int round = 0; round < 3; ++round) {
      std::vector<double> depth;
      for (size_t i = 0; i < poses.size(); ++i) {
        ForwardKinematics(character, poses[i], state);
        const double lowest =
            std::min(LowestPoint(character.bodies[end], state[end]), LowestPoint(character.bodies[next], state[next]));
        depth.push_back(share[i] * DepthUnderFloor(lowest));
      }
      const std::vector<double> rise = ClearingCurve(depth, static_cast<int>(0.05 * rate), 0.025 * rate);
      for (size_t i = 0; i < poses.size(); ++i) {
        if (rise[i] == 0) continue;
        RaiseEnd(character, limb, rise[i], poses[i]);
        raised[i] += rise[i];
      }
    }
    largest = std::max(largest, *std::max_element(raised.begin(), raised.end()));
  }
  return largest;
}

}  // namespace

void RaiseHands(const Character& character, double rate, std::vector<Pose>& poses, ReferenceReport& report) {
  const std::vector<BentLimb> arms = LimbsOf(character, {"hand", "lower_arm", "upper_arm"}, false);
  const double rise = RaiseEnds(character, rate, arms, std::vector<double>(poses.size(), 1), poses);
  report.largest_hand_raise = std::max(report.largest_hand_raise, rise);
  if (report.largest_hand_raise > 0) {
    report.notes.push_back("arms bent, wrists raised by up to " + io::Fixed(report.largest_hand_raise, 3) +
                           " m, where hands or forearms were under the floor");
  }
}

void RaiseFeet(const Character& character, double rate, std::vector<Pose>& poses, ReferenceReport& report) {
  const std::vector<BentLimb> legs = LimbsOf(character, {"foot", "shin", "thigh"}, true);
  if (legs.empty()) return;
  const auto anchor = [&](size_t joint) { return character.joints[joint].anchor; };
  const BentLimb& leg = legs.front();
  const double length =
      (anchor(leg.upper) - anchor(leg.middle)).norm() + (anchor(leg.middle) - anchor(leg.lower)).norm();
  std::vector<double> low;
  for (const Pose& pose : poses) {
    const double height = pose.root_position.y() / length;
    low.push_back(1 - SmoothStep(std::clamp((height - kLow) / (kHigh - kLow), 0.0, 1.0)));
  }
  const double rise = RaiseEnds(character, rate, legs, low, poses);
  if (rise > 0) {
    report.notes.push_back("legs bent, ankles raised by up to " + io::Fixed(rise, 3) +
                           " m, where feet or shins of a body on the floor were under it");
  }
}

}  // namespace retrace::character
