#include "forest_dynamics.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace retrace::simulation {
namespace {

// These are called for every body in every step: without inlining their matrices go through memory.
#define RETRACE_INLINE [[gnu::always_inline]] inline

/// M [v]x, column by column.
template <typename M>
RETRACE_INLINE M TimesCross(const M& m, const Vec3& v) {
  M result;
  result.col(0) = m.col(1) * v.z() - m.col(2) * v.y();
  result.col(1) = m.col(2) * v.x() - m.col(0) * v.z();
  result.col(2) = m.col(0) * v.y() - m.col(1) * v.x();
  return result;
}

/// [v]x M.
template <typename M>
RETRACE_INLINE Eigen::Matrix<double, 3, M::ColsAtCompileTime> CrossTimes(const Vec3& v, const M& m) {
  Eigen::Matrix<double, 3, M::ColsAtCompileTime> result;
  result.row(0) = v.y() * m.row(2) - v.z() * m.row(1);
  result.row(1) = v.z() * m.row(0) - v.x() * m.row(2);
  result.row(2) = v.x() * m.row(1) - v.y() * m.row(0);
  return result;
}

/// Inverse of a symmetric positive definite matrix.
RETRACE_INLINE Mat3 InverseOf(const Mat3& m) {
  Mat3 c;
  c(0, 0) = m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1);
  c(1, 0) = m(1, 2) * m(2, 0) - m(1, 0) * m(2, 2);
  c(2, 0) = m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0);
  c(1, 1) = m(0, 0) * m(2, 2) - m(0, 2) * m(2, 0);
  c(2, 1) = m(0, 1) * m(2, 0) - m(0, 0) * m(2, 1);
  c(2, 2) = m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
  const double scale = 1 / (m(0, 0) * c(0, 0) + m(0, 1) * c(1, 0) + m(0, 2) * c(2, 0));
  c *= scale;
  c(0, 1) = c(1, 0);
  c(0, 2) = c(2, 0);
  c(1, 2) = c(2, 1);
  return c;
}

/// The same, by its 3 x 3 blocks.
Mat6 InverseOf(const Mat6& m) {
  const Mat3 a = InverseOf(Mat3(m.topLeftCorner<3, 3>()));
  const Mat3 b = m.topRightCorner<3, 3>();
  const Mat3 ab = a * b;
  const Mat3 d = InverseOf(Mat3(m.bottomRightCorner<3, 3>() - b.transpose() * ab));
  const Mat3 abd = ab * d;
  Mat6 inverse;
  inverse << a + abd * ab.transpose(), -abd, -abd.transpose(), d;
  return inverse;
}

/// P (P^T I P)^-1 P^T of a root that keeps to the plane across its x axis.
Mat6 ResponseInPlane(const Mat6& inertia, const Mat3& rotation) {
  Eigen::Matrix<double, 6, 3> motions = Eigen::Matrix<double, 6, 3>::Zero();
  motions.block<3, 2>(0, 0) = rotation.rightCols<2>();
  motions.block<3, 1>(3, 2) = rotation.col(0);
  const Mat3 inverse = InverseOf(Mat3(motions.transpose() * inertia * motions));
  return motions * inverse * motions.transpose();
}

