/// A character of two bodies and motions whose numbers can be written down by hand.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "retrace/character/character.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/control.h"
#include "retrace/math/rotation.h"

namespace retrace::results {

/// A trunk of 3 kg and a left arm of 1 kg on a hinge about x, and a ball-jointed head of 1 kg.
inline character::Character SmallCharacter() {
  return character::ParseCharacter(io::ParseJson(R"({
    "format": "retrace-character", "version": 1, "name": "small", "height": 1.6,
    "bodies": [
      {"name": "trunk", "mass": 3, "inertia": [0.1, 0.1, 0.1], "position": [0, 1, 0], "shapes": [{"box": [0.3, 0.6, 0.2]}]},
      {"name": "left_arm", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0.25, 1, 0],
       "shapes": [{"capsule": {"radius": 0.05, "length": 0.4, "axis": "y"}}]},
      {"name": "head", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0, 1.45, 0],
       "shapes": [{"capsule": {"radius": 0.1, "length": 0.1, "axis": "y"}}]}
    ],
    "joints": [
      {"name": "left_shoulder", "parent": "trunk", "child": "left_arm", "type": "hinge", "axis": "x",
       "anchor": [0.25, 1.25, 0], "kp": 100, "kd": 10, "strength_scale": 1, "window": 0.1},
      {"name": "neck", "parent": "trunk", "child": "head", "type": "ball", "anchor": [0, 1.3, 0],
       "kp": 100, "kd": 10, "strength_scale": [1, 1, 1], "window": [0.1, 0.1, 0.1]}
    ],
    "end_effectors": ["left_arm"], "no_self_collision": [], "contact_presets": {"none": {}}
  })",
                                                 "small.json"),
                                   "small.json");
}

/// The whole figure glides along `velocity` and swings its arm, `steps` steps of 1/100 s.
inline control::Trajectory Glide(const character::Character& character, int steps, const Vec3& velocity) {
  control::Trajectory trajectory;
  trajectory.time_step = 0.01;
  for (int i = 0; i <= steps; ++i) {
    character::Pose pose;
    pose.root_position = Vec3(0, 1, 0) + 0.01 * i * velocity;
    pose.joint_rotations.assign(character.joints.size(), Quat::Identity());
    pose.joint_rotations[0] = AxisRotation(0, 0.5 * std::sin(0.1 * i));
    character::State state;
    character::ForwardKinematics(character, pose, state);
    for (auto& body : state) body.linear_velocity = velocity;
    trajectory.states.push_back(state);
    if (i == 0) continue;
    trajectory.contacts.emplace_back();
    trajectory.torques.emplace_back(character.joints.size(), Vec3::Zero());
  }
  return trajectory;
}

}  // namespace retrace::results
