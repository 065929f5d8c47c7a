#include "retrace/dynamics/tangent.h"

namespace retrace::dynamics {

bool MotionPoint::operator==(const MotionPoint& other) const {
  if (pose.root_position != other.pose.root_position ||
      pose.root_orientation.coeffs() != other.pose.root_orientation.coeffs() ||
      pose.joint_rotations.size() != other.pose.joint_rotations.size() || velocity.size() != other.velocity.size() ||
      velocity != other.velocity) {
    return false;
  }
  for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
    if (pose.joint_rotations[j].coeffs() != other.pose.joint_rotations[j].coeffs()) return false;
  }
  return true;
}

void Reduce(const Coordinates& coordinates, const character::State& state, MotionPoint& point) {
  coordinates.PoseOf(state, point.pose);
  point.velocity.resize(coordinates.size());
  coordinates.VelocityOf(state, point.velocity);
}

void Expand(const Coordinates& coordinates, const MotionPoint& point, character::State& state) {
  coordinates.StateOf(point.pose, point.velocity, state);
}

void Apply(const Coordinates& coordinates, const Eigen::Ref<const Eigen::VectorXd>& difference, MotionPoint& point) {
  const Eigen::Index n = coordinates.size();
  coordinates.Advance(difference.head(n), point.pose);
  point.velocity += difference.tail(n);
}

void Difference(const Coordinates& coordinates, const MotionPoint& from, const MotionPoint& to,
                Eigen::Ref<Eigen::VectorXd> difference) {
  const Eigen::Index n = coordinates.size();
  coordinates.Difference(from.pose, to.pose, difference.head(n));
  difference.tail(n) = to.velocity - from.velocity;
}

}  // namespace retrace::dynamics