/// Angular momentum at the end of a step in which no torque acts but the gyroscopic one, taken implicitly: with L = I
/// w, I (I - h [L]x)^-1 L. In the body's axes, in which I is diagonal.
RETRACE_INLINE Vec3 TurnedMomentum(const Vec3& inertia, const Vec3& rate, double h) {
  const Vec3 momentum = inertia.cwiseProduct(rate);
  const Vec3 l = h * momentum;
  Mat3 m;
  m << inertia.x(), l.z(), -l.y(), -l.z(), inertia.y(), l.x(), l.y(), -l.x(), inertia.z();
  const Vec3 c0(m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1), m(1, 2) * m(2, 0) - m(1, 0) * m(2, 2),
                m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0));
  const Vec3 c1(m(0, 2) * m(2, 1) - m(0, 1) * m(2, 2), m(0, 0) * m(2, 2) - m(0, 2) * m(2, 0),
                m(0, 1) * m(2, 0) - m(0, 0) * m(2, 1));
  const Vec3 c2(m(0, 1) * m(1, 2) - m(0, 2) * m(1, 1), m(0, 2) * m(1, 0) - m(0, 0) * m(1, 2),
                m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0));
  const double scale = 1 / (m(0, 0) * c0.x() + m(0, 1) * c0.y() + m(0, 2) * c0.z());
  // Columns of the inverse are rows of cofactors.
  const Vec3 turned = (c0 * momentum.x() + c1 * momentum.y() + c2 * momentum.z()) * scale;
  return inertia.cwiseProduct(turned);
}

/// A step with a velocity.
void Move(const Vec6& velocity, double h, BodyMotion& body) {
  body.linear_velocity = velocity.head<3>();
  body.angular_velocity = velocity.tail<3>();
  body.position += h * body.linear_velocity;
  const Quat& q = body.orientation;
  const Vec3 w = 0.5 * h * body.angular_velocity;
  Quat next(q.w() - w.dot(q.vec()), 0, 0, 0);
  next.vec() = q.vec() + q.w() * w + w.cross(q.vec());
  next.coeffs() /= next.coeffs().norm();
  body.orientation = next;
  body.rotation = next.toRotationMatrix();
}

}  // namespace

ForestDynamics::ForestDynamics(const Forest& forest, const StepLaw& law)
    : law_(law), tree_of_(forest.tree_of), first_free_tree_(forest.num_characters()) {
  node_of_.resize(forest.num_bodies());
  node_of_joint_.resize(forest.joints.size());
  for (const Tree& tree : forest.trees) AddTree(forest, tree);
  parent_rotation_.resize(nodes_.size());
  needed_.resize(nodes_.size());
}

void ForestDynamics::AddTree(const Forest& forest, const Tree& tree) {
  if (tree.num_bodies > kMaxTreeBodies) throw std::logic_error("too many bodies for ForestDynamics");
  TreeNodes& nodes = trees_.emplace_back();
  nodes.first = nodes_.size();
  nodes.count = tree.num_bodies;
  nodes.planar = tree.planar;
  nodes.responses = responses_.size();
  responses_.resize(responses_.size() + nodes.count * nodes.count);
  const auto add = [&](int body) -> Node& {
    node_of_[static_cast<size_t>(body)] = nodes_.size();
    Node& node = nodes_.emplace_back();
    node.body = body;
    node.parent = nodes_.size() - 1;
    node.mass = forest.masses[static_cast<size_t>(body)];
    return node;
  };
  add(tree.root);
  for (size_t k = 0; k < tree.num_joints; ++k) {  // each comes after the joint that moves its parent
    const size_t j = tree.first_joint + k;
    const character::Joint& joint = forest.joints[j];
    node_of_joint_[j] = nodes_.size();
    Node& node = add(joint.child);
    node.parent = node_of_[static_cast<size_t>(joint.parent)];
    node.joint = static_cast<int>(j);
    node.hinge = joint.type == character::JointType::kHinge;
    node.axis = joint.axis;
    node.anchor_in_parent = joint.anchor - forest.BodyOf(joint.parent).rest_position;
    node.anchor_in_child = joint.anchor - forest.BodyOf(joint.child).rest_position;
  }
}

/// The momentum at the end of a step in which gravity alone acts. Returns the axes of inertia in the world.
RETRACE_INLINE Mat3 ForestDynamics::LoadMomentum(const BodyMotion& body, Node& node) const {
  const double mass = node.mass.mass;
  const Mat3 r = node.mass.turned ? Mat3(body.rotation * node.mass.principal_axes) : body.rotation;
  node.momentum.head<3>() = mass * body.linear_velocity;
  node.momentum[1] -= law_.time_step * mass * law_.gravity;
  node.momentum.tail<3>() =
      r * TurnedMomentum(node.mass.inertia, r.transpose() * body.angular_velocity, law_.time_step);
  node.impulse.setZero();
  return r;
}

