/// The inside of a closed surface as a heap of small boxes: volumes, centers and moments of its parts.
#pragma once

#include <vector>

#include "retrace/math/triangle_mesh.h"

namespace retrace::body_fitting {

/// A box inside of a surface.
struct VolumeCell {
  Vec3 center = Vec3::Zero();  ///< [m]
  Vec3 size = Vec3::Zero();    ///< [m]
  double volume() const { return size.prod(); }
};

/// Fills the inside with columns along z of `spacing` times `spacing`, which begin and end at the surface, cut into
/// cells that are `spacing` long. Inside is what the surface goes around at least once, so that what it overlaps itself
/// counts once. The columns lie symmetrically about x = 0. @param mesh a mesh without fault (triangle_mesh.h)
std::vector<VolumeCell> FillWithCells(const TriangleMesh& mesh, double spacing);

/// The sum over all cells, each with its own moments.
MassProperties SolidOf(const std::vector<VolumeCell>& cells);

}  // namespace retrace::body_fitting
