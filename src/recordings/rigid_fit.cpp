#include "rigid_fit.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace retrace::recordings {

Mat3 FitRotation(const MarkerShape& from, const MarkerShape& to) {
  const Vec3 a = from.rowwise().mean(), b = to.rowwise().mean();
  const Mat3 covariance = (to.colwise() - b) * (from.colwise() - a).transpose();
  const Eigen::JacobiSVD<Mat3> svd(covariance, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Vec3 signs(1, 1, (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0 ? -1 : 1);
  return svd.matrixU() * signs.asDiagonal() * svd.matrixV().transpose();
}

bool IsWide(const MarkerShape& shape, double distance) {
  const Vec3 mean = shape.rowwise().mean();
  Mat3 spread = Mat3::Zero();
  for (const auto point : shape.colwise()) spread += (point - mean) * (point - mean).transpose();
  return Eigen::SelfAdjointEigenSolver<Mat3>(spread).eigenvalues()[1] > distance * distance;
}

}  // namespace retrace::recordings
