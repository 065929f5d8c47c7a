#include "retrace/dynamics/character_dynamics.h"

#include <Eigen/Dense>

namespace retrace::dynamics {
namespace {

using character::Body;
using character::Joint;
using character::JointType;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using VectorIn = const Eigen::Ref<const VectorXd>&;
using VectorOut = Eigen::Ref<VectorXd>;
using MatrixOut = Eigen::Ref<MatrixXd>;

Vec6 Spatial(const Vec3& angular, const Vec3& linear) {
  Vec6 vector;
  vector << angular, linear;
  return vector;
}
Vec3 Angular(const Vec6& vector) {
  return vector.head<3>();
}
Vec3 Linear(const Vec6& vector) {
  return vector.tail<3>();
}

/// v x m of motion vectors (RBDA, section 2.9).
Vec6 CrossMotion(const Vec6& v, const Vec6& m) {
  const Vec3 w = Angular(v);
  return Spatial(w.cross(Angular(m)), w.cross(Linear(m)) + Linear(v).cross(Angular(m)));
}

/// v x* f of a motion and a force vector (RBDA, section 2.9).
Vec6 CrossForce(const Vec6& v, const Vec6& f) {
  const Vec3 w = Angular(v);
  return Spatial(w.cross(Angular(f)) + Linear(v).cross(Linear(f)), w.cross(Linear(f)));
}

Mat3 CrossMatrix(const Vec3& v) {
  Mat3 matrix;
  matrix << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return matrix;
}

/// What a tensor about the center of mass gains about a point that is `away` from it.
Mat3 ParallelAxes(double mass, const Vec3& away) {
  return mass * (away.squaredNorm() * Mat3::Identity() - away * away.transpose());
}

/// Velocity or acceleration of a point, without the product of velocities that belongs to an acceleration.
Vec3 AtPoint(const Vec6& motion, const Vec3& point) {
  return Linear(motion) + Angular(motion).cross(point);
}

}  // namespace

Vec6 CharacterDynamics::SpatialInertia::operator*(const Vec6& motion) const {
  const Vec3 w = Angular(motion), v = Linear(motion);
  return Spatial(tensor * w + moment.cross(v), mass * v - moment.cross(w));
}

CharacterDynamics::SpatialInertia& CharacterDynamics::SpatialInertia::operator+=(const SpatialInertia& other) {
  mass += other.mass;
  moment += other.moment;
  tensor += other.tensor;
  return *this;
}

Mat6 CharacterDynamics::SpatialInertia::Matrix() const {
  const Mat3 cross = CrossMatrix(moment);
  Mat6 matrix;
  matrix << tensor, cross, cross.transpose(), mass * Mat3::Identity();
  return matrix;
}

CharacterDynamics::CharacterDynamics(const character::Character& character, double gravity)
    : coordinates_(character),
      gravity_(gravity),
      planar_(character.planar),
      node_of_(character.bodies.size()),
      velocity_(coordinates_.size()) {
  nodes_.resize(character.bodies.size());
  for (size_t n = 0; n < nodes_.size(); ++n) {
    Node& node = nodes_[n];
    node.body = n == 0 ? character.root : character.joints[n - 1].child;
    node_of_[static_cast<size_t>(node.body)] = n;
    const Body& body = character.bodies[static_cast<size_t>(node.body)];
    node.mass = body.mass;
    node.tensor = body.InertiaTensor();
    if (n == 0) continue;
    const Joint& joint = character.joints[n - 1];  // each after the one that moves its parent
    node.parent = node_of_[static_cast<size_t>(joint.parent)];
    node.hinge = joint.type == JointType::kHinge;
    node.axis = joint.axis;
    node.oblique = joint.oblique;
    node.armature = joint.armature;
    node.first = coordinates_.FirstOf(static_cast<int>(n - 1));
    node.anchor_in_parent = joint.anchor - character.bodies[static_cast<size_t>(joint.parent)].rest_position;
    node.anchor_in_child = joint.anchor - body.rest_position;
  }
  pose_.joint_rotations.resize(character.joints.size());
  pose_.root_position = character.bodies[static_cast<size_t>(character.root)].rest_position;
  velocity_.setZero();
  SetMotion(pose_, velocity_);
}

void CharacterDynamics::SetMotion(const character::State& state) {
  coordinates_.PoseOf(state, pose_);
  coordinates_.VelocityOf(state, velocity_);
  SetMotion(pose_, velocity_);
}

void CharacterDynamics::SetMotion(const character::Pose& pose, VectorIn velocity) {
  SetRoot(pose, velocity);
  SetBody(nodes_[0]);
  for (size_t n = 1; n < nodes_.size(); ++n) {
    SetJoint(pose.joint_rotations[n - 1], velocity, nodes_[n]);
    SetBody(nodes_[n]);
  }
  for (size_t n = nodes_.size(); n-- > 1;) {
    nodes_[nodes_[n].parent].composite += nodes_[n].composite;
    nodes_[nodes_[n].parent].bias_force += nodes_[n].bias_force;
  }
}

/// The first three coordinates are the velocity of a point that moves, and not of one that passes the fixed point.
/// Where their derivatives are zero, the spatial acceleration is therefore -w x v (RBDA, section 2.11).
void CharacterDynamics::SetRoot(const character::Pose& pose, VectorIn velocity) {
  Node& root = nodes_[0];
  origin_ = pose.root_position;
  root.rotation = pose.root_orientation.toRotationMatrix();
  const Vec3 linear = velocity.head<3>(), angular = velocity.segment<3>(3);
  root.velocity = Spatial(angular, linear);
  root.bias = Spatial(Vec3::Zero(), -angular.cross(linear));
}

void CharacterDynamics::SetJoint(const Quat& rotation, VectorIn velocity, Node& node) const {
  const Node& parent = nodes_[node.parent];
  node.rotation = parent.rotation * rotation.toRotationMatrix();
  const Vec3 anchor = parent.center + parent.rotation * node.anchor_in_parent;
  node.center = anchor - node.rotation * node.anchor_in_child;
  Vec6 across;  // velocity of the child relative to the parent
  if (node.hinge) {
    const Vec3 axis = node.oblique ? Vec3(parent.rotation * *node.oblique) : Vec3(parent.rotation.col(node.axis));
    node.subspace.col(0) = Spatial(axis, anchor.cross(axis));
    across = node.subspace.col(0) * velocity[node.first];
  } else {
    node.subspace.topRows<3>() = parent.rotation;
    node.subspace.bottomRows<3>() = CrossMatrix(anchor) * parent.rotation;
    across = node.subspace * velocity.segment<3>(node.first);
  }
  node.velocity = parent.velocity + across;
  node.product = CrossMotion(parent.velocity, across);  // the axes are fixed to the parent
  node.bias = parent.bias + node.product;
}

void CharacterDynamics::SetBody(Node& node) const {
  node.inertia.mass = node.mass;
  node.inertia.moment = node.mass * node.center;
  node.inertia.tensor = node.rotation * node.tensor * node.rotation.transpose() + ParallelAxes(node.mass, node.center);
  node.composite = node.inertia;
  node.bias_force = node.inertia * node.bias + CrossForce(node.velocity, node.inertia * node.velocity);
}

// ---- equations of motion

void CharacterDynamics::MassMatrix(MatrixOut mass) const {
  mass.setZero();
  const Mat6 root = nodes_[0].composite.Matrix();
  mass.block<3, 3>(0, 0) = root.block<3, 3>(3, 3);
  mass.block<3, 3>(0, 3) = root.block<3, 3>(3, 0);
  mass.block<3, 3>(3, 0) = root.block<3, 3>(0, 3);
  mass.block<3, 3>(3, 3) = Mat3(root.block<3, 3>(0, 0).selfadjointView<Eigen::Lower>());  // to the bit
  for (size_t n = 1; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    const int count = node.hinge ? 1 : 3;
    Mat63 force;
    for (int k = 0; k < count; ++k) force.col(k) = node.composite * node.subspace.col(k);
    const auto columns = force.leftCols(count);
    for (const Node* other = &node; other != &nodes_[0]; other = &nodes_[other->parent]) {
      const int rows = other->hinge ? 1 : 3;
      for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < count; ++k) {
          const double entry = other->subspace.col(i).dot(force.col(k));
          mass(other->first + i, node.first + k) = entry;
          mass(node.first + k, other->first + i) = entry;
        }
      }
    }
    if (node.hinge) mass(node.first, node.first) += node.armature;
    mass.block(0, node.first, 3, count) = columns.bottomRows<3>();
    mass.block(3, node.first, 3, count) = columns.topRows<3>();
    mass.block(node.first, 0, count, 3) = columns.bottomRows<3>().transpose();
    mass.block(node.first, 3, count, 3) = columns.topRows<3>().transpose();
  }
}