void ForestDynamics::LoadBody(const BodyMotion& body, Node& node) const {
  const Mat3 r = LoadMomentum(body, node);
  node.articulated.setZero();
  node.articulated(0, 0) = node.articulated(1, 1) = node.articulated(2, 2) = node.mass.mass;
  const Mat3 scaled = r * node.mass.inertia.asDiagonal();
  node.articulated.bottomRightCorner<3, 3>().noalias() = scaled * r.transpose();
}

/// The inverse of a single body's inertia is known, and its velocity without contacts needs nothing else.
void ForestDynamics::LoadSingleBody(const BodyMotion& body, Node& node, TreeNodes& tree) const {
  const Mat3 r = LoadMomentum(body, node);
  const Vec3 inverse = node.mass.inertia.cwiseInverse();
  Mat6& response = tree.root_response;
  response.setZero();
  response(0, 0) = response(1, 1) = response(2, 2) = 1 / node.mass.mass;
  const Mat3 scaled = r * inverse.asDiagonal();
  response.bottomRightCorner<3, 3>().noalias() = scaled * r.transpose();
  if (tree.planar) {
    LoadBody(body, node);
    response = ResponseInPlane(node.articulated, body.rotation);
  }
}

void ForestDynamics::AddForces(const StepInput& input, Node& node) const {
  if (!input.torques.empty()) {
    node.momentum.tail<3>() += law_.time_step * input.torques[static_cast<size_t>(node.body)];
  }
  if (!input.forces.empty()) {
    node.momentum.head<3>() += law_.time_step * input.forces[static_cast<size_t>(node.body)];
  }
}

void ForestDynamics::LoadJoint(const BodyMotion& parent, const BodyMotion& child, const Motor& motor,
                               Node& node) const {
  const Vec3 from_parent = parent.rotation * node.anchor_in_parent;
  node.lever = child.rotation * node.anchor_in_child;
  node.offset = from_parent - node.lever;
  const double correction = law_.joint_erp / law_.time_step;
  const Vec3 error = node.lever + child.position - from_parent - parent.position;
  node.bias.head<3>() = -correction * error;
  node.bias.tail<3>().setZero();
  node.motor = motor;
  if (node.hinge) {
    node.hinge_axis = parent.rotation.col(node.axis);
    const Vec3 turn = -correction * node.hinge_axis.cross(Vec3(child.rotation.col(node.axis)));
    node.bias.head<3>() += node.lever.cross(turn);
    node.bias.tail<3>() = turn;
  }
}

void ForestDynamics::Begin(std::span<const BodyMotion> bodies, const StepInput& input) {
  for (size_t t = 0; t < trees_.size(); ++t) {
    TreeNodes& tree = trees_[t];
    tree.resting = t >= first_free_tree_ && !input.resting.empty() && input.resting[t - first_free_tree_] != 0;
    if (tree.resting) continue;
    const size_t end = tree.first + tree.count;
    if (tree.count == 1) {
      Node& node = nodes_[tree.first];
      LoadSingleBody(bodies[static_cast<size_t>(node.body)], node, tree);
      AddForces(input, node);
      node.velocity.noalias() = tree.root_response * node.momentum;
      continue;
    }
    for (size_t n = tree.first; n < end; ++n) {
      LoadBody(bodies[static_cast<size_t>(nodes_[n].body)], nodes_[n]);
      AddForces(input, nodes_[n]);
    }
    for (size_t n = end; n-- > tree.first + 1;) {
      Node& node = nodes_[n];
      const BodyMotion& parent = bodies[static_cast<size_t>(nodes_[node.parent].body)];
      parent_rotation_[n] = parent.rotation;
      LoadJoint(parent, bodies[static_cast<size_t>(node.body)], input.motors[static_cast<size_t>(node.joint)], node);
      if (node.hinge) {
        EliminateHinge(node);
      } else {
        EliminateBall(parent, node);
      }
    }
    const Node& root = nodes_[tree.first];
    tree.root_response = tree.planar
                             ? ResponseInPlane(root.articulated, bodies[static_cast<size_t>(root.body)].rotation)
                             : InverseOf(root.articulated);
  }
}

