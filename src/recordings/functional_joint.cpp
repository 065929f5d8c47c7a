#include "functional_joint.h"

#include <Eigen/SVD>
#include <cmath>

#include "rigid_fit.h"

namespace retrace::recordings {
namespace {

using Paths = std::vector<const std::vector<Vec3>*>;

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
  MarkerShape shape(3, markers), seen(3, markers);
  const auto look = [&](size_t f) {
    for (Eigen::Index m = 0; m < markers; ++m) seen.col(m) = (*paths[static_cast<size_t>(m)])[f];
  };
  look(0);
  if (!IsWide(seen, kFlat)) return std::nullopt;
  shape = seen.colwise() - seen.rowwise().mean();
  Body body{std::vector<Mat3>(frames), std::vector<Vec3>(frames)};
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    MarkerShape mean = MarkerShape::Zero(3, markers);
    for (size_t f = 0; f < frames; ++f) {
      look(f);
      body.turns[f] = FitRotation(shape, seen);
      body.places[f] = seen.rowwise().mean() - body.turns[f] * shape.rowwise().mean();
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
  // The center is at c in the first body and at d in the second one. Least squares of the distance between the two,
  // with C = mean(A'B) of the rotations A and B, have the matrix [1 -C; -C' 1]. Its eigenvectors are (u, v) and (u, -v)
  // of the singular vectors of C, its eigenvalues 1 - s and 1 + s.
  Mat3 mutual = Mat3::Zero();
  Vec3 right_first = Vec3::Zero(), right_second = Vec3::Zero();
  Vec3 first_start = Vec3::Zero(), second_start = Vec3::Zero();  // where the joint roughly is in both bodies
  Mat3 across = Mat3::Zero();                                    // of the lines, in the first body
  Vec3 across_points = Vec3::Zero();
  for (size_t f = 0; f < frames; ++f) {
    const Mat3 to_first = a->turns[f].transpose(), to_second = b->turns[f].transpose();
    const Vec3 between = b->places[f] - a->places[f];
    mutual += share * to_first * b->turns[f];
    right_first += share * (to_first * between);
    right_second -= share * (to_second * between);
    const Vec3 in_first = to_first * (rough.points[f] - a->places[f]);
    first_start += share * in_first;
    second_start += share * (to_second * (rough.points[f] - b->places[f]));
    const Vec3 line = to_first * rough.directions[f];
    const Mat3 off = Mat3::Identity() - line * line.transpose();
    across += share * off;
    across_points += share * (off * in_first);
  }
  const Eigen::JacobiSVD<Mat3> solver(mutual, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Vec3& cosines = solver.singularValues();  // descending
  if (1 - cosines[1] < kLeastBending) return std::nullopt;
  const Vec3 first_missing = right_first - first_start + mutual * second_start;
  const Vec3 second_missing = right_second - second_start + mutual.transpose() * first_start;
  Vec3 first_center = first_start, second_center = second_start;
  const double half = 0.5;  // the squared length of (u, v) is 2
  for (int k = 0; k < 3; ++k) {
    const Vec3 u = solver.matrixU().col(k), v = solver.matrixV().col(k);
    for (const double sign : {1.0, -1.0}) {
      if (k == 0 && sign > 0) continue;  // the axis of a hinge, along which nothing tells where its center is
      const double eigenvalue = 1 - sign * cosines[k];
      const double along = half * (u.dot(first_missing) + sign * v.dot(second_missing)) / (eigenvalue + kRough);
      first_center += along * u;
      second_center += sign * along * v;
    }
  }
  const Vec3 axis = solver.matrixU().col(0);
  const double stiffness = axis.dot(across * axis);
  if (stiffness > 0) {
    const double along = axis.dot(across_points - across * first_center) / stiffness;
    first_center += along * axis;
    second_center += along * solver.matrixV().col(0);
  }
  FunctionalJoint joint;
  for (size_t f = 0; f < frames; ++f) {
    const Vec3 one = a->turns[f] * first_center + a->places[f];
    const Vec3 other = b->turns[f] * second_center + b->places[f];
    joint.centers.emplace_back(0.5 * (one + other));
    joint.misfit += (one - other).squaredNorm() / static_cast<double>(frames);
  }
  joint.misfit = std::sqrt(joint.misfit);
  return joint;
}

}  // namespace retrace::recordings
