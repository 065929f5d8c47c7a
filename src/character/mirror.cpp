#include "retrace/character/mirror.h"

#include <cmath>
#include <string>
#include <utility>

namespace retrace::character {
namespace {

constexpr double kSame = 1e-6;  // [m], and share of masses

std::string OtherSide(const std::string& name) {
  if (name.starts_with("left_")) return "right_" + name.substr(5);
  if (name.starts_with("right_")) return "left_" + name.substr(6);
  return name;
}

Vec3 Reflected(const Vec3& place) {
  return {-place.x(), place.y(), place.z()};
}

/// S R S, with S the reflection.
Quat Reflected(const Quat& rotation) {
  return {rotation.w(), rotation.x(), -rotation.y(), -rotation.z()};
}

bool Near(const Vec3& a, const Vec3& b) {
  return (a - b).norm() < kSame;
}

/// Whether a hinge turns about the image of the other's axis, to whichever side.
bool SameAxis(const Joint& joint, const Joint& image) {
  if (!joint.oblique && !image.oblique) return joint.axis == image.axis;
  return image.direction().cross(Reflected(joint.direction())).norm() < kSame;
}

}  // namespace

std::optional<Mirror> Mirror::Of(const Character& character) {
  Mirror mirror;
  for (const Body& body : character.bodies) {
    const int other = character.FindBody(OtherSide(body.name));
    if (other < 0) return {};
    const Body& image = character.bodies[static_cast<size_t>(other)];
    if (std::abs(image.mass - body.mass) > kSame * body.mass ||
        !Near(image.rest_position, Reflected(body.rest_position))) {
      return {};
    }
    mirror.bodies_.push_back(other);
  }
  for (const Joint& joint : character.joints) {
    const int other = character.JointOf(mirror.BodyOf(joint.child));
    if (other < 0) return {};
    const Joint& image = character.joints[static_cast<size_t>(other)];
    if (image.parent != mirror.BodyOf(joint.parent) || image.type != joint.type || !SameAxis(joint, image) ||
        !Near(image.anchor, Reflected(joint.anchor))) {
      return {};
    }
    mirror.joints_.push_back(static_cast<size_t>(other));
  }
  return mirror;
}

Pose Mirror::Image(const Pose& pose) const {
  Pose image;
  image.root_position = Reflected(pose.root_position);
  image.root_orientation = Reflected(pose.root_orientation);
  image.joint_rotations.reserve(joints_.size());
  for (const size_t joint : joints_) image.joint_rotations.push_back(Reflected(pose.joint_rotations[joint]));
  return image;
}

ReferenceMotion Mirror::Image(const ReferenceMotion& motion) const {
  std::vector<Pose> poses;
  poses.reserve(motion.poses().size());
  for (const Pose& pose : motion.poses()) poses.push_back(Image(pose));
  return motion.WithPoses(std::move(poses));
}

}  // namespace retrace::character