void ForestDynamics::EliminateBall(const BodyMotion& parent, Node& node) {
  const Mat6& inertia = node.articulated;
  // I S with S = [lever]x over 1.
  node.projected = TimesCross(Mat63(inertia.leftCols<3>()), node.lever) + inertia.rightCols<3>();
  const auto upper = node.projected.topRows<3>();
  Mat3 d = node.projected.bottomRows<3>() - CrossTimes(node.lever, upper);
  const Vec6 rest = node.momentum - inertia * node.bias;
  node.pull = rest.tail<3>() - node.lever.cross(Vec3(rest.head<3>()));
  for (int a = 0; a < 3; ++a) {
    if (node.motor.compliance[a] == 0) continue;
    const Vec3 axis = parent.rotation.col(a);
    const double gain = law_.time_step / node.motor.compliance[a];
    d.noalias() += (gain * axis) * axis.transpose();
    node.pull += (gain * node.motor.rate[a]) * axis;
  }
  node.inverse = InverseOf(d);
  const Mat63 scaled = node.projected * node.inverse;
  Mat6 left = inertia;
  left.noalias() -= scaled * node.projected.transpose();
  AddToParent(node, left, rest - scaled * node.pull);
}

void ForestDynamics::EliminateHinge(Node& node) {
  const Mat6& inertia = node.articulated;
  Vec6 s;
  s << node.lever.cross(node.hinge_axis), node.hinge_axis;
  const Vec6 projected = inertia * s;
  const Vec6 rest = node.momentum - inertia * node.bias;
  double d = s.dot(projected);
  double pull = s.dot(rest);
  if (node.motor.compliance[node.axis] != 0) {
    const double gain = law_.time_step / node.motor.compliance[node.axis];
    d += gain;
    pull += gain * node.motor.rate[node.axis];
  }
  node.projected.col(0) = projected;
  node.inverse(0, 0) = 1 / d;
  node.pull[0] = pull;
  Mat6 left = inertia;
  left.noalias() -= (projected * (1 / d)) * projected.transpose();
  AddToParent(node, left, rest - projected * (pull / d));
}

/// Adds X^T inertia X and X^T momentum to the parent's.
void ForestDynamics::AddToParent(const Node& node, const Mat6& inertia, const Vec6& momentum) {
  Node& parent = nodes_[node.parent];
  const Mat63 right = inertia.rightCols<3>() - TimesCross(Mat63(inertia.leftCols<3>()), node.offset);
  const Mat3 coupling = right.topRows<3>();
  parent.articulated.topLeftCorner<3, 3>() += inertia.topLeftCorner<3, 3>();
  parent.articulated.topRightCorner<3, 3>() += coupling;
  parent.articulated.bottomLeftCorner<3, 3>() += coupling.transpose();
  parent.articulated.bottomRightCorner<3, 3>() += right.bottomRows<3>() + CrossTimes(node.offset, coupling);
  parent.momentum.head<3>() += momentum.head<3>();
  parent.momentum.tail<3>() += Vec3(momentum.tail<3>()) + node.offset.cross(Vec3(momentum.head<3>()));
}

