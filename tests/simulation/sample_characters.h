/// Characters so small that their motion can be written down in closed form, and the human in a few postures.
#pragma once

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "character/sample_human.h"
#include "retrace/character/character.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/simulation/world.h"

namespace retrace::simulation {

inline character::Character Parse(const std::string& bodies, const std::string& joints) {
  const std::string text =
      R"({"format": "retrace-character", "version": 1, "name": "sample", "height": 1, "bodies": [)" + bodies +
      R"(], "joints": [)" + joints +
      R"(], "end_effectors": [], "no_self_collision": [], "contact_presets": {"none": {}}})";
  return character::ParseCharacter(io::ParseJson(text, "sample.json"), "sample.json");
}

/// One box of 2 kg, 0.4 x 0.2 x 0.4 m, on the ground.
inline character::Character Block() {
  return Parse(R"({"name": "block", "mass": 2, "inertia": [0.0333, 0.0533, 0.0333], "position": [0, 0.1, 0],
                   "shapes": [{"box": [0.4, 0.2, 0.4]}]})",
               "");
}

inline constexpr double kArmMass = 2;        // [kg]
inline constexpr double kArmInertia = 0.06;  // about the center of mass, across the arm [kg m^2]
inline constexpr double kArmDistance = 0.3;  // from the joint to the center of mass [m]

/// An arm along x on a post so heavy and wide that the arm cannot move it. The joint's z axis is the one that gravity
/// turns.
inline character::Character ArmOnPost(const std::string& type, double kp, double kd, double post_mass = 2000) {
  const std::string axes = type == "hinge" ? R"("axis": "z", "strength_scale": 1, "window": 0)"
                                           : R"("strength_scale": [1, 1, 1], "window": [0, 0, 0])";
  return Parse(R"({"name": "post", "mass": )" + io::Number(post_mass) + R"(, "inertia": [1e4, 1e4, 1e4],
                   "position": [0, 1, 0], "shapes": [{"box": [4, 2, 4]}]},
                  {"name": "arm", "mass": 2, "inertia": [0.005, 0.06, 0.06], "position": [2.8, 1.8, 0],
                   "shapes": [{"capsule": {"radius": 0.05, "length": 0.5, "axis": "x"}}]})",
               R"({"name": "shoulder", "parent": "post", "child": "arm", "type": ")" + type +
                   R"(", "anchor": [2.5, 1.8, 0], "kp": )" + io::Number(kp) + R"(, "kd": )" + io::Number(kd) + ", " +
                   axes + "}");
}

inline character::Character Human() {
  return character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
}

using character::RestPose;
using character::StateOf;

/// Every body moves as a part of one rigid body.
inline void SetRigidMotion(const character::Character& character, const Vec3& velocity, const Vec3& spin,
                           character::State& state) {
  const Vec3 center = character::CenterOfMass(character, state);
  for (auto& body : state) {
    body.angular_velocity = spin;
    body.linear_velocity = velocity + spin.cross(body.position - center);
  }
}

inline std::vector<JointCommand> RestTargets(const character::Character& character) {
  return std::vector<JointCommand>(character.joints.size());
}

/// Targets that sway: every joint on its own course, a pure function of time.
inline std::vector<JointCommand> SwayingTargets(const character::Character& character, double time, double amplitude) {
  std::vector<JointCommand> targets;
  for (size_t j = 0; j < character.joints.size(); ++j) {
    Vec3 turn = Vec3::Zero();
    for (int a = 0; a < 3; ++a) {
      if (!character.joints[j].UsesAxis(a)) continue;
      turn[a] = amplitude * std::sin(5 * time * (1 + 0.13 * static_cast<double>(j)) + 2.1 * a);
    }
    targets.push_back({FromRotationVector(turn)});
  }
  return targets;
}

/// Bends arms and legs so that bodies touch one another.
inline void CurlUp(const character::Character& human, character::Pose& pose) {
  for (const char* side : {"left", "right"}) {
    const double sign = side[0] == 'l' ? 1 : -1;
    const auto joint = [&](const char* name) { return static_cast<size_t>(human.FindJoint(std::string(side) + name)); };
    pose.joint_rotations[joint("_hip")] = AxisRotation(0, -1.9);
    pose.joint_rotations[joint("_knee")] = AxisRotation(0, 2.2);
    pose.joint_rotations[joint("_shoulder")] = AxisRotation(1, -1.2 * sign);
    pose.joint_rotations[joint("_elbow")] = AxisRotation(1, -1.3 * sign);
  }
}

/// Standing, and a fall onto the floor that touches it with everything: the states that a search meets.
struct Scene {
  std::string name;
  character::State start;
};

inline std::vector<Scene> Scenes(const character::Character& human) {
  std::vector<Scene> scenes;
  scenes.push_back({"stand", StateOf(human, RestPose(human))});
  character::Pose pose = RestPose(human);
  pose.root_position = Vec3(0, 0.35, 0);
  pose.root_orientation = AxisRotation(0, -1.4);
  scenes.push_back({"fall", StateOf(human, pose)});
  SetRigidMotion(human, Vec3(0.8, -1.5, 0.4), Vec3(0.3, 1, -2), scenes.back().start);
  CurlUp(human, pose);
  pose.root_position = Vec3(0, 0.5, 0);
  scenes.push_back({"curled", StateOf(human, pose)});
  SetRigidMotion(human, Vec3(0.3, -1, 0), Vec3(2, 0, 1), scenes.back().start);
  pose.root_position = Vec3(0, 5, 0);
  scenes.push_back({"air", StateOf(human, pose)});
  SetRigidMotion(human, Vec3(0.3, 1, 0.2), Vec3(2, 3, 1), scenes.back().start);
  return scenes;
}

inline bool SameBits(const character::State& a, const character::State& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(character::BodyState)) == 0;
}

}  // namespace retrace::simulation