/// Gravity is an acceleration of the root upwards (RBDA, section 5.3).
void CharacterDynamics::BiasForces(VectorOut forces) const {
  const Vec6 upwards = Spatial(Vec3::Zero(), gravity_ * Vec3::UnitY());
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    const Vec6 force = node.bias_force + node.composite * upwards;
    if (n == 0) {
      forces.head<3>() = Linear(force);
      forces.segment<3>(3) = Angular(force);
    } else if (node.hinge) {
      forces[node.first] = node.subspace.col(0).dot(force);
    } else {
      forces.segment<3>(node.first).noalias() = node.subspace.transpose() * force;
    }
  }
}

Vec6 CharacterDynamics::ForceOf(const Wrench& wrench, const Node& node) const {
  return Spatial(wrench.torque + node.center.cross(wrench.force), wrench.force);
}

void CharacterDynamics::InverseDynamics(VectorIn acceleration, std::span<const Wrench> wrenches, VectorOut forces) {
  for (size_t n = 0; n < nodes_.size(); ++n) {
    Node& node = nodes_[n];
    if (n == 0) {
      node.acceleration =
          node.bias + Spatial(acceleration.segment<3>(3), acceleration.head<3>() + gravity_ * Vec3::UnitY());
    } else {
      node.acceleration = nodes_[node.parent].acceleration + node.product;
      if (node.hinge) {
        node.acceleration += node.subspace.col(0) * acceleration[node.first];
      } else {
        node.acceleration += node.subspace * acceleration.segment<3>(node.first);
      }
    }
    node.force = node.inertia * node.acceleration + CrossForce(node.velocity, node.inertia * node.velocity);
    if (!wrenches.empty()) node.force -= ForceOf(wrenches[static_cast<size_t>(node.body)], node);
  }
  for (size_t n = nodes_.size(); n-- > 1;) {
    const Node& node = nodes_[n];
    if (node.hinge) {
      forces[node.first] = node.subspace.col(0).dot(node.force) + node.armature * acceleration[node.first];
    } else {
      forces.segment<3>(node.first).noalias() = node.subspace.transpose() * node.force;
    }
    nodes_[node.parent].force += node.force;
  }
  forces.head<3>() = Linear(nodes_[0].force);
  forces.segment<3>(3) = Angular(nodes_[0].force);
}

