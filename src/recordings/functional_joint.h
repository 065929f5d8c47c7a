/// The center of a joint by how the markers of its two bodies move against one another.
#pragma once

#include <optional>
#include <vector>

#include "retrace/math/types.h"

namespace retrace::recordings {

struct FunctionalJoint {
  std::vector<Vec3> centers;  ///< (frames) [m]
  double misfit = 0;          ///< root mean square distance of the two bodies' centers from one another [m]
};

/// Roughly where a joint is, at each frame: near a line, or near a point where the direction is zero.
struct RoughJoint {
  std::vector<Vec3> points;      ///< [m]
  std::vector<Vec3> directions;  ///< of unit length, or zero
};

/// The point that both bodies keep in their own axes as well as they can, by least squares over all frames (Ehrig et
/// al. 2006, 2007: SCoRE, SARA). Where the joint is a hinge, that is a line, and the point of it is taken that comes
/// nearest to where the joint roughly is. Nothing where a body has fewer than three markers or all of them in a line,
/// and where the joint bends too little to tell where it is.
/// @param first, second (markers) paths of equal length in world axes [m], without gaps
std::optional<FunctionalJoint> FindJoint(const std::vector<const std::vector<Vec3>*>& first,
                                         const std::vector<const std::vector<Vec3>*>& second, const RoughJoint& rough);

}  // namespace retrace::recordings
