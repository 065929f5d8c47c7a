/// Shapes of robots as those of characters, whose axes are those of the body.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/robots/robot.h"

namespace retrace::robots {

/// What became of the shapes.
struct ShapeCounts {
  size_t fitted_boxes = 0;
  size_t fitted_capsules = 0;
  size_t prisms = 0;  ///< cylinders, ellipsoids, and capsules and boxes across the body's axes
};

/// @param placement of the shape's own frame in the body's axes, about its center of mass
/// @param flat a mesh becomes a box, because it stands on the floor
character::Shape ShapeOfBody(const RobotShape& shape, const LinkFrame& placement, bool flat, ShapeCounts& counts);

}  // namespace retrace::robots