/// U, D and u of the joint, and what its child adds to the articulated inertia and force of the parent.
template <int kAxes>
void CharacterDynamics::EliminateJoint(VectorIn forces, Node& node) {
  using Columns = Eigen::Matrix<double, 6, kAxes>;
  using Square = Eigen::Matrix<double, kAxes, kAxes>;
  using Part = Eigen::Matrix<double, kAxes, 1>;
  const Columns s = node.subspace.leftCols<kAxes>();
  const Columns u = node.articulated * s;
  Square d = s.transpose() * u;
  if constexpr (kAxes == 1) d(0, 0) += node.armature;
  const Square inverse = d.inverse();
  const Part pull = forces.segment<kAxes>(node.first) - s.transpose() * node.force;
  node.projected.leftCols<kAxes>() = u;
  node.inverse.topLeftCorner<kAxes, kAxes>() = inverse;
  node.pull.head<kAxes>() = pull;
  const Columns scaled = u * inverse;
  const Mat6 left = node.articulated - scaled * u.transpose();
  Node& parent = nodes_[node.parent];
  parent.articulated += left;
  parent.force += node.force + left * node.product + scaled * pull;
}

void CharacterDynamics::ForwardDynamics(VectorIn forces, std::span<const Wrench> wrenches, VectorOut acceleration) {
  for (Node& node : nodes_) {
    node.articulated = node.inertia.Matrix();
    node.force = CrossForce(node.velocity, node.inertia * node.velocity);
    if (!wrenches.empty()) node.force -= ForceOf(wrenches[static_cast<size_t>(node.body)], node);
  }
  for (size_t n = nodes_.size(); n-- > 1;) {
    if (nodes_[n].hinge) {
      EliminateJoint<1>(forces, nodes_[n]);
    } else {
      EliminateJoint<3>(forces, nodes_[n]);
    }
  }
  Node& root = nodes_[0];
  const Vec6 force = Spatial(forces.segment<3>(3), forces.head<3>()) - root.force;
  if (planar_) {
    using Columns = Eigen::Matrix<double, 6, 3>;
    const Columns free = RootAxes().leftCols<3>();
    Columns motions;  // the same, angular part first
    motions << free.bottomRows<3>(), free.topRows<3>();
    root.acceleration = root.bias + Spatial(Vec3::Zero(), gravity_ * Vec3::UnitY());
    const Vec3 left = motions.transpose() * (force - root.articulated * root.acceleration);
    root.acceleration += motions * (motions.transpose() * root.articulated * motions).llt().solve(left);
  } else {
    root.acceleration = root.articulated.llt().solve(force);
  }
  const Vec6 change = root.acceleration - root.bias;
  acceleration.head<3>() = Linear(change) - gravity_ * Vec3::UnitY();
  acceleration.segment<3>(3) = Angular(change);
  for (size_t n = 1; n < nodes_.size(); ++n) {
    Node& node = nodes_[n];
    node.acceleration = nodes_[node.parent].acceleration + node.product;
    if (node.hinge) {
      const double rate = node.inverse(0, 0) * (node.pull[0] - node.projected.col(0).dot(node.acceleration));
      acceleration[node.first] = rate;
      node.acceleration += node.subspace.col(0) * rate;
    } else {
      const Vec3 rates = node.inverse * (node.pull - node.projected.transpose() * node.acceleration);
      acceleration.segment<3>(node.first) = rates;
      node.acceleration += node.subspace * rates;
    }
  }
}

