#include "retrace/math/rotation.h"

#include <Eigen/Eigenvalues>

namespace retrace {

// Eigen has this, too, but with a singular value decomposition for opposite directions, which takes 20 s to compile.
Quat ShortestArc(const Vec3& from, const Vec3& to) {
  const Vec3 first = from.normalized(), second = to.normalized();
  const double cosine = second.dot(first);
  if (cosine < -1 + 1e-12) {
    // Half a turn but for rounding, about any axis that is perpendicular.
    const double square = (1 + std::max(cosine, -1.0)) / 2;
    const Vec3 part = std::sqrt(1 - square) * first.unitOrthogonal();
    return Quat(std::sqrt(square), part.x(), part.y(), part.z());
  }
  const double twice = std::sqrt((1 + cosine) * 2);
  const Vec3 part = first.cross(second) * (1 / twice);
  // Near opposite directions this is of unit length to half the digits only.
  return Quat(twice * 0.5, part.x(), part.y(), part.z()).normalized();
}

Quat Twist(const Quat& q, const Vec3& axis) {
  const double along = q.vec().dot(axis);
  const double norm = std::hypot(q.w(), along);
  if (norm < 1e-9) return Quat::Identity();  // half a turn about a perpendicular axis: no twist is defined
  const double w = q.w() / norm;
  const double s = along / norm;
  return Quat(w, s * axis.x(), s * axis.y(), s * axis.z());
}

Quat FromAxes(const Vec3& x, const Vec3& y, const Vec3& z) {
  Mat3 m;
  m << x, y, z;
  return Quat(m).normalized();
}

Quat MeanRotation(std::span<const Quat> rotations, std::span<const double> weights) {
  Eigen::Matrix4d sum = Eigen::Matrix4d::Zero();
  for (size_t i = 0; i < rotations.size(); ++i) {
    const Eigen::Vector4d c = rotations[i].coeffs();
    sum += (weights.empty() ? 1.0 : weights[i]) * c * c.transpose();
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d> solver(sum);
  Quat mean;
  mean.coeffs() = solver.eigenvectors().col(3);
  if (mean.w() < 0) mean.coeffs() *= -1;
  return mean;
}

}  // namespace retrace
