/// Masses of solid shapes.
#pragma once

#include "retrace/robots/robot.h"

namespace retrace::robots {

/// The mass of a solid shape, in its own frame. A mesh that is not closed has the mass of what the signed tetrahedra
/// add up to.
/// @param density [kg/m^3]
RobotMass MassOfShape(const RobotShape& shape, double density);

}  // namespace retrace::robots
