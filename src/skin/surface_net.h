/// The surface on which a function is zero, as triangles.
#pragma once

#include <functional>

#include "retrace/math/triangle_mesh.h"
#include "retrace/math/types.h"

namespace retrace::skin {

/// Surface net (Gibson 1998, Constrained Elastic Surface Nets): a vertex in each cell of a grid through which the
/// surface passes, moved onto it; triangles run counter-clockwise as seen from outside.
/// @param distance negative inside; it changes by no more than the distance between two positions, so that blocks of
/// cells far from the surface are left out
/// @param low, high corners of a box that holds the surface [m]
TriangleMesh SurfaceNet(const std::function<double(const Vec3&)>& distance, const Vec3& low, const Vec3& high,
                        double spacing);

}  // namespace retrace::skin