Mat6 CharacterDynamics::RootAxes() const {
  Mat6 axes = Mat6::Identity();
  if (!planar_) return axes;
  const Mat3& rotation = nodes_[0].rotation;
  axes.setZero();
  axes.block<3, 2>(0, 0) = rotation.rightCols<2>();
  axes.block<3, 1>(3, 2) = rotation.col(0);
  axes.block<3, 1>(0, 3) = rotation.col(0);
  axes.block<3, 2>(3, 4) = rotation.rightCols<2>();
  return axes;
}

void CharacterDynamics::AddForce(int body, const Vec3& point, const Vec3& force, std::span<Wrench> wrenches) const {
  Wrench& wrench = wrenches[static_cast<size_t>(body)];
  wrench.force += force;
  wrench.torque += (point - CenterOf(body)).cross(force);
}

// ---- bodies

Vec3 CharacterDynamics::CenterOf(int body) const {
  return origin_ + NodeOf(body).center;
}

Mat3 CharacterDynamics::RotationOf(int body) const {
  return NodeOf(body).rotation;
}

Vec3 CharacterDynamics::AngularVelocityOf(int body) const {
  return Angular(NodeOf(body).velocity);
}

Vec3 CharacterDynamics::VelocityOf(int body, const Vec3& point) const {
  return AtPoint(NodeOf(body).velocity, point - origin_);
}

void CharacterDynamics::PointJacobian(int body, const Vec3& point, MatrixOut jacobian) const {
  jacobian.setZero();
  const Vec3 place = point - origin_;
  for (const Node* node = &NodeOf(body); node != &nodes_[0]; node = &nodes_[node->parent]) {
    for (int k = 0; k < (node->hinge ? 1 : 3); ++k) {
      jacobian.col(node->first + k) = AtPoint(node->subspace.col(k), place);
    }
  }
  jacobian.leftCols<3>().setIdentity();
  jacobian.middleCols<3>(3) = -CrossMatrix(place);
}

