/// A closed surface where a function is zero.
#pragma once

#include <functional>

#include "retrace/math/triangle_mesh.h"

namespace retrace::make_meshes {

/// Marching tetrahedra (Doi and Koide 1991) over a grid of cubes, each cut into six about its diagonal: the surface is
/// closed where the function is positive at the border of the box. Only x >= 0 is looked at, and the rest is its mirror
/// image, to the last bit. @param function negative inside @param corner of the box, farthest from the origin along x;
/// the box begins at x = 0 and the negative of its other coordinates, but y = `low` @param spacing of the grid [m]
TriangleMesh SymmetricSurface(const std::function<double(const Vec3&)>& function, const Vec3& corner, double low,
                              double spacing);

}  // namespace retrace::make_meshes
