/// Distance of two segments. Internal to the module.
#pragma once

#include "lanes.h"

namespace retrace::simulation {

/// All points `center + s half` with s from -1 to 1 [m].
template <class T>
struct Segment {
  lanes::Vector3<T> center;
  lanes::Vector3<T> half;
};

/// Square of the distance of the two points that are nearest to one another (Ericson, Real-Time Collision Detection,
/// 2005, section 5.1.9) [m^2], of lanes (lanes.h) or of one pair. Segments of length 0 are points. Of two that are
/// parallel to 1e-6 rad it is too large by that share of their length at most.
template <class T>
RETRACE_LANES_INLINE T SquaredDistance(const Segment<T>& a, const Segment<T>& b) {
  constexpr double kParallel = 1e-12;  // share of the product of their squares, below which they count as parallel
  const auto within = [](T s) __attribute__((always_inline)) {
    s = s < -1 ? lanes::Constant<T>(-1) : s;
    return s > 1 ? lanes::Constant<T>(1) : s;
  };
  const lanes::Vector3<T> between = a.center - b.center;
  const T aa = Dot(a.half, a.half), bb = Dot(b.half, b.half), ab = Dot(a.half, b.half);
  const T a_between = Dot(a.half, between), b_between = Dot(b.half, between);
  const T determinant = aa * bb - ab * ab;
  T s = determinant > kParallel * aa * bb ? within((ab * b_between - bb * a_between) / determinant) : T{};
  const T t = bb > 0 ? within((ab * s + b_between) / bb) : T{};
  s = aa > 0 ? within((ab * t - a_between) / aa) : s;
  const lanes::Vector3<T> shortest = between + Scaled(s, a.half) - Scaled(t, b.half);
  return Dot(shortest, shortest);
}

}  // namespace retrace::simulation
