#include "floor_clearance.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

constexpr double kTolerance = 0.005;  // skin is soft [m]

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

/// The joints and bodies of an arm.
struct Arm {
  size_t shoulder = 0;
  size_t elbow = 0;
  size_t wrist = 0;
};

std::vector<Arm> ArmsOf(const Character& character) {
  const auto above = [&](int joint) { return character.JointOf(character.joints[static_cast<size_t>(joint)].parent); };
  const auto moves = [&](int joint, const char* segment) {
    const auto child = static_cast<size_t>(character.joints[static_cast<size_t>(joint)].child);
    return character.bodies[child].segment.ends_with(segment);
  };
  std::vector<Arm> arms;
  for (int wrist = 0; wrist < static_cast<int>(character.joints.size()); ++wrist) {
    if (!moves(wrist, "hand")) continue;
    const int elbow = above(wrist);
    if (elbow < 0 || !moves(elbow, "lower_arm")) continue;
    const int shoulder = above(elbow);
    if (shoulder < 0 || !moves(shoulder, "upper_arm")) continue;
    arms.push_back({static_cast<size_t>(shoulder), static_cast<size_t>(elbow), static_cast<size_t>(wrist)});
  }
  return arms;
}

/// Raises the wrist of one arm by `rise` meters.
void RaiseWrist(const Character& character, const Arm& arm, double rise, Pose& pose) {
  // A straight arm has no plane to flex in; it flexes with its elbow backwards, as in the rest pose (z is forward).
  constexpr double kStraight = 0.01;  // [m] how far the elbow is off the line from shoulder to wrist
  State state;
  ForwardKinematics(character, pose, state);
  const Joint& elbow_joint = character.joints[arm.elbow];
  const Quat upper_arm = state[static_cast<size_t>(elbow_joint.parent)].orientation;
  const Quat forearm = state[static_cast<size_t>(elbow_joint.child)].orientation;
  const Quat hand = state[static_cast<size_t>(character.joints[arm.wrist].child)].orientation;
  const Quat base = upper_arm * pose.joint_rotations[arm.shoulder].conjugate();
  const Vec3 shoulder = JointPosition(character, character.joints[arm.shoulder], state);
  const Vec3 elbow = JointPosition(character, elbow_joint, state);
  const Vec3 wrist = JointPosition(character, character.joints[arm.wrist], state);
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
    if (axis.dot((shoulder - elbow).cross(wrist - elbow)) < 0) axis = -axis;
  } else {
    const Vec3 off_line = elbow - shoulder - along * along.dot(elbow - shoulder);
    axis = along.cross(off_line + kStraight * (upper_arm * Vec3(0, 0, -1))).normalized();
  }
  const Quat flexion = FromRotationVector(axis * (angle_at(distance) - angle_at((wrist - shoulder).norm())));
  const Vec3 flexed = elbow + flexion * Vec3(wrist - elbow) - shoulder;
  const Quat swing = ShortestArc(flexed.normalized(), (goal - shoulder).normalized());
  const Quat new_upper = swing * upper_arm;
  const Quat new_fore = swing * flexion * forearm;
  pose.joint_rotations[arm.shoulder] = (base.conjugate() * new_upper).normalized();
  pose.joint_rotations[arm.elbow] = (new_upper.conjugate() * new_fore).normalized();
  if (character.joints[arm.wrist].type == JointType::kBall) {
    pose.joint_rotations[arm.wrist] = (new_fore.conjugate() * hand).normalized();
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

void RaiseHands(const Character& character, double rate, std::vector<Pose>& poses, ReferenceReport& report) {
  State state;
  for (const Arm& arm : ArmsOf(character)) {
    const auto hand = static_cast<size_t>(character.joints[arm.wrist].child);
    const auto forearm = static_cast<size_t>(character.joints[arm.wrist].parent);
    std::vector<double> raised(poses.size(), 0.0);
    // The forearm turns as its wrist rises, so that its lowest point does not rise by as much: what is left is raised
    // in a second and third round.
    for (int round = 0; round < 3; ++round) {
      std::vector<double> depth;
      for (const Pose& pose : poses) {
        ForwardKinematics(character, pose, state);
        depth.push_back(DepthUnderFloor(std::min(LowestPoint(character.bodies[hand], state[hand]),
                                                 LowestPoint(character.bodies[forearm], state[forearm]))));
      }
      const std::vector<double> rise = ClearingCurve(depth, static_cast<int>(0.05 * rate), 0.025 * rate);
      for (size_t i = 0; i < poses.size(); ++i) {
        if (rise[i] == 0) continue;
        RaiseWrist(character, arm, rise[i], poses[i]);
        raised[i] += rise[i];
      }
    }
    report.largest_hand_raise = std::max(report.largest_hand_raise, *std::max_element(raised.begin(), raised.end()));
  }
  if (report.largest_hand_raise > 0) {
    report.notes.push_back("arms bent, wrists raised by up to " + io::Fixed(report.largest_hand_raise, 3) +
                           " m, where hands or forearms were under the floor");
  }
}

}  // namespace retrace::character