/// The spatial acceleration is that of the flow of points past the fixed one; a point that is carried along has w x
/// (its velocity) beside it (RBDA, section 2.11).
Vec3 CharacterDynamics::PointBias(int body, const Vec3& point) const {
  const Node& node = NodeOf(body);
  const Vec3 place = point - origin_;
  return AtPoint(node.bias, place) + Angular(node.velocity).cross(AtPoint(node.velocity, place));
}

void CharacterDynamics::AngularJacobian(int body, MatrixOut jacobian) const {
  jacobian.setZero();
  for (const Node* node = &NodeOf(body); node != &nodes_[0]; node = &nodes_[node->parent]) {
    for (int k = 0; k < (node->hinge ? 1 : 3); ++k) jacobian.col(node->first + k) = node->subspace.col(k).head<3>();
  }
  jacobian.middleCols<3>(3).setIdentity();
}

Vec3 CharacterDynamics::AngularBias(int body) const {
  return Angular(NodeOf(body).bias);
}

// ---- the whole

Vec3 CharacterDynamics::CenterOfMass() const {
  const SpatialInertia& whole = nodes_[0].composite;
  return origin_ + whole.moment / whole.mass;
}

Vec3 CharacterDynamics::CenterOfMassVelocity() const {
  return LinearMomentum() / nodes_[0].composite.mass;
}

void CharacterDynamics::CenterOfMassJacobian(MatrixOut jacobian) const {
  const SpatialInertia& whole = nodes_[0].composite;
  jacobian.leftCols<3>().setIdentity();
  jacobian.middleCols<3>(3) = -CrossMatrix(whole.moment / whole.mass);
  for (size_t n = 1; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    for (int k = 0; k < (node.hinge ? 1 : 3); ++k) {
      jacobian.col(node.first + k) = Linear(node.composite * node.subspace.col(k)) / whole.mass;
    }
  }
}

Vec3 CharacterDynamics::CenterOfMassBias() const {
  return Linear(nodes_[0].bias_force) / nodes_[0].composite.mass;
}

Vec3 CharacterDynamics::LinearMomentum() const {
  Vec3 momentum = Vec3::Zero();
  for (const Node& node : nodes_) momentum += Linear(node.inertia * node.velocity);
  return momentum;
}

Vec3 CharacterDynamics::AngularMomentum() const {
  Vec6 momentum = Vec6::Zero();
  for (const Node& node : nodes_) momentum += node.inertia * node.velocity;
  const SpatialInertia& whole = nodes_[0].composite;
  return Angular(momentum) - (whole.moment / whole.mass).cross(Linear(momentum));
}

void CharacterDynamics::MomentumMatrix(MatrixOut matrix) const {
  const SpatialInertia& whole = nodes_[0].composite;
  const Vec3 center = whole.moment / whole.mass;
  const auto about_center = [&](const Vec6& force) {
    return Spatial(Angular(force) - center.cross(Linear(force)), Linear(force));
  };
  for (int k = 0; k < 3; ++k) {
    matrix.col(k) = about_center(whole * Spatial(Vec3::Zero(), Vec3::Unit(k)));
    matrix.col(3 + k) = about_center(whole * Spatial(Vec3::Unit(k), Vec3::Zero()));
  }
  for (size_t n = 1; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    for (int k = 0; k < (node.hinge ? 1 : 3); ++k) {
      matrix.col(node.first + k) = about_center(node.composite * node.subspace.col(k));
    }
  }
}

Vec6 CharacterDynamics::MomentumBias() const {
  const SpatialInertia& whole = nodes_[0].composite;
  const Vec6& force = nodes_[0].bias_force;
  return Spatial(Angular(force) - (whole.moment / whole.mass).cross(Linear(force)), Linear(force));
}

Inertia CharacterDynamics::CompositeInertia(int body) const {
  const SpatialInertia& composite = NodeOf(body).composite;
  const Vec3 center = composite.moment / composite.mass;
  return {composite.mass, origin_ + center, composite.tensor - ParallelAxes(composite.mass, center)};
}

double CharacterDynamics::KineticEnergy() const {
  double twice = 0;
  for (const Node& node : nodes_) twice += node.velocity.dot(node.inertia * node.velocity);
  return 0.5 * twice;
}

double CharacterDynamics::PotentialEnergy() const {
  return nodes_[0].composite.mass * gravity_ * CenterOfMass().y();
}

}  // namespace retrace::dynamics
