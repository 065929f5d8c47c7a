#include "functional_joint.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cmath>

namespace retrace::recordings {
namespace {

using Paths = std::vector<const std::vector<Vec3>*>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

constexpr double kFlat = 0.01;  // markers are in a line if they reach less far from it [m]
// One minus the mean cosine of an angle between two bodies that has a standard deviation of 5 degrees.
constexpr double kLeastBending = 0.004;
// Weight of where a joint roughly is: what bends by less tells less than that.
constexpr double kRough = 0.004;

/// A body's axes over time.
struct Body {
  std::vector<Mat3> turns;
  std::vector<Vec3> places;
};

/// The axes that keep markers at the same coordinates, by least squares, around the mean shape.
std::optional<Body> BodyOf(const Paths& paths) {
  if (paths.size() < 3) return std::nullopt;
  const size_t frames = paths.front()->size();
  const auto markers = static_cast<Eigen::Index>(paths.size());
  Eigen::Matrix3Xd shape(3, markers), seen(3, markers);
  const auto look = [&](size_t f) {
    for (Eigen::Index m = 0; m < markers; ++m) seen.col(m) = (*paths[static_cast<size_t>(m)])[f];
  };
  look(0);
  shape = seen.colwise() - seen.rowwise().mean();
  const Mat3 spread = shape * shape.transpose();
  if (Eigen::SelfAdjointEigenSolver<Mat3>(spread).eigenvalues()[1] < kFlat * kFlat) return std::nullopt;
  Body body{std::vector<Mat3>(frames), std::vector<Vec3>(frames)};
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    Eigen::Matrix3Xd mean = Eigen::Matrix3Xd::Zero(3, markers);
    for (size_t f = 0; f < frames; ++f) {
      look(f);
      const Eigen::Matrix4d transform = Eigen::umeyama(shape, seen, false);
      body.turns[f] = transform.topLeftCorner<3, 3>();
      body.places[f] = transform.topRightCorner<3, 1>();
      mean += body.turns[f].transpose() * (seen.colwise() - body.places[f]);
    }
    if (round + 1 < kRounds) shape = mean / static_cast<double>(frames);
  }
  return body;
}

}  // namespace

std::optional<FunctionalJoint> FindJoint(const Paths& first, const Paths& second, const RoughJoint& rough) {
  const std::optional<Body> a = BodyOf(first), b = BodyOf(second);
  if (!a || !b) return std::nullopt;
  const size_t frames = rough.points.size();
  const double share = 1 / static_cast<double>(frames);
  Matrix6 normal = Matrix6::Zero();
  Vector6 right = Vector6::Zero();
  Vector6 start = Vector6::Zero();  // where the joint roughly is in both bodies
  Mat3 across = Mat3::Zero();       // of the lines, in the first body
  Vec3 across_points = Vec3::Zero();
  for (size_t f = 0; f < frames; ++f) {
    Eigen::Matrix<double, 3, 6> row;
    row << a->turns[f], -b->turns[f];
    normal += share * row.transpose() * row;
    right += share * row.transpose() * (b->places[f] - a->places[f]);
    const Vec3 in_first = a->turns[f].transpose() * (rough.points[f] - a->places[f]);
    start.head<3>() += share * in_first;
    start.tail<3>() += share * b->turns[f].transpose() * (rough.points[f] - b->places[f]);
    const Vec3 line = a->turns[f].transpose() * rough.directions[f];
    const Mat3 off = Mat3::Identity() - line * line.transpose();
    across += share * off;
    across_points += share * off * in_first;
  }
  const Eigen::SelfAdjointEigenSolver<Matrix6> solver(normal);
  if (solver.eigenvalues()[1] < kLeastBending) return std::nullopt;
  Vector6 center = start;
  for (Eigen::Index k = 1; k < 6; ++k) {
    const Vector6 direction = solver.eigenvectors().col(k);
    center += direction.dot(right - normal * start) / (solver.eigenvalues()[k] + kRough) * direction;
  }
  const Vector6 axis = solver.eigenvectors().col(0);
  const Vec3 along = axis.head<3>();
  const double stiffness = along.dot(across * along);
  if (stiffness > 0) center += along.dot(across_points - across * center.head<3>()) / stiffness * axis;
  FunctionalJoint joint;
  for (size_t f = 0; f < frames; ++f) {
    const Vec3 one = a->turns[f] * center.head<3>() + a->places[f];
    const Vec3 other = b->turns[f] * center.tail<3>() + b->places[f];
    joint.centers.emplace_back(0.5 * (one + other));
    joint.misfit += (one - other).squaredNorm() / static_cast<double>(frames);
  }
  joint.misfit = std::sqrt(joint.misfit);
  return joint;
}

}  // namespace retrace::recordings
