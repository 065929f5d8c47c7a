/// Whether two boxes overlap. Internal to the task module.
#pragma once

#include <array>
#include <cmath>

#include "retrace/math/types.h"

namespace retrace::task {

struct Box {
  Vec3 center;           ///< [m]
  Eigen::Matrix3d axes;  ///< columns
  Vec3 half;             ///< half side lengths along them [m]
};

/// The separating axis test: two boxes are apart if they are along a normal of a face or a cross product of edges.
inline bool Overlap(const Box& a, const Box& b) {
  const Vec3 way = b.center - a.center;
  const auto apart = [&](const Vec3& axis) {
    const double length = axis.norm();
    if (length < 1e-9) return false;  // parallel edges: a normal says the same
    const double reach =
        a.half.dot((a.axes.transpose() * axis).cwiseAbs()) + b.half.dot((b.axes.transpose() * axis).cwiseAbs());
    return std::abs(way.dot(axis)) > reach;
  };
  for (int i = 0; i < 3; ++i) {
    if (apart(a.axes.col(i)) || apart(b.axes.col(i))) return false;
    for (int j = 0; j < 3; ++j) {
      if (apart(a.axes.col(i).cross(b.axes.col(j)))) return false;
    }
  }
  return true;
}

}  // namespace retrace::task
