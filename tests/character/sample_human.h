/// The human, poses and motions of it that are known by construction.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/reference_motion.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace::character {

inline const Character& Human() {
  static const Character human = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  return human;
}

inline const Body& BodyOf(const Character& character, const std::string& name) {
  return character.bodies.at(static_cast<size_t>(character.FindBody(name)));
}

inline const Joint& JointOf(const Character& character, const std::string& name) {
  return character.joints.at(static_cast<size_t>(character.FindJoint(name)));
}

inline Quat& RotationOf(const Character& character, Pose& pose, const std::string& joint) {
  return pose.joint_rotations.at(static_cast<size_t>(character.FindJoint(joint)));
}

inline Pose RestPose(const Character& character) {
  Pose pose;
  pose.root_position = character.bodies[static_cast<size_t>(character.root)].rest_position;
  pose.joint_rotations.assign(character.joints.size(), Quat::Identity());
  return pose;
}

inline Vec3 RandomVector(RandomStream& random, double size) {
  return {random.Uniform(-size, size), random.Uniform(-size, size), random.Uniform(-size, size)};
}

inline Quat RandomRotation(RandomStream& random) {
  const Vec3 v = RandomVector(random, 1);
  return FromRotationVector(v.norm() < 1e-3 ? Vec3(Vec3::Zero()) : Vec3(v.normalized() * random.Uniform(0, kPi)));
}

/// Any pose, also impossible ones.
inline Pose RandomPose(const Character& character, RandomStream& random) {
  Pose pose;
  pose.root_position = RandomVector(random, 5);
  pose.root_orientation = RandomRotation(random);
  for (const Joint& joint : character.joints) {
    pose.joint_rotations.push_back(joint.type == JointType::kHinge
                                       ? FromRotationVector(random.Uniform(-3, 3) * joint.direction())
                                       : RandomRotation(random));
  }
  return pose;
}

/// The robot with hinges about axes that are none of their parents'. @param armature of them [kg m^2]
inline Character Oblique(double armature = 0) {
  io::Json document = *LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/asimo.json").json;
  int number = 0;
  for (io::Json& joint : document["joints"]) {
    ++number;
    if (joint["type"] != "hinge") continue;
    joint["axis"] = {0.4 + number, -0.7, 0.3 * number};
    if (armature > 0) joint["armature"] = armature * number;
  }
  return ParseCharacter(document, "oblique");
}

inline State StateOf(const Character& character, const Pose& pose) {
  State state;
  ForwardKinematics(character, pose, state);
  return state;
}

/// A walk along z at constant velocity and constant height of the pelvis, whose feet are flat, stand still in turn, and
/// swing forwards in between; arms, trunk and head sway. Before it the human stands for a while.
struct Walk {
  double speed = 1;          // [m/s]
  double stand = 0;          // duration of standing at the start [s]
  double pelvis = 0.89;      // height of the pelvis while walking [m]
  double half_period = 0.5;  // of one foot's stance [s]
  bool sway = true;

  /// Pose at a time; the walk begins at time `stand`.
  Pose At(const Character& human, double time) const {
    Pose pose = RestPose(human);
    if (time < stand) {
      for (const char* side : {"left", "right"}) HangArm(human, pose, side, 0);
      return pose;
    }
    const double t = time - stand;
    pose.root_position = Vec3(0, pelvis, speed * t);
    for (const char* side : {"left", "right"}) {
      const double shift = side[0] == 'l' ? 0 : half_period;
      PlaceFoot(human, pose, side, Foot(t + shift) - Vec3(0, 0, speed * shift));
    }
    if (sway) {
      const double phase = kPi * t / half_period;
      RotationOf(human, pose, "waist") = AxisRotation(1, 0.12 * std::sin(phase)) * AxisRotation(0, 0.06);
      RotationOf(human, pose, "neck") = AxisRotation(1, -0.1 * std::sin(phase)) * AxisRotation(2, 0.05);
      HangArm(human, pose, "left", std::sin(phase));
      HangArm(human, pose, "right", -std::sin(phase));
    }
    return pose;
  }

  std::vector<Pose> Poses(const Character& human, double duration, double frame_time) const {
    std::vector<Pose> poses;
    const int last = static_cast<int>(std::lround(duration / frame_time));
    for (int i = 0; i <= last; ++i) poses.push_back(At(human, i * frame_time));
    return poses;
  }

 private:
  /// Place of an ankle in the sagittal plane: it stands for the first half of a period and swings for the second.
  Vec3 Foot(double t) const {
    const double period = 2 * half_period;
    const double step = speed * period;
    const double cycle = std::floor(t / period);
    const double phase = t / period - cycle;
    const double first = speed * 0.5 * half_period + cycle * step;
    if (phase <= 0.5) return {0, 0.075, first};
    const double u = 2 * phase - 1;
    const double s = u * u * u * (10 + u * (-15 + 6 * u));
    const double lift = std::sin(kPi * u);
    return {0, 0.075 + 0.08 * lift * lift * lift, first + step * s};
  }

  /// The two-bone leg in closed form, the foot flat.
  void PlaceFoot(const Character& human, Pose& pose, const std::string& side, const Vec3& ankle) const {
    const Vec3& hip = JointOf(human, side + "_hip").anchor;
    const double a = hip.y() - JointOf(human, side + "_knee").anchor.y();
    const double b = JointOf(human, side + "_knee").anchor.y() - JointOf(human, side + "_ankle").anchor.y();
    const Vec3& rest = human.bodies[static_cast<size_t>(human.root)].rest_position;
    const Vec3 v = ankle - (pose.root_position + hip - rest);
    const double d2 = v.y() * v.y() + v.z() * v.z();
    const double knee = std::acos(std::clamp((d2 - a * a - b * b) / (2 * a * b), -1.0, 1.0));
    const double thigh = std::atan2(-v.z(), -v.y()) - std::atan2(b * std::sin(knee), a + b * std::cos(knee));
    RotationOf(human, pose, side + "_hip") = AxisRotation(0, thigh);
    RotationOf(human, pose, side + "_knee") = AxisRotation(0, knee);
    RotationOf(human, pose, side + "_ankle") = AxisRotation(0, -thigh - knee);
  }

  static void HangArm(const Character& human, Pose& pose, const std::string& side, double swing) {
    const double sign = side == "left" ? 1 : -1;
    RotationOf(human, pose, side + "_sternoclavicular") = AxisRotation(2, 0.05 * sign);
    RotationOf(human, pose, side + "_shoulder") = AxisRotation(0, 0.4 * swing) * AxisRotation(2, -1.3 * sign);
    RotationOf(human, pose, side + "_elbow") = AxisRotation(1, -sign * (0.5 + 0.2 * swing));
  }
};

/// The rest pose with its soles on the floor, displaced by `offset(time)`.
template <typename Offset>
ReferenceMotion StandingHuman(const Offset& offset, int poses, double frame_time) {
  std::vector<Pose> all(static_cast<size_t>(poses), RestPose(Human()));
  State state;
  ForwardKinematics(Human(), all.front(), state);
  double lowest = state[0].position.y();
  for (size_t b = 0; b < state.size(); ++b) lowest = std::min(lowest, LowestPoint(Human().bodies[b], state[b]));
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].root_position += offset(static_cast<double>(i) * frame_time) - lowest * Vec3::UnitY();
  }
  return {Human(), frame_time, std::move(all), 1.0 / 60};
}

}  // namespace retrace::character
