#include "retrace/math/convex_hull.h"

#include <algorithm>
#include <limits>

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

double HullDistance(const std::vector<Eigen::Vector2d>& points, const Eigen::Vector2d& p) {
  if (points.empty()) return std::numeric_limits<double>::infinity();
  const std::vector<Eigen::Vector2d> hull = ConvexHull(points);
  bool inside = hull.size() > 2;
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < hull.size(); ++i) {
    const Eigen::Vector2d& a = hull[i];
    const Eigen::Vector2d edge = hull[(i + 1) % hull.size()] - a;
    const Eigen::Vector2d from = p - a;
    inside = inside && edge.x() * from.y() - edge.y() * from.x() >= 0;
    const double share = edge.squaredNorm() > 0 ? std::clamp(from.dot(edge) / edge.squaredNorm(), 0.0, 1.0) : 0;
    nearest = std::min(nearest, (from - share * edge).norm());
  }
  return inside ? 0 : nearest;
}

}  // namespace retrace
