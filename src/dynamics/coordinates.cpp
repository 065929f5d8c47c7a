#include "retrace/dynamics/coordinates.h"

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::dynamics {

using character::BodyState;
using character::Joint;
using character::JointType;
using character::Pose;
using character::State;

namespace {

/// The part of a joint as a vector in the parent's axes.
Vec3 VectorOf(const Joint& joint, int first, const Eigen::Ref<const Eigen::VectorXd>& values) {
  if (joint.type == JointType::kBall) return values.segment<3>(first);
  return values[first] * joint.direction();
}

void SetVector(const Joint& joint, int first, const Vec3& vector, Eigen::Ref<Eigen::VectorXd> values) {
  if (joint.type == JointType::kBall) {
    values.segment<3>(first) = vector;
  } else {
    values[first] = joint.Along(vector);
  }
}

}  // namespace

Coordinates::Coordinates(const character::Character& character) : character_(&character), size_(6) {
  for (const Joint& joint : character.joints) {
    first_.push_back(size_);
    size_ += joint.num_axes();
  }
}

void Coordinates::PoseOf(const State& state, Pose& pose) const {
  character::PoseOf(*character_, state, pose);
  pose.root_orientation.normalize();
  for (size_t j = 0; j < character_->joints.size(); ++j) {
    const Joint& joint = character_->joints[j];
    Quat& rotation = pose.joint_rotations[j];
    rotation.normalize();
    if (joint.type == JointType::kHinge) rotation = Twist(rotation, joint.direction());
  }
}

void Coordinates::VelocityOf(const State& state, Eigen::Ref<Eigen::VectorXd> velocity) const {
  const BodyState& root = state[static_cast<size_t>(character_->root)];
  velocity.head<3>() = root.linear_velocity;
  velocity.segment<3>(3) = root.angular_velocity;
  for (size_t j = 0; j < character_->joints.size(); ++j) {
    const Joint& joint = character_->joints[j];
    SetVector(joint, first_[j], character::RelativeRate(joint, state), velocity);
  }
}

void Coordinates::StateOf(const Pose& pose, const Eigen::Ref<const Eigen::VectorXd>& velocity, State& state) const {
  character::ForwardKinematics(*character_, pose, state);
  BodyState& root = state[static_cast<size_t>(character_->root)];
  root.linear_velocity = velocity.head<3>();
  root.angular_velocity = velocity.segment<3>(3);
  for (size_t j = 0; j < character_->joints.size(); ++j) {
    const Joint& joint = character_->joints[j];
    const BodyState& parent = state[static_cast<size_t>(joint.parent)];
    BodyState& child = state[static_cast<size_t>(joint.child)];
    const Vec3 anchor = character::JointPosition(*character_, joint, state);
    child.angular_velocity = parent.angular_velocity + parent.orientation * VectorOf(joint, first_[j], velocity);
    child.linear_velocity = parent.linear_velocity + parent.angular_velocity.cross(Vec3(anchor - parent.position)) +
                            child.angular_velocity.cross(Vec3(child.position - anchor));
  }
}

void Coordinates::Advance(const Eigen::Ref<const Eigen::VectorXd>& displacement, Pose& pose) const {
  pose.root_position += displacement.head<3>();
  pose.root_orientation = FromRotationVector(displacement.segment<3>(3)) * pose.root_orientation;
  pose.root_orientation.normalize();
  for (size_t j = 0; j < character_->joints.size(); ++j) {
    Quat& rotation = pose.joint_rotations[j];
    rotation = FromRotationVector(VectorOf(character_->joints[j], first_[j], displacement)) * rotation;
    rotation.normalize();
  }
}

void Coordinates::Difference(const Pose& from, const Pose& to, Eigen::Ref<Eigen::VectorXd> displacement) const {
  displacement.head<3>() = to.root_position - from.root_position;
  displacement.segment<3>(3) = RotationVector(to.root_orientation * from.root_orientation.conjugate());
  for (size_t j = 0; j < character_->joints.size(); ++j) {
    SetVector(character_->joints[j], first_[j],
              RotationVector(to.joint_rotations[j] * from.joint_rotations[j].conjugate()), displacement);
  }
}

}  // namespace retrace::dynamics
