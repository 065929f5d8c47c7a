/// Rotations: exponential and logarithm, shortest arcs, heading, swing and twist, mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "retrace/math/types.h"

namespace retrace {

/// Degrees and radians meet only at the file and message boundary.
inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double Radians(double degrees) {
  return degrees * (kPi / 180);
}
inline constexpr double Degrees(double radians) {
  return radians * (180 / kPi);
}

/// Half the angle of a rotation, in [0, pi/2], from the length and the real part of its unit quaternion. Of sine and
/// cosine it takes the one that changes with the angle, which is cheaper than atan2 of both.
inline double HalfAngle(double sine, double cosine) {
  return sine < 0.7 ? std::asin(sine) : std::acos(std::min(1.0, std::abs(cosine)));
}

/// Rotation vector (axis times angle, angle in [0, pi]) of a unit quaternion: its logarithm.
/// q and -q are the same rotation and give the same vector.
inline Vec3 RotationVector(const Quat& q) {
  const double s = std::sqrt(q.x() * q.x() + q.y() * q.y() + q.z() * q.z());
  // angle/sin(angle/2) -> 2 as the angle -> 0; below 1e-7 the next term of the series is beneath one rounding.
  const double k = s < 1e-7 ? 2.0 : 2.0 * HalfAngle(s, q.w()) / s;
  return (q.w() < 0 ? -k : k) * q.vec();
}

/// Unit quaternion of a rotation vector: the exponential.
inline Quat FromRotationVector(const Vec3& v) {
  const double angle = v.norm();
  const double k = angle < 1e-8 ? 0.5 : std::sin(0.5 * angle) / angle;
  return Quat(std::cos(0.5 * angle), k * v.x(), k * v.y(), k * v.z());
}

/// Angle in [0, pi] of the rotation between two orientations: || log(a b^-1) ||.
inline double AngleBetween(const Quat& a, const Quat& b) {
  const Quat d = a * b.conjugate();
  return 2 * HalfAngle(d.vec().norm(), d.w());
}

/// Rotation about one coordinate axis (0 x, 1 y, 2 z).
inline Quat AxisRotation(int axis, double angle) {
  Quat q(std::cos(0.5 * angle), 0, 0, 0);
  q.coeffs()[axis] = std::sin(0.5 * angle);
  return q;
}

/// q = q * AxisRotation(axis, angle), at half the cost of the product of two quaternions.
inline void TurnAboutAxis(Quat& q, int axis, double angle) {
  const double c = std::cos(0.5 * angle), s = std::sin(0.5 * angle);
  const int next = axis == 2 ? 0 : axis + 1, last = axis == 0 ? 2 : axis - 1;
  auto& v = q.coeffs();
  const double w = v[3], a = v[axis], b = v[next], d = v[last];
  v[3] = c * w - s * a;
  v[axis] = c * a + s * w;
  v[next] = c * b + s * d;
  v[last] = c * d - s * b;
}

/// Normalized linear interpolation along the shorter arc. For the small steps between frames of a motion it differs
/// from the spherical one by less than the third power of the step, at a fraction of the cost.
inline Quat Nlerp(const Quat& a, const Quat& b, double t) {
  const double sign = a.dot(b) < 0 ? -1 : 1;
  Quat q;
  q.coeffs() = (1 - t) * a.coeffs() + (sign * t) * b.coeffs();
  q.normalize();
  return q;
}

/// Smallest rotation that turns direction `from` into direction `to` (neither needs unit length). For opposite
/// directions the axis is any one perpendicular to both.
Quat ShortestArc(const Vec3& from, const Vec3& to);

/// The part of `q` that turns about `axis` (unit): q = swing * twist with swing perpendicular to the axis.
Quat Twist(const Quat& q, const Vec3& axis);

/// Rotation about the vertical (y) axis that carries the heading of an orientation. Continuous except where the
/// orientation is upside down.
inline Quat Heading(const Quat& q) {
  return Twist(q, Vec3::UnitY());
}

/// Rotation whose columns are three orthonormal right-handed axes.
Quat FromAxes(const Vec3& x, const Vec3& y, const Vec3& z);

/// Weighted mean orientation (the dominant eigenvector of sum w q q^T; Markley et al. 2007, eq. 12).
Quat MeanRotation(std::span<const Quat> rotations, std::span<const double> weights);

}  // namespace retrace
