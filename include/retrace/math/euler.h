/// Angles of a rotation as a product of three turns about coordinate axes.
#pragma once

#include <array>
#include <cmath>

#include "retrace/math/types.h"

namespace retrace {

/// The angles (a, b, c) [rad] with R = R_i(a) R_j(b) R_k(c), for distinct axes i, j, k (0 x, 1 y, 2 z).
///
/// For x, y, z the last column of the product is (sin b, -sin a cos b, cos a cos b), which gives a. At gimbal lock
/// (cos b = 0) those two elements are rounding noise and so is a; but b and c are then read from R_i(a)^-1 R, which
/// is well conditioned for any a, so that the product of the three turns is R to rounding all the same. The other
/// orders follow by renaming the axes, with a change of sign where the renaming is a reflection.
inline std::array<double, 3> EulerAngles(const Mat3& r, int i, int j, int k) {
  const double sign = (j - i + 3) % 3 == 1 ? 1 : -1;
  const double a = std::atan2(-sign * r(j, k), r(k, k));
  const double sin_a = sign * std::sin(a);
  const double cos_a = std::cos(a);
  // Rows j, k and i of R_i(a)^-1 R; R_i leaves row i as it is.
  const auto row_j = [&](int column) { return cos_a * r(j, column) + sin_a * r(k, column); };
  const double c = std::atan2(sign * row_j(i), row_j(j));
  const double b = std::atan2(sign * r(i, k), cos_a * r(k, k) - sin_a * r(j, k));
  return {a + 0.0, b + 0.0, c + 0.0};  // 0 instead of -0
}

}  // namespace retrace
