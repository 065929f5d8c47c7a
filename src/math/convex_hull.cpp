#include "retrace/math/convex_hull.h"

#include <algorithm>

namespace retrace {

std::vector<Eigen::Vector2d> ConvexHull(std::vector<Eigen::Vector2d> points) {
  using Vec2 = Eigen::Vector2d;
  std::sort(points.begin(), points.end(),
            [](const Vec2& a, const Vec2& b) { return a.x() != b.x() ? a.x() < b.x() : a.y() < b.y(); });
  if (points.size() < 3) return points;
  const auto turn = [](const Vec2& o, const Vec2& a, const Vec2& b) {
    return (a.x() - o.x()) * (b.y() - o.y()) - (a.y() - o.y()) * (b.x() - o.x());
  };
  std::vector<Vec2> hull;
  for (int side = 0; side < 2; ++side) {
    const size_t base = hull.size();
    for (const Vec2& p : points) {
      while (hull.size() >= base + 2 && turn(hull[hull.size() - 2], hull.back(), p) <= 0) hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

}  // namespace retrace