void ForestDynamics::FindVelocity(const Node& parent, Node& node) const {
  Vec6 x = parent.velocity;  // X x, and on from there
  x.head<3>() += Vec3(parent.velocity.tail<3>()).cross(node.offset);
  if (node.hinge) {
    const double rate = node.inverse(0, 0) * (node.pull[0] - node.projected.col(0).dot(x));
    node.rate = rate * node.hinge_axis;
  } else {
    node.rate = node.inverse * (node.pull - node.projected.transpose() * x);
  }
  x += node.bias;
  x.head<3>() += node.lever.cross(node.rate);
  x.tail<3>() += node.rate;
  node.velocity = x;
}

/// A = X - S D^-1 (I S)^T X.
void ForestDynamics::FindPropagator(Node& node) const {
  Mat6& a = node.propagator;
  Eigen::Matrix<double, 3, 6> turned;  // D^-1 (I S)^T
  if (node.hinge) {
    turned = node.hinge_axis * (node.inverse(0, 0) * node.projected.col(0).transpose());
  } else {
    turned.noalias() = node.inverse * node.projected.transpose();
  }
  a.topRows<3>() = -CrossTimes(node.lever, turned);
  a.bottomRows<3>() = -turned;
  a.diagonal().array() += 1;
  a.rightCols<3>() -= TimesCross(Mat63(a.leftCols<3>()), node.offset);
}

/// Which responses of a tree are needed: those that are wanted and, from the leaves on, those that they follow from.
/// Returns the nodes whose velocity is needed. All nodes here are counted from the first of the tree.
uint64_t ForestDynamics::FindNeeded(const TreeNodes& tree) {
  uint64_t* needed = needed_.data() + tree.first;
  std::fill_n(needed, tree.count, uint64_t{0});
  for (uint64_t rest = tree.wanted; rest != 0; rest &= rest - 1) {
    const int n = std::countr_zero(rest);
    needed[n] = tree.wanted & ((uint64_t{2} << n) - 1);
  }
  uint64_t path = 1;
  for (size_t n = tree.count; n-- > 1;) {
    if (needed[n] == 0) continue;
    path |= uint64_t{1} << n;
    const size_t parent = nodes_[tree.first + n].parent - tree.first;
    if ((needed[n] >> n & 1) != 0) needed[n] |= uint64_t{1} << parent;
    for (uint64_t rest = needed[n] & ~(uint64_t{1} << n); rest != 0; rest &= rest - 1) {
      const auto m = static_cast<size_t>(std::countr_zero(rest));
      needed[std::max(parent, m)] |= uint64_t{1} << std::min(parent, m);
    }
  }
  return path;
}

void ForestDynamics::FindResponses(const TreeNodes& tree) {
  const uint64_t path = FindNeeded(tree);
  const uint64_t* needed = needed_.data() + tree.first;
  Mat6* responses = responses_.data() + tree.responses;
  const size_t size = tree.count;
  responses[0] = tree.root_response;
  nodes_[tree.first].velocity.noalias() = tree.root_response * nodes_[tree.first].momentum;
  for (size_t n = 1; n < size; ++n) {
    if ((path >> n & 1) == 0) continue;
    Node& node = nodes_[tree.first + n];
    const size_t parent = node.parent - tree.first;
    FindVelocity(nodes_[node.parent], node);
    FindPropagator(node);
    for (uint64_t rest = needed[n] & ~(uint64_t{1} << n); rest != 0; rest &= rest - 1) {
      const auto m = static_cast<size_t>(std::countr_zero(rest));
      Mat6& response = responses[n * size + m];
      if (parent >= m) {
        response.noalias() = node.propagator * responses[parent * size + m];
      } else {
        response.noalias() = node.propagator * responses[m * size + parent].transpose();
      }
    }
    if ((needed[n] >> n & 1) != 0) {
      Mat6& response = responses[n * size + n];
      response.noalias() = responses[n * size + parent] * node.propagator.transpose();
      Mat3 d = node.inverse;
      if (node.hinge) d = (node.inverse(0, 0) * node.hinge_axis) * node.hinge_axis.transpose();
      const Mat3 ld = CrossTimes(node.lever, d);
      response.topLeftCorner<3, 3>() -= TimesCross(ld, node.lever);
      response.topRightCorner<3, 3>() += ld;
      response.bottomLeftCorner<3, 3>() += ld.transpose();
      response.bottomRightCorner<3, 3>() += d;
    }
  }
}

