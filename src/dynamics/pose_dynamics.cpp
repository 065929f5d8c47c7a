#include "retrace/dynamics/pose_dynamics.h"

#include <algorithm>

#include "retrace/math/smooth_step.h"
#include "retrace/optimization/quadratic_program.h"

namespace retrace::dynamics {

double Fade(double value, const std::array<double, 2>& limits) {
  return SmoothStep(std::clamp((limits[1] - value) / (limits[1] - limits[0]), 0.0, 1.0));
}

PoseDynamics::PoseDynamics(const character::ReferenceMotion& reference, double gravity)
    : reference_(reference),
      character_(reference.character()),
      dynamics_(character_, gravity),
      weight_(character_.total_mass() * (gravity > 0 ? gravity : kStandardGravity)),
      before_(dynamics_.size()),
      after_(dynamics_.size()),
      velocity_(dynamics_.size()),
      acceleration_(dynamics_.size()),
      forces_(dynamics_.size()),
      wrenches_(character_.bodies.size()) {}

template <typename Wrench>
void PoseDynamics::RemoveHeld(Wrench&& wrench) const {
  if (dynamics_.num_held() == 0) return;
  const auto held = dynamics_.RootAxes().rightCols<3>().eval();
  wrench -= (held * (held.transpose() * wrench)).eval();
}

Vec3 PoseDynamics::AboutCenterOfMass(const Vec3& center) const {
  const Vec3 force = forces_.head<3>();
  return forces_.segment<3>(3) + (dynamics_.CenterOf(character_.root) - center).cross(force);
}

void PoseDynamics::SetPose(size_t i) {
  const std::vector<character::Pose>& poses = reference_.poses();
  const double step = reference_.frame_time();
  pose_ = i;
  dynamics_.coordinates().Difference(poses[i - 1], poses[i], before_);
  dynamics_.coordinates().Difference(poses[i], poses[i + 1], after_);
  velocity_ = (before_ + after_) / (2 * step);
  acceleration_ = (after_ - before_) / (step * step);
  dynamics_.SetMotion(poses[i], velocity_);
  std::fill(wrenches_.begin(), wrenches_.end(), Wrench());
}

void PoseDynamics::Require(RequiredForces& result) {
  result.time = static_cast<double>(pose_) * reference_.frame_time();
  dynamics_.InverseDynamics(acceleration_, {}, forces_);
  RemoveHeld(forces_.head<6>());
  result.center_of_mass = dynamics_.CenterOfMass();
  result.force = forces_.head<3>();
  result.moment = AboutCenterOfMass(result.center_of_mass);
}

void PoseDynamics::Constrain(const std::vector<SupportPoint>& points, const Vec3& center_of_mass, double friction,
                             optimization::QuadraticProgram& program, Eigen::MatrixXd& supply) const {
  const auto n = static_cast<int>(3 * points.size());
  program.Resize(n, 0, static_cast<int>(5 * points.size()));
  supply.setZero(6, n);
  for (size_t p = 0; p < points.size(); ++p) {
    const auto column = static_cast<Eigen::Index>(3 * p);
    const Vec3 arm = points[p].position - center_of_mass;
    for (int axis = 0; axis < 3; ++axis) {
      const Vec3 unit = Vec3::Unit(axis);
      supply.block<3, 1>(0, column + axis) = unit;
      supply.block<3, 1>(3, column + axis) = arm.cross(unit);
    }
    const auto row = static_cast<Eigen::Index>(5 * p);
    program.inequality_matrix(row, column + 1) = 1;
    int next = 1;
    for (const int axis : {0, 2}) {
      for (const double sign : {-1.0, 1.0}) {
        program.inequality_matrix(row + next, column + 1) = friction;
        program.inequality_matrix(row + next++, column + axis) = sign;
      }
    }
  }
  RemoveHeld(supply);
}

void PoseDynamics::Press(const std::vector<SupportPoint>& points, const Eigen::VectorXd& solution,
                         RequiredForces& result) {
  for (size_t p = 0; p < points.size(); ++p) {
    const SupportPoint& point = points[p];
    const Vec3 force = weight_ * solution.segment<3>(static_cast<Eigen::Index>(3 * p));
    if (result.support.empty() || result.support.back().body != point.body) {
      result.support.push_back({point.body, Vec3::Zero(), Vec3::Zero(), 0});
    }
    SupportForce& support = result.support.back();
    support.force += force;
    // The moment of the normal forces' positions, until all are added.
    support.center += force.y() * Vec3(point.position.x(), point.ground, point.position.z());
    support.free_moment += point.position.cross(force).y();
    dynamics_.AddForce(point.body, point.position, force, wrenches_);
  }
  for (SupportForce& support : result.support) {
    if (support.force.y() > 0) support.center /= support.force.y();
    support.free_moment -= support.center.cross(support.force).y();
  }
}

void PoseDynamics::Press(const SupportForce& support) {
  dynamics_.AddForce(support.body, support.center, support.force, wrenches_);
  wrenches_[static_cast<size_t>(support.body)].torque.y() += support.free_moment;
}

void PoseDynamics::FindTorques(RequiredForces& result) {
  dynamics_.InverseDynamics(acceleration_, wrenches_, forces_);
  RemoveHeld(forces_.head<6>());
  result.missing_force = forces_.head<3>();
  result.missing_moment = AboutCenterOfMass(result.center_of_mass);
  for (size_t j = 0; j < character_.joints.size(); ++j) {
    const character::Joint& joint = character_.joints[j];
    Vec3 torque = Vec3::Zero(), rate = Vec3::Zero();
    int next = dynamics_.coordinates().FirstOf(static_cast<int>(j));
    for (int axis = 0; axis < 3; ++axis) {
      if (!joint.UsesAxis(axis)) continue;
      torque[axis] = forces_[next];
      rate[axis] = velocity_[next++];
    }
    result.torques.push_back(torque);
    result.powers.push_back(torque.dot(rate));
  }
}

}  // namespace retrace::dynamics
