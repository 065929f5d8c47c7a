#include "retrace/response_model/deformation.h"

#include <stdexcept>

namespace retrace::response_model {

PushDeformation::PushDeformation(const character::Character& character, const DeformationOptions& options)
    : options_(options), dynamics_(character) {
  if (!(options.joint_inertia >= 0) || !(options.foot_weight >= 0)) {
    throw std::invalid_argument("a deformation with options that are none");
  }
  const Eigen::Index n = dynamics_.size();
  rest_.setZero(n);
  forces_.resize(n);
  mass_.resize(n, n);
  matrix_.resize(n, n);
  jacobian_.resize(3, n);
}

bool PushDeformation::Solve(const character::Pose& now, std::span<const Push> pushes, double time, double frame_time,
                            const std::vector<ObservedPoint>& points, const std::vector<Vec3>& feet,
                            const std::vector<Vec3>& next_feet, Eigen::VectorXd& displacement) {
  const Eigen::Index n = dynamics_.size();
  displacement.setZero(n);
  forces_.setZero();
  bool acts = false;
  for (const Push& push : pushes) {
    const double share = ShareOf(push, time, frame_time);
    if (share == 0) continue;
    if (!acts) dynamics_.SetMotion(now, rest_);
    acts = true;
    dynamics_.PointJacobian(push.body, dynamics_.CenterOf(push.body) + dynamics_.RotationOf(push.body) * push.point,
                            jacobian_);
    forces_ += share * jacobian_.transpose() * push.force;
  }
  if (!acts) return false;
  dynamics_.MassMatrix(mass_);
  const double square = frame_time * frame_time;
  if (options_.paper) {
    forces_ = (mass_ * forces_ / square).eval();
    matrix_ = mass_ * mass_ / (square * square);
  } else {
    forces_ *= square;
    matrix_ = mass_;
    matrix_.diagonal().tail(n - 6).array() += options_.joint_inertia;
  }
  size_t foot = 0;
  for (const ObservedPoint& point : points) {
    if (!point.foot) continue;
    const Vec3& place = feet[foot];
    const double speed = (next_feet[foot] - place).norm() / frame_time;
    ++foot;
    if (speed > options_.standing_speed || place.y() > options_.standing_height) continue;
    dynamics_.PointJacobian(point.body, place, jacobian_);
    matrix_.noalias() += options_.foot_weight * jacobian_.transpose() * jacobian_;
  }
  factor_.compute(matrix_);
  displacement = factor_.solve(forces_);
  return true;
}

}  // namespace retrace::response_model
