/// Convex hulls in the plane.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace retrace {

/// Corners of the convex hull, counterclockwise, without points on its edges (Andrew's monotone chain). Of fewer than
/// three points all are corners.
std::vector<Eigen::Vector2d> ConvexHull(std::vector<Eigen::Vector2d> points);

/// Distance of a point from the convex hull of others: 0 inside it, infinite where there are no others.
double HullDistance(const std::vector<Eigen::Vector2d>& points, const Eigen::Vector2d& p);

}  // namespace retrace
