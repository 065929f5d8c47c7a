#include "retrace/character/kinematics.h"

#include <cmath>
#include <limits>

#include "retrace/math/rotation.h"

namespace retrace::character {

void ForwardKinematics(const Character& character, const Pose& pose, State& state) {
  state.resize(character.bodies.size());
  auto& root = state[static_cast<size_t>(character.root)];
  root.position = pose.root_position;
  root.orientation = pose.root_orientation;
  for (size_t j = 0; j < character.joints.size(); ++j) {
    const Joint& joint = character.joints[j];
    const auto& parent = state[static_cast<size_t>(joint.parent)];
    auto& child = state[static_cast<size_t>(joint.child)];
    child.orientation = parent.orientation * pose.joint_rotations[j];
    child.orientation.normalize();
    child.position =
        JointPosition(character, joint, state) -
        child.orientation * (joint.anchor - character.bodies[static_cast<size_t>(joint.child)].rest_position);
  }
}

void PoseOf(const Character& character, const State& state, Pose& pose) {
  const auto& root = state[static_cast<size_t>(character.root)];
  pose.root_position = root.position;
  pose.root_orientation = root.orientation;
  pose.joint_rotations.resize(character.joints.size());
  for (size_t j = 0; j < character.joints.size(); ++j) {
    pose.joint_rotations[j] = JointRotation(character.joints[j], state);
  }
}

void MoveTowards(const Pose& from, const Pose& to, double share, Pose& pose) {
  const auto turn = [&](const Quat& before, const Quat& after, Quat& now) {
    now = (FromRotationVector(share * RotationVector(after * before.conjugate())) * now).normalized();
  };
  pose.root_position += share * (to.root_position - from.root_position);
  turn(from.root_orientation, to.root_orientation, pose.root_orientation);
  for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
    turn(from.joint_rotations[j], to.joint_rotations[j], pose.joint_rotations[j]);
  }
}

Vec3 JointPosition(const Character& character, const Joint& joint, const State& state) {
  const auto& parent = state[static_cast<size_t>(joint.parent)];
  return parent.position +
         parent.orientation * (joint.anchor - character.bodies[static_cast<size_t>(joint.parent)].rest_position);
}

Vec3 CenterOfMass(const Character& character, const State& state) {
  Vec3 sum = Vec3::Zero();
  double mass = 0;
  for (size_t i = 0; i < character.bodies.size(); ++i) {
    sum += character.bodies[i].mass * state[i].position;
    mass += character.bodies[i].mass;
  }
  return sum / mass;
}

Vec3 CenterOfMassVelocity(const Character& character, const State& state) {
  Vec3 sum = Vec3::Zero();
  double mass = 0;
  for (size_t i = 0; i < character.bodies.size(); ++i) {
    sum += character.bodies[i].mass * state[i].linear_velocity;
    mass += character.bodies[i].mass;
  }
  return sum / mass;
}

Vec3 AngularMomentum(const Character& character, const State& state) {
  const Vec3 center = CenterOfMass(character, state);
  const Vec3 velocity = CenterOfMassVelocity(character, state);
  Vec3 momentum = Vec3::Zero();
  for (size_t i = 0; i < character.bodies.size(); ++i) {
    const Body& body = character.bodies[i];
    Quat q = state[i].orientation;
    if (body.turned) q = q * Quat(body.principal_axes);
    const Vec3 local_rate = q.conjugate() * state[i].angular_velocity;
    momentum += q * Vec3(body.inertia.cwiseProduct(local_rate));
    momentum += body.mass * (state[i].position - center).cross(state[i].linear_velocity - velocity);
  }
  return momentum;
}

void DifferenceVelocities(const State& before, const State& after, double duration, State& state) {
  for (size_t i = 0; i < state.size(); ++i) {
    state[i].linear_velocity = (after[i].position - before[i].position) / duration;
    state[i].angular_velocity = RotationVector(after[i].orientation * before[i].orientation.conjugate()) / duration;
  }
}

double LowestPoint(const Body& body, const BodyState& state) {
  double lowest = std::numeric_limits<double>::infinity();
  const Mat3 rotation = state.orientation.toRotationMatrix();
  for (const Shape& shape : body.shapes) {
    const double center = state.position.y() + rotation.row(1).dot(shape.offset);
    if (shape.kind == Shape::Kind::kMesh) {
      for (const Vec3& vertex : shape.mesh.vertices) lowest = std::min(lowest, center + rotation.row(1).dot(vertex));
      continue;
    }
    const double reach = shape.kind == Shape::Kind::kBox
                             ? 0.5 * rotation.row(1).cwiseAbs().dot(shape.size)
                             : 0.5 * shape.length * std::abs(rotation(1, shape.axis)) + shape.radius;
    lowest = std::min(lowest, center - reach);
  }
  return lowest;
}

void Place(const Quat& heading, const Vec3& offset, Pose& pose) {
  pose.root_position = heading * pose.root_position + offset;
  pose.root_orientation = (heading * pose.root_orientation).normalized();
}

void Place(const Quat& heading, const Vec3& offset, State& state) {
  for (BodyState& body : state) {
    body.position = heading * body.position + offset;
    body.orientation = (heading * body.orientation).normalized();
    body.linear_velocity = heading * body.linear_velocity;
    body.angular_velocity = heading * body.angular_velocity;
  }
}

void Translate(State& state, const Vec3& offset) {
  for (auto& body : state) body.position += offset;
}

}  // namespace retrace::character
