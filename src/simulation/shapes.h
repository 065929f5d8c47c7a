/// What the searches for contact share: shapes as ODE has them, and how far ahead they look.
#pragma once

#include <ode/ode.h>

#include "retrace/math/rotation.h"
#include "retrace/math/types.h"

namespace retrace::simulation {

/// Distance within which a contact acts ahead of time: where nothing moves, and at most [m].
inline constexpr double kSmallestMargin = 0.001;
inline constexpr double kLargestMargin = 0.05;

/// ODE's capsules lie along z: the turn, in its body, of one that lies along another axis.
inline Quat TurnOfCapsule(int axis) {
  if (axis == 0) return AxisRotation(1, kPi / 2);
  if (axis == 1) return AxisRotation(0, kPi / 2);
  return Quat::Identity();
}

void PlaceGeom(dGeomID geom, const Vec3& position, const Quat& q);

}  // namespace retrace::simulation
