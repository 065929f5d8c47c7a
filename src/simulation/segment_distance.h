/// Distance of two segments. Internal to the module.
#pragma once

#include <algorithm>

#include "retrace/math/rotation.h"

namespace retrace::simulation {

/// All points `center + s half` with s from -1 to 1 [m].
struct Segment {
  Vec3 center;
  Vec3 half;
};

/// Square of the distance of the two points that are nearest to one another (Ericson, Real-Time Collision Detection,
/// 2005, section 5.1.9) [m^2]. Segments of length 0 are points. Of two that are parallel to 1e-6 rad it is too large by
/// that share of their length at most.
inline double SquaredDistance(const Segment& a, const Segment& b) {
  constexpr double kParallel = 1e-12;  // share of the product of their squares, below which they count as parallel
  const Vec3 between = a.center - b.center;
  const double aa = a.half.squaredNorm(), bb = b.half.squaredNorm(), ab = a.half.dot(b.half);
  const double a_between = a.half.dot(between), b_between = b.half.dot(between);
  const double determinant = aa * bb - ab * ab;
  double s = 0;
  if (determinant > kParallel * aa * bb) s = std::clamp((ab * b_between - bb * a_between) / determinant, -1.0, 1.0);
  const double t = bb > 0 ? std::clamp((ab * s + b_between) / bb, -1.0, 1.0) : 0;
  if (aa > 0) s = std::clamp((ab * t - a_between) / aa, -1.0, 1.0);
  return (between + s * a.half - t * b.half).squaredNorm();
}

}  // namespace retrace::simulation
