/// Motions of the human written down as functions of time.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/character/reference_motion.h"
#include "retrace/math/rotation.h"

namespace retrace::task {

inline const character::Character& Human() {
  static const character::Character human =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  return human;
}

inline size_t JointIndex(const std::string& name) {
  return static_cast<size_t>(Human().FindJoint(name));
}
inline size_t BodyIndex(const std::string& name) {
  return static_cast<size_t>(Human().FindBody(name));
}

/// Upright, arms hanging.
inline character::Pose StandingPose() {
  character::Pose pose;
  pose.root_position = Human().bodies[static_cast<size_t>(Human().root)].rest_position;
  pose.joint_rotations.assign(Human().joints.size(), Quat::Identity());
  pose.joint_rotations[JointIndex("left_shoulder")] = AxisRotation(2, -1.3);
  pose.joint_rotations[JointIndex("right_shoulder")] = AxisRotation(2, 1.3);
  return pose;
}

/// Thighs turned forward by `thigh` [rad], the feet where they are and flat.
inline character::Pose SquatPose(double thigh) {
  constexpr double kThigh = 0.42;
  constexpr double kShin = 0.405;
  const double shin = std::asin(kThigh / kShin * std::sin(thigh));
  character::Pose pose = StandingPose();
  pose.root_position.y() -= kThigh * (1 - std::cos(thigh)) + kShin * (1 - std::cos(shin));
  for (const std::string side : {"left", "right"}) {
    pose.joint_rotations[JointIndex(side + "_hip")] = AxisRotation(0, -thigh);
    pose.joint_rotations[JointIndex(side + "_knee")] = AxisRotation(0, thigh + shin);
    pose.joint_rotations[JointIndex(side + "_ankle")] = AxisRotation(0, -shin);
  }
  return pose;
}

using Course = std::function<character::Pose(double time)>;

inline std::vector<character::Pose> Sampled(const Course& course, double duration, double frame_time = 1.0 / 120) {
  std::vector<character::Pose> poses;
  const int last = static_cast<int>(std::lround(duration / frame_time));
  for (int f = 0; f <= last; ++f) poses.push_back(course(f * frame_time));
  return poses;
}

inline character::ReferenceMotion Motion(const Course& course, double duration) {
  return character::ReferenceMotion(Human(), 1.0 / 120, Sampled(course, duration), 1.0 / 60);
}

inline character::Pose Standing(double) {
  return StandingPose();
}

/// Down and up once in 1.6 s.
inline character::Pose Squatting(double time) {
  return SquatPose(0.35 * (1 - std::cos(2 * kPi * time / 1.6)) + 0.02);
}

/// Two hops with 0.3 s in the air each.
inline character::Pose Hopping(double time) {
  constexpr double kFlight = 0.3;
  character::Pose pose = StandingPose();
  const double t = std::fmod(time, 0.7) - 0.3;
  if (t > 0 && t < kFlight) pose.root_position.y() += 0.5 * 9.81 * t * (kFlight - t);
  return pose;
}

/// The lowest point of the bodies whose segment ends with one of the words; of all without words.
inline double Lowest(const character::Pose& pose, const std::vector<std::string>& words = {}) {
  character::State state;
  character::ForwardKinematics(Human(), pose, state);
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t b = 0; b < state.size(); ++b) {
    bool counts = words.empty();
    for (const std::string& word : words) counts |= Human().bodies[b].segment.ends_with(word);
    if (counts) lowest = std::min(lowest, character::LowestPoint(Human().bodies[b], state[b]));
  }
  return lowest;
}

inline character::Pose OnTheFloor(character::Pose pose) {
  pose.root_position.y() -= Lowest(pose);
  return pose;
}

/// Leaning ahead about the ankles, arms stretched ahead and down.
inline character::Pose LeaningPose(double angle) {
  character::Pose pose = StandingPose();
  pose.root_orientation = AxisRotation(0, angle);
  for (const std::string side : {"left", "right"}) {
    pose.joint_rotations[JointIndex(side + "_ankle")] = AxisRotation(0, -angle);
    Quat& shoulder = pose.joint_rotations[JointIndex(side + "_shoulder")];
    shoulder = AxisRotation(0, -1.0) * shoulder;
  }
  return OnTheFloor(pose);
}

/// From lying on the back to standing.
inline character::Pose GettingUp(double time) {
  character::Pose pose = StandingPose();
  pose.root_orientation = AxisRotation(0, -kPi / 2 * (1 - std::clamp(time - 0.5, 0.0, 1.0)));
  return OnTheFloor(pose);
}

/// On the hands, the trunk nearly level and off the floor.
inline character::Pose Crawling(double time) {
  character::Pose pose = StandingPose();
  pose.root_orientation = AxisRotation(0, 1.35);
  pose.root_position.z() = 0.3 * time;
  pose.joint_rotations[JointIndex("left_shoulder")] = AxisRotation(1, -kPi / 2);
  pose.joint_rotations[JointIndex("right_shoulder")] = AxisRotation(1, kPi / 2);
  return OnTheFloor(pose);
}

/// Lying, over the side once around.
inline character::Pose Rolling(double time) {
  character::Pose pose = StandingPose();
  pose.root_orientation = AxisRotation(2, 2 * kPi * time) * AxisRotation(0, -kPi / 2);
  return OnTheFloor(pose);
}

/// Forward over the head and back to the feet.
inline character::Pose Somersaulting(double time) {
  character::Pose pose = SquatPose(1.2);
  pose.root_orientation = AxisRotation(0, 2 * kPi * std::min(1.0, time));
  if (time > 1) pose = StandingPose();
  return OnTheFloor(pose);
}

}  // namespace retrace::task
