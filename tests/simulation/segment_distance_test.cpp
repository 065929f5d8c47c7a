#include "simulation/segment_distance.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "retrace/math/random.h"
#include "retrace/math/types.h"

namespace retrace::simulation {
namespace {

Vec3 RandomVector(RandomStream& random) {
  return {random.Normal(), random.Normal(), random.Normal()};
}

struct Line {
  Vec3 center;
  Vec3 half;
};

double Squared(const Line& a, const Line& b) {
  const auto segment = [](const Line& line) {
    return Segment<double>{{line.center.x(), line.center.y(), line.center.z()},
                           {line.half.x(), line.half.y(), line.half.z()}};
  };
  return SquaredDistance(segment(a), segment(b));
}

/// The nearest of many pairs of points, of which each is the nearest of its segment to the other one.
double ByManyPoints(const Line& a, const Line& b) {
  constexpr int kPoints = 2000;
  double least = (a.center - b.center).squaredNorm();
  for (int i = 0; i <= kPoints; ++i) {
    const Vec3 point = a.center + (2.0 * i / kPoints - 1) * a.half;
    const double length = b.half.squaredNorm();
    const double t = length > 0 ? std::clamp((point - b.center).dot(b.half) / length, -1.0, 1.0) : 0;
    least = std::min(least, (point - b.center - t * b.half).squaredNorm());
  }
  return least;
}

RC_GTEST_PROP(SegmentDistanceProperty, IsThatOfTheNearestOfManyPoints, (uint32_t seed)) {
  RandomStream random(seed, RandomStage::kTest, 0, 0);
  Line a{RandomVector(random), RandomVector(random)};
  Line b{RandomVector(random), RandomVector(random)};
  const int kind = static_cast<int>(seed % 6);
  if (kind == 1) b.half = -0.7 * a.half;                              // parallel
  if (kind == 2) b.half = a.half + 1e-7 * RandomVector(random);       // nearly
  if (kind == 3) a.half = Vec3::Zero();                               // a point
  if (kind == 4) a.half = b.half = Vec3::Zero();                      // two
  if (kind == 5) b.center = a.center + 0.5 * a.half - 0.25 * b.half;  // they cross
  const double squared = Squared(a, b);
  const double expected = ByManyPoints(a, b);
  // The points lie up to a thousandth of the half length from the nearest one.
  const double step = 1e-3 * a.half.norm();
  RC_ASSERT(std::sqrt(squared) <= std::sqrt(expected) + 1e-6);
  RC_ASSERT(std::sqrt(squared) >= std::sqrt(expected) - step);
  RC_ASSERT(std::abs(std::sqrt(squared) - std::sqrt(Squared(b, a))) < 1e-6);
}

}  // namespace
}  // namespace retrace::simulation
