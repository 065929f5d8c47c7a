#include "retrace/methods/tracking/plan.h"

#include <cmath>

namespace retrace::tracking {
namespace {

using optimization::QuadraticProgram;

/// On squared torques in the paper's form, which would have none [1/(N m)^2].
constexpr double kTorqueWeight = 1e-9;

}  // namespace

void Dynamics::Resize(int size, int num_contacts) {
  mass.setZero(size, size);
  bias.setZero(size);
  desired.setZero(size);
  weights.setOnes(size);
  num_tasks_ = 0;
  ResizeContacts(num_contacts);
}

void Dynamics::ResizeContacts(int num_contacts) {
  const Eigen::Index contacts = num_contacts;
  jacobian.setZero(3 * contacts, size());
  slip.setZero(3 * contacts);
  cone.setZero(3 * contacts, 4);
  softness.setZero(contacts);
  normals.setZero(3 * contacts, 1);
  force_goals.clear();
}

Eigen::ArrayXd Dynamics::LargestTorques() const {
  Eigen::ArrayXd largest = Eigen::ArrayXd::Constant(size() - 6, torque_limit);
  for (Eigen::Index k = 0; k < efforts.size(); ++k) {
    if (efforts[k] > 0) largest[k] = std::min(largest[k], efforts[k]);
  }
  return largest;
}

Eigen::Matrix<double, 3, 4> FrictionCone(const Vec3& normal, double friction) {
  const Vec3 other = std::abs(normal.x()) < 0.9 ? Vec3(Vec3::UnitX()) : Vec3(Vec3::UnitZ());
  const Vec3 across = normal.cross(other).normalized();
  const Vec3 along = normal.cross(across);
  Eigen::Matrix<double, 3, 4> cone;
  cone.col(0) = (normal + friction * across).normalized();
  cone.col(1) = (normal - friction * across).normalized();
  cone.col(2) = (normal + friction * along).normalized();
  cone.col(3) = (normal - friction * along).normalized();
  return cone;
}

const Plan& Planner::Solve(const Dynamics& dynamics, Form form) {
  const Eigen::Index n = dynamics.size(), contacts = dynamics.num_contacts();
  generalized_.resize(n, 4 * contacts);
  for (Eigen::Index c = 0; c < contacts; ++c) {
    generalized_.middleCols<4>(4 * c).noalias() =
        dynamics.jacobian.middleRows<3>(3 * c).transpose() * dynamics.cone.middleRows<3>(3 * c);
  }
  if (form == Form::kReduced) {
    BuildReduced(dynamics);
  } else {
    BuildPaper(dynamics);
  }
  const optimization::Summary& summary = solver_.Solve(program_);
  plan_.status = summary.status;
  plan_.iterations = summary.iterations;
  plan_.num_variables = static_cast<int>(program_.gradient.size());
  if (summary.status != optimization::Status::kOptimal) return plan_;
  plan_.residual = summary.residual;
  const auto coefficients = summary.x.tail(4 * contacts);
  plan_.acceleration = summary.x.head(n);
  plan_.force.resize(3 * contacts);
  for (Eigen::Index c = 0; c < contacts; ++c) {
    plan_.force.segment<3>(3 * c).noalias() = dynamics.cone.middleRows<3>(3 * c) * coefficients.segment<4>(4 * c);
  }
  plan_.torque = dynamics.bias;
  plan_.torque.noalias() += dynamics.mass * plan_.acceleration;
  plan_.torque.noalias() -= generalized_ * coefficients;
  plan_.torque.head<6>().setZero();  // to rounding
  plan_.slack = 0;
  if (contacts > 0) {
    Eigen::VectorXd missed = dynamics.jacobian * plan_.acceleration + dynamics.slip;
    for (Eigen::Index c = 0; c < contacts; ++c) {
      const Vec3 normal = dynamics.normals.block<3, 1>(3 * c, 0);
      missed.segment<3>(3 * c) += dynamics.softness[c] * plan_.force.segment<3>(3 * c).dot(normal) * normal;
    }
    plan_.slack = missed.cwiseAbs().maxCoeff();
  }
  return plan_;
}

void Planner::HoldRoot(const Dynamics& d, Eigen::Index first) {
  if (d.num_held == 0) return;
  auto rows = program_.equality_matrix.middleRows<6>(first);
  auto values = program_.equality_values.segment<6>(first);
  rows = (d.root_axes.transpose() * rows).eval();
  values = (d.root_axes.transpose() * values).eval();
  const Eigen::Index held = d.num_held;
  rows.bottomRows(held).setZero();
  rows.bottomLeftCorner(held, 6) = d.root_axes.rightCols(held).transpose();
  values.tail(held).setZero();
}

/// What follows from softness: terms of |J a + b + S V l|^2 with l, where S takes the force along the normal.
void Planner::AddSoftness(const Dynamics& d, int first) {
  const int n = d.size();
  QuadraticProgram& p = program_;
  for (Eigen::Index c = 0; c < d.num_contacts(); ++c) {
    if (d.softness[c] == 0) continue;
    const Vec3 normal = d.normals.block<3, 1>(3 * c, 0);
    const Eigen::Vector4d along = d.softness[c] * (d.cone.middleRows<3>(3 * c).transpose() * normal);
    const Eigen::VectorXd row = d.jacobian.middleRows<3>(3 * c).transpose() * normal;
    const Eigen::Index at = first + 4 * c;
    const Eigen::MatrixXd mixed = d.contact_weight * along * row.transpose();
    p.hessian.block(at, 0, 4, n) += mixed;
    p.hessian.block(0, at, n, 4) += mixed.transpose();
    p.hessian.block<4, 4>(at, at) += d.contact_weight * along * along.transpose();
    p.gradient.segment<4>(at) += d.contact_weight * d.slip.segment<3>(3 * c).dot(normal) * along;
  }
}

void Planner::AddTasks(const Dynamics& d) {
  const int n = d.size();
  for (const Task& task : d.tasks()) {
    program_.hessian.topLeftCorner(n, n).noalias() += task.weight * task.jacobian.transpose() * task.jacobian;
    program_.gradient.head(n).noalias() -= task.weight * task.jacobian.transpose() * task.desired;
  }
}

void Planner::AddForceGoals(const Dynamics& d, int first) {
  for (const ForceGoal& goal : d.force_goals) {
    const Eigen::Index size = 4 * static_cast<Eigen::Index>(goal.count);
    const Eigen::Index at = first + 4 * static_cast<Eigen::Index>(goal.first);
    Eigen::MatrixXd sum(3, size);
    for (Eigen::Index c = 0; c < goal.count; ++c) {
      sum.middleCols<4>(4 * c) = d.cone.middleRows<3>(3 * (goal.first + c));
    }
    program_.hessian.block(at, at, size, size) += goal.weight * sum.transpose() * sum;
    program_.gradient.segment(at, size) -= goal.weight * sum.transpose() * goal.force;
  }
}

void Planner::BuildReduced(const Dynamics& d) {
  const int n = d.size(), cones = 4 * d.num_contacts(), joints = n - 6;
  program_.Resize(n + cones, 6, cones + 2 * joints);
  QuadraticProgram& p = program_;
  p.hessian.setZero();
  p.hessian.topLeftCorner(n, n).noalias() = d.contact_weight * d.jacobian.transpose() * d.jacobian;
  p.hessian.diagonal().head(n) += d.weights;
  p.hessian.diagonal().tail(cones).setConstant(d.regularization);
  p.gradient.setZero();
  p.gradient.head(n).noalias() = d.contact_weight * d.jacobian.transpose() * d.slip;
  p.gradient.head(n) -= d.weights.cwiseProduct(d.desired);
  AddTasks(d);
  AddSoftness(d, n);
  AddForceGoals(d, n);
  p.equality_matrix.leftCols(n) = d.mass.topRows(6);
  p.equality_matrix.rightCols(cones) = -generalized_.topRows(6);
  p.equality_values = -d.bias.head(6);
  HoldRoot(d, 0);
  p.inequality_matrix.setZero();
  p.inequality_matrix.topRightCorner(cones, cones).setIdentity();
  p.inequality_bounds.head(cones).setZero();
  auto least = p.inequality_matrix.middleRows(cones, joints);
  least.leftCols(n) = d.mass.bottomRows(joints);
  least.rightCols(cones) = -generalized_.bottomRows(joints);
  p.inequality_matrix.bottomRows(joints) = -least;
  const Eigen::ArrayXd largest = d.LargestTorques();
  p.inequality_bounds.segment(cones, joints) = -d.bias.tail(joints).array() - largest;
  p.inequality_bounds.tail(joints) = d.bias.tail(joints).array() - largest;
}

void Planner::BuildPaper(const Dynamics& d) {
  const int n = d.size(), cones = 4 * d.num_contacts(), joints = n - 6;
  program_.Resize(2 * n + cones, n + 6, cones + 2 * joints);
  QuadraticProgram& p = program_;
  p.hessian.setZero();
  p.hessian.topLeftCorner(n, n).noalias() = d.contact_weight * d.jacobian.transpose() * d.jacobian;
  p.hessian.diagonal().head(n) += d.weights;
  p.hessian.diagonal().segment(n, n).setConstant(kTorqueWeight);
  p.hessian.diagonal().tail(cones).setConstant(d.regularization);
  p.gradient.setZero();
  p.gradient.head(n).noalias() = d.contact_weight * d.jacobian.transpose() * d.slip;
  p.gradient.head(n) -= d.weights.cwiseProduct(d.desired);
  AddTasks(d);
  AddSoftness(d, 2 * n);
  AddForceGoals(d, 2 * n);
  p.equality_matrix.setZero();
  p.equality_matrix.topLeftCorner(n, n) = d.mass;
  p.equality_matrix.block(0, n, n, n).diagonal().setConstant(-1);
  p.equality_matrix.topRightCorner(n, cones) = -generalized_;
  p.equality_matrix.block(n, n, 6, 6).setIdentity();
  p.equality_values.head(n) = -d.bias;
  p.equality_values.tail(6).setZero();
  HoldRoot(d, n);
  p.inequality_matrix.setZero();
  p.inequality_matrix.topRightCorner(cones, cones).setIdentity();
  p.inequality_matrix.block(cones, n + 6, joints, joints).setIdentity();
  p.inequality_matrix.block(cones + joints, n + 6, joints, joints).diagonal().setConstant(-1);
  const Eigen::ArrayXd largest = d.LargestTorques();
  p.inequality_bounds << Eigen::ArrayXd::Zero(cones), -largest, -largest;
}

}  // namespace retrace::tracking
