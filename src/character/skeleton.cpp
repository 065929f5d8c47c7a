#include "retrace/character/skeleton.h"

#include "retrace/io/error.h"

namespace retrace::character {
namespace {

/// Where the tip of a body's last shape is, from the joint that moves the body: where a viewer draws the bone's end.
Vec3 TipOffset(const Character& character, int body) {
  const Body& b = character.bodies[static_cast<size_t>(body)];
  const int joint = character.JointOf(body);
  const Vec3 base = joint < 0 ? b.rest_position : character.joints[static_cast<size_t>(joint)].anchor;
  Vec3 to_center = b.rest_position - base;
  if (!b.shapes.empty()) to_center += b.shapes.back().offset;
  return 2 * to_center;
}

}  // namespace

motion::Skeleton SkeletonOf(const Character& character) {
  motion::Skeleton skeleton;
  std::vector<int> joint_index(character.bodies.size(), -1);
  // Depth first, as a BVH file is written: the skeleton's order is then the file's order.
  const auto add = [&](const auto& self, int body) -> void {
    const int joint = character.JointOf(body);
    motion::Joint entry;
    entry.name = character.bodies[static_cast<size_t>(body)].name;
    if (joint >= 0) {
      const Joint& j = character.joints[static_cast<size_t>(joint)];
      entry.parent = joint_index[static_cast<size_t>(j.parent)];
      const int above = character.JointOf(j.parent);
      const Vec3 base = above < 0 ? character.bodies[static_cast<size_t>(j.parent)].rest_position
                                  : character.joints[static_cast<size_t>(above)].anchor;
      entry.offset = j.anchor - base;
    } else {
      entry.offset = character.bodies[static_cast<size_t>(body)].rest_position;
    }
    joint_index[static_cast<size_t>(body)] = static_cast<int>(skeleton.joints.size());
    skeleton.joints.push_back(entry);
    bool leaf = true;
    for (const Joint& j : character.joints) {
      if (j.parent != body) continue;
      leaf = false;
      self(self, j.child);
    }
    if (leaf) {
      motion::Joint tip;
      tip.name = entry.name + "_end";
      tip.parent = joint_index[static_cast<size_t>(body)];
      tip.offset = TipOffset(character, body);
      tip.end_site = true;
      skeleton.joints.push_back(tip);
    }
  };
  add(add, character.root);
  return skeleton;
}

motion::Frame FrameOf(const Character& character, const motion::Skeleton& skeleton, const Pose& pose) {
  motion::Frame frame;
  for (const motion::Joint& joint : skeleton.joints) {
    frame.translations.push_back(joint.offset);
    const int body = joint.end_site ? -1 : character.FindBody(joint.name);
    const int mover = body < 0 ? -1 : character.JointOf(body);
    frame.rotations.push_back(body < 0    ? Quat(Quat::Identity())
                              : mover < 0 ? pose.root_orientation
                                          : pose.joint_rotations[static_cast<size_t>(mover)]);
  }
  frame.translations[0] = pose.root_position;
  return frame;
}

motion::Clip ClipOf(const Character& character, const std::vector<Pose>& poses, double frame_time) {
  motion::Clip clip;
  clip.skeleton = SkeletonOf(character);
  clip.frame_time = frame_time;
  clip.unit = 1;
  for (const Pose& pose : poses) clip.frames.push_back(FrameOf(character, clip.skeleton, pose));
  return clip;
}

std::vector<Pose> PosesOf(const Character& character, const motion::Clip& clip, const std::string& name) {
  std::vector<size_t> index(character.bodies.size());
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const int joint = clip.skeleton.Find(character.bodies[b].name);
    if (joint < 0) {
      throw InputError(name, "no joint \"" + character.bodies[b].name + "\"",
                       "the skeleton of the character \"" + character.name + "\"");
    }
    index[b] = static_cast<size_t>(joint);
  }
  std::vector<Pose> poses;
  for (const motion::Frame& frame : clip.frames) {
    Pose pose;
    pose.root_position = frame.translations[index[static_cast<size_t>(character.root)]];
    pose.root_orientation = frame.rotations[index[static_cast<size_t>(character.root)]];
    for (const Joint& joint : character.joints) {
      pose.joint_rotations.push_back(frame.rotations[index[static_cast<size_t>(joint.child)]]);
    }
    poses.push_back(std::move(pose));
  }
  return poses;
}

}  // namespace retrace::character
