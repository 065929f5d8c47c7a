/// Random motions of random trees.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/motion/clip.h"

namespace retrace::motion::laws {

inline Vec3 RandomVector(RandomStream& random, double size) {
  return {random.Uniform(-size, size), random.Uniform(-size, size), random.Uniform(-size, size)};
}

inline Quat RandomRotation(RandomStream& random) {
  const double kind = random.Uniform();
  if (kind < 0.2) return Quat::Identity();
  if (kind < 0.5) {
    // Near or at gimbal lock of the order ZXY (x at 90 degrees) or ZYX (y at 90 degrees).
    const double off = kind < 0.35 ? 0 : std::pow(10, random.Uniform(-16, -3));
    const double quarter = (random.Uniform() < 0.5 ? -1 : 1) * (kPi / 2 + off);
    const double outer = random.Uniform(-4, 4), inner = random.Uniform() < 0.5 ? 0 : random.Uniform(-4, 4);
    if (random.Uniform() < 0.5) return AxisRotation(2, outer) * AxisRotation(0, quarter) * AxisRotation(1, inner);
    return AxisRotation(2, outer) * AxisRotation(1, quarter) * AxisRotation(0, inner);
  }
  return FromRotationVector(RandomVector(random, 3));
}

/// A motion of few frames on a random tree: offsets that are zero or shared, end sites, joints that move.
inline Clip RandomClip(uint64_t seed, int joint_count, bool root_named_root) {
  RandomStream random(seed, RandomStage::kTest, 0, 0);
  Clip clip;
  clip.frame_time = random.Uniform(1e-3, 0.1);
  const double size = std::pow(10, random.Uniform(-2, 3));
  auto& joints = clip.skeleton.joints;
  joints.push_back({root_named_root ? "root" : "mixamorig:Hips", -1, RandomVector(random, size), false});
  std::vector<bool> moves{true};
  std::vector<int> end_sites(static_cast<size_t>(joint_count), 0);
  while (static_cast<int>(joints.size()) < joint_count) {
    const auto index = joints.size();
    auto parent = static_cast<size_t>(random.Uniform(0, static_cast<double>(index)));
    while (joints[parent].end_site) --parent;
    Joint joint;
    joint.parent = static_cast<int>(parent);
    joint.end_site = random.Uniform() < 0.2;
    joint.name = "Joint " + std::to_string(index);
    if (joint.end_site) {
      joint.name = joints[parent].name + "_end";
      if (++end_sites[parent] > 1) joint.name += std::to_string(end_sites[parent]);
    }
    const double kind = random.Uniform();
    joint.offset = index == 1 || kind < 0.5 ? RandomVector(random, size) : Vec3(Vec3::Zero());
    if (kind > 0.75) {
      for (const Joint& other : joints) {
        if (other.parent == joint.parent) joint.offset = other.offset;
      }
    }
    joints.push_back(joint);
    moves.push_back(!joint.end_site && random.Uniform() < 0.2);
  }
  for (int f = 0; f < 3; ++f) {
    Frame& frame = clip.frames.emplace_back();
    for (size_t j = 0; j < joints.size(); ++j) {
      frame.translations.push_back(moves[j] ? RandomVector(random, size) : joints[j].offset);
      frame.rotations.push_back(joints[j].end_site ? Quat(Quat::Identity()) : RandomRotation(random));
    }
  }
  return clip;
}

}  // namespace retrace::motion::laws
