#include "retrace/motion/clip.h"

namespace retrace::motion {

int Skeleton::Find(const std::string& name) const {
  for (size_t j = 0; j < joints.size(); ++j) {
    if (!joints[j].end_site && joints[j].name == name) return static_cast<int>(j);
  }
  return -1;
}

Clip Mirrored(Clip clip) {
  for (Joint& joint : clip.skeleton.joints) joint.offset.x() = -joint.offset.x();
  for (StatedMass& mass : clip.masses) {
    mass.center.x() = -mass.center.x();
    const Vec3 signs(-1, 1, 1);
    mass.inertia = (signs.asDiagonal() * mass.inertia * signs.asDiagonal()).eval();
  }
  for (Frame& frame : clip.frames) {
    for (Vec3& translation : frame.translations) translation.x() = -translation.x();
    for (Quat& q : frame.rotations) q = Quat(q.w(), q.x(), -q.y(), -q.z());
  }
  return clip;
}

void ForwardKinematics(const Skeleton& skeleton, const Frame& frame, GlobalPose& pose) {
  const size_t count = skeleton.joints.size();
  pose.positions.resize(count);
  pose.orientations.resize(count);
  for (size_t j = 0; j < count; ++j) {
    const int parent = skeleton.joints[j].parent;
    if (parent < 0) {
      pose.positions[j] = frame.translations[j];
      pose.orientations[j] = frame.rotations[j];
    } else {
      pose.positions[j] = pose.positions[parent] + pose.orientations[parent] * frame.translations[j];
      pose.orientations[j] = pose.orientations[parent] * frame.rotations[j];
    }
  }
}

}  // namespace retrace::motion
