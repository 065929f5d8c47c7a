/// Convex hulls: what their definition says of them.
#include "retrace/math/convex_hull.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "retrace/math/random.h"

namespace retrace {
namespace {

using Vec2 = Eigen::Vector2d;

TEST(ConvexHull, TurnsLeftAtEachCornerAndHoldsEveryPoint) {
  for (uint32_t k = 0; k < 200; ++k) {
    RandomStream random(4, RandomStage::kTest, k, 0);
    std::vector<Vec2> points(3 + k % 40);
    for (Vec2& point : points) point = {random.Uniform(-1, 1), random.Uniform(-1, 1)};
    const std::vector<Vec2> hull = ConvexHull(points);
    ASSERT_GE(hull.size(), 3u);
    for (size_t i = 0; i < hull.size(); ++i) {
      EXPECT_NE(std::find(points.begin(), points.end(), hull[i]), points.end());
      const Vec2 a = hull[i], edge = hull[(i + 1) % hull.size()] - a;
      const auto left = [&](const Vec2& p) { return edge.x() * (p - a).y() - edge.y() * (p - a).x(); };
      EXPECT_GT(left(hull[(i + 2) % hull.size()]), 0);
      for (const Vec2& point : points) EXPECT_GE(left(point), -1e-15);
    }
  }
}

TEST(ConvexHull, OfASquareWithPointsOnItsEdgesHasFourCorners) {
  const std::vector<Vec2> hull = ConvexHull({{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.5, 0}, {0.5, 0.5}, {0, 0.5}, {0, 0}});
  EXPECT_EQ(hull, (std::vector<Vec2>{{0, 0}, {1, 0}, {1, 1}, {0, 1}}));
}

TEST(ConvexHull, OfFewPointsIsThese) {
  EXPECT_TRUE(ConvexHull({}).empty());
  EXPECT_EQ(ConvexHull({{2, 3}}).size(), 1u);
  EXPECT_EQ(ConvexHull({{2, 3}, {1, 1}}).size(), 2u);
}

TEST(HullDistance, IsZeroInside) {
  const std::vector<Eigen::Vector2d> square = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  EXPECT_EQ(HullDistance(square, {0.5, 0.2}), 0);
  EXPECT_NEAR(HullDistance(square, {1.3, 0.5}), 0.3, 1e-12);
  EXPECT_NEAR(HullDistance(square, {-3, -4}), 5, 1e-12);
  EXPECT_NEAR(HullDistance({{1, 1}}, {1, 3}), 2, 1e-12);
  EXPECT_NEAR(HullDistance({{0, 0}, {2, 0}}, {1, -0.5}), 0.5, 1e-12);
  EXPECT_TRUE(std::isinf(HullDistance({}, {0, 0})));
}

}  // namespace
}  // namespace retrace
