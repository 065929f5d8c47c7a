#include "retrace/robots/joint_motion.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "our_axes.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/error.h"
#include "retrace/io/nearest_words.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::robots {
namespace {

using character::Character;
using character::Joint;

constexpr double kBeyond = 0.05;  // by which an angle may exceed its range without a doubt [rad]

std::string Lower(const std::string& text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// A joint of a name, also without `_joint` at its end, or with the words that tables add.
int FindHinge(const Character& character, const std::string& column) {
  const std::string wanted = Lower(column);
  for (const int j : HingesOf(character)) {
    const std::string name = Lower(character.joints[static_cast<size_t>(j)].name);
    const std::string brief = name.ends_with("_joint") ? name.substr(0, name.size() - 6) : name;
    for (const char* const ending : {"", "_dof", "_pos", "_position", "_joint"}) {
      if (wanted == name + ending || wanted == brief + ending) return j;
    }
  }
  return -1;
}

std::vector<int> JointsOfColumns(const recordings::JointTable& table, const Character& character,
                                 const std::string& name) {
  std::vector<int> hinges = HingesOf(character);
  if (table.joints.empty()) return hinges;
  std::vector<int> joints;
  for (const std::string& column : table.joints) {
    joints.push_back(FindHinge(character, column));
    if (joints.back() >= 0) continue;
    std::vector<std::string> names;
    for (const int j : hinges) names.push_back(character.joints[static_cast<size_t>(j)].name);
    const std::string meant = io::DidYouMean(column, names);
    throw InputError(
        name, "a column \"" + column + "\"",
        meant.empty() ? "the names of joints of " + character.name + ": " + names.front() + ", ..." : meant);
  }
  return joints;
}

}  // namespace

std::vector<int> HingesOf(const Character& character) {
  std::vector<int> hinges;
  for (const io::Json& entry : (*character.json)["joints"]) {
    const int j = character.FindJoint(entry["name"].get<std::string>());
    if (j >= 0 && character.joints[static_cast<size_t>(j)].type == character::JointType::kHinge) hinges.push_back(j);
  }
  return hinges;
}

RootFrame RootFrameOf(const Character& character) {
  RootFrame frame;
  frame.position = character.bodies[static_cast<size_t>(character.root)].rest_position;
  const io::Json& document = *character.json;
  if (!document.contains("root_frame")) return frame;
  const io::Json& stored = document["root_frame"];
  for (size_t i = 0; i < 3; ++i) frame.position[static_cast<Eigen::Index>(i)] = stored["position"][i].get<double>();
  if (stored.contains("rotation")) {
    const auto q = [&](size_t i) { return stored["rotation"][i].get<double>(); };
    frame.rotation = Quat(q(0), q(1), q(2), q(3)).normalized();
  }
  return frame;
}

Vec3 ToFileAxes(const Vec3& vector) {
  return {vector.z(), vector.x(), vector.y()};
}
Quat ToFileAxes(const Quat& rotation) {
  return {rotation.w(), rotation.z(), rotation.x(), rotation.y()};
}

motion::Clip ClipOfJoints(const recordings::JointTable& table, const Character& character, const std::string& name) {
  const std::vector<int> joints = JointsOfColumns(table, character, name);
  const RootFrame frame = RootFrameOf(character);
  const Vec3 to_center = character.bodies[static_cast<size_t>(character.root)].rest_position - frame.position;
  const Mat3& turn = ToOurAxes();
  std::vector<character::Pose> poses;
  std::vector<double> beyond(joints.size(), 0);
  for (size_t f = 0; f < table.root_positions.size(); ++f) {
    character::Pose& pose = poses.emplace_back();
    const Mat3 rotation =
        turn * (table.root_orientations[f] * frame.rotation.conjugate()).toRotationMatrix() * turn.transpose();
    pose.root_orientation = Quat(rotation);
    pose.root_position = turn * table.root_positions[f] + rotation * to_center;
    pose.joint_rotations.assign(character.joints.size(), Quat::Identity());
    for (size_t c = 0; c < joints.size(); ++c) {
      const Joint& joint = character.joints[static_cast<size_t>(joints[c])];
      const double angle = table.angles(static_cast<Eigen::Index>(f), static_cast<Eigen::Index>(c));
      pose.joint_rotations[static_cast<size_t>(joints[c])] = FromRotationVector(angle * joint.direction());
      if (joint.range) {
        beyond[c] = std::max({beyond[c], joint.range->first - angle, angle - joint.range->second});
      }
    }
  }
  motion::Clip clip = character::ClipOf(character, poses, table.frame_time);
  clip.frame_time_known = table.frame_time_known;
  clip.notes = table.notes;
  for (size_t c = 0; c < joints.size(); ++c) {
    if (beyond[c] <= kBeyond) continue;
    clip.doubts.push_back(character.joints[static_cast<size_t>(joints[c])].name + " exceeds its range by " +
                          io::Fixed(beyond[c], 2) + " rad");
  }
  return clip;
}

}  // namespace retrace::robots
