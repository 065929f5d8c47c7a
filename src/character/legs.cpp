#include "retrace/character/legs.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

constexpr double kSlack = 1e-3;  // by which a leg is not quite straight [m]

Vec3 PositionOf(const Character& character, int joint, const State& state) {
  return JointPosition(character, character.joints[static_cast<size_t>(joint)], state);
}

/// The axis about which a shin turns towards its thigh when the knee is bent, not of unit length: the normal of the
/// leg's plane, which vanishes with the bend.
Vec3 FoldingAxis(const Character& character, const Leg& leg, const State& state) {
  const Vec3 knee = PositionOf(character, leg.knee, state);
  const Vec3 shin = PositionOf(character, leg.ankle, state) - knee;
  return shin.cross(Vec3(PositionOf(character, leg.hip, state) - knee));
}

Vec3 HingeAxis(const Character& character, int joint, const State& state) {
  const Joint& hinge = character.joints[static_cast<size_t>(joint)];
  return state[static_cast<size_t>(hinge.parent)].orientation * hinge.direction();
}

}  // namespace

std::vector<Leg> LegsOf(const Character& character) {
  std::vector<Leg> legs;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    if (!character.bodies[b].segment.ends_with("foot")) continue;
    Leg leg;
    leg.ankle = character.JointOf(static_cast<int>(b));
    if (leg.ankle < 0) continue;
    leg.knee = character.JointOf(character.joints[static_cast<size_t>(leg.ankle)].parent);
    if (leg.knee < 0) continue;
    leg.hip = character.JointOf(character.joints[static_cast<size_t>(leg.knee)].parent);
    if (leg.hip < 0) continue;
    leg.side = character.bodies[b].rest_position.x() < 0 ? -1 : 1;
    const auto ball = [&](int joint) { return character.joints[static_cast<size_t>(joint)].type == JointType::kBall; };
    if (character.planar || (ball(leg.hip) && ball(leg.ankle))) legs.push_back(leg);
  }
  return legs;
}

double Folding(const Character& character, const Leg& leg, const State& state) {
  return FoldingAxis(character, leg, state).dot(HingeAxis(character, leg.knee, state));
}

double FoldingOf(const Character& character, const Leg& leg, std::span<const State> states) {
  double folding = 0;
  for (const State& state : states) folding += Folding(character, leg, state);
  return folding < 0 ? -1 : 1;
}

void BendLeg(const Character& character, const Leg& leg, const State& state, const Footing& footing, Pose& pose) {
  const auto at = [&](int joint) -> const Joint& { return character.joints[static_cast<size_t>(joint)]; };
  const auto orientation = [&](int body) { return state[static_cast<size_t>(body)].orientation; };
  const Vec3 hip = PositionOf(character, leg.hip, state);
  const Vec3 knee = PositionOf(character, leg.knee, state);
  const Vec3 thigh = hip - knee;
  Vec3 shin = PositionOf(character, leg.ankle, state) - knee;
  const Vec3 wanted = footing.ankle - hip;
  const Vec3 plane = FoldingAxis(character, leg, state);
  const bool hinge = at(leg.knee).type == JointType::kHinge;
  const Vec3 axis = hinge ? leg.folding * HingeAxis(character, leg.knee, state) : plane.normalized();
  Quat bend = Quat::Identity();
  const double upper = thigh.norm(), lower = shin.norm();
  const double reach = std::clamp(wanted.norm(), std::abs(upper - lower) + kSlack, upper + lower - kSlack);
  const auto angle = [&](double distance) {
    const double cosine = (upper * upper + lower * lower - distance * distance) / (2 * upper * lower);
    return std::acos(std::clamp(cosine, -1.0, 1.0));
  };
  if (hinge || plane.norm() > 1e-9) {
    // Again, as a hinge's axis need not be perpendicular to the plane of the leg, and as a leg may be overstretched.
    for (int round = 0; round < 4; ++round) {
      const Quat more = FromRotationVector((angle((shin - thigh).norm()) - angle(reach)) * axis);
      bend = more * bend;
      shin = more * shin;
    }
  }
  const Quat turn = ShortestArc(shin - thigh, wanted);
  const Quat new_thigh = turn * orientation(at(leg.hip).child);
  const Quat new_shin = turn * bend * orientation(at(leg.knee).child);
  const Quat new_foot = footing.tilt * orientation(at(leg.ankle).child);
  auto& rotations = pose.joint_rotations;
  rotations[static_cast<size_t>(leg.hip)] = (orientation(at(leg.hip).parent).conjugate() * new_thigh).normalized();
  rotations[static_cast<size_t>(leg.knee)] = (new_thigh.conjugate() * new_shin).normalized();
  rotations[static_cast<size_t>(leg.ankle)] = (new_shin.conjugate() * new_foot).normalized();
  if (!character.planar) return;
  for (const int joint : {leg.hip, leg.knee, leg.ankle}) {
    Quat& rotation = rotations[static_cast<size_t>(joint)];
    rotation = Twist(rotation, Vec3::UnitX());
  }
}

void RaiseFeet(const Character& character, const State& state, Pose& pose) {
  for (Leg& leg : LegsOf(character)) {
    const Joint& ankle = character.joints[static_cast<size_t>(leg.ankle)];
    const auto foot = static_cast<size_t>(ankle.child);
    const double lowest = LowestPoint(character.bodies[foot], state[foot]);
    if (lowest >= 0) continue;
    leg.folding = FoldingOf(character, leg, {&state, 1});
    BendLeg(character, leg, state, {JointPosition(character, ankle, state) - Vec3(0, lowest, 0), Quat::Identity()},
            pose);
  }
}

}  // namespace retrace::character