void ForestDynamics::FindResponses(std::span<const int> bodies) {
  for (TreeNodes& tree : trees_) tree.wanted = 0;
  for (const int body : bodies) {
    TreeNodes& tree = trees_[TreeOf(body)];
    tree.wanted |= uint64_t{1} << (node_of_[static_cast<size_t>(body)] - tree.first);
  }
  for (const TreeNodes& tree : trees_) {
    if (tree.wanted != 0 && tree.count > 1) FindResponses(tree);
  }
}

void ForestDynamics::Response(int a, int b, Mat6& response) const {
  const size_t t = TreeOf(a);
  if (t != TreeOf(b)) {
    response.setZero();
    return;
  }
  const TreeNodes& tree = trees_[t];
  if (tree.count == 1) {
    response = tree.root_response;
    return;
  }
  const size_t n = node_of_[static_cast<size_t>(a)] - tree.first;
  const size_t m = node_of_[static_cast<size_t>(b)] - tree.first;
  const Mat6* responses = responses_.data() + tree.responses;
  if (n >= m) {
    response = responses[n * tree.count + m];
  } else {
    response = responses[m * tree.count + n].transpose();
  }
}

void ForestDynamics::FinishTree(const TreeNodes& tree, std::span<BodyMotion> bodies) {
  const size_t end = tree.first + tree.count;
  for (size_t n = end; n-- > tree.first + 1;) {
    Node& node = nodes_[n];
    if (node.impulse.isZero(0)) continue;
    Vec6 left = node.impulse;
    const Vec3 along = Vec3(left.tail<3>()) - node.lever.cross(Vec3(left.head<3>()));  // S^T p
    if (node.hinge) {
      const double pull = node.hinge_axis.dot(along);
      node.pull[0] += pull;
      left -= node.projected.col(0) * (node.inverse(0, 0) * pull);
    } else {
      node.pull += along;
      left -= node.projected * (node.inverse * along);
    }
    Node& parent = nodes_[node.parent];
    parent.impulse.head<3>() += left.head<3>();
    parent.impulse.tail<3>() += Vec3(left.tail<3>()) + node.offset.cross(Vec3(left.head<3>()));
  }
  Node& root = nodes_[tree.first];
  root.velocity.noalias() = tree.root_response * (root.momentum + root.impulse);
  for (size_t n = tree.first + 1; n < end; ++n) FindVelocity(nodes_[nodes_[n].parent], nodes_[n]);
  for (size_t n = tree.first; n < end; ++n) {
    Move(nodes_[n].velocity, law_.time_step, bodies[static_cast<size_t>(nodes_[n].body)]);
  }
}

void ForestDynamics::Finish(std::span<BodyMotion> bodies, std::span<const char> left_out) {
  for (size_t t = 0; t < trees_.size(); ++t) {
    if (trees_[t].resting || (!left_out.empty() && left_out[t] != 0)) continue;
    FinishTree(trees_[t], bodies);
  }
}

Vec3 ForestDynamics::MotorTorque(int joint) const {
  const size_t n = node_of_joint_[static_cast<size_t>(joint)];
  const Node& node = nodes_[n];
  Vec3 torque = Vec3::Zero();
  for (int a = 0; a < 3; ++a) {
    if (node.motor.compliance[a] == 0) continue;
    if (node.hinge && a != node.axis) continue;
    const double rate = parent_rotation_[n].col(a).dot(node.rate);
    torque[a] = (node.motor.rate[a] - rate) / node.motor.compliance[a];
  }
  return torque;
}

}  // namespace retrace::simulation
