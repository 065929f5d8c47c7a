/// The vertical axis of markers.
#pragma once

#include "retrace/math/rotation.h"
#include "retrace/recordings/markers.h"

namespace retrace::recordings {

struct UpAxis {
  int axis = 1;       ///< 0 x, 1 y, 2 z
  bool down = false;  ///< that axis points down
};

/// What the file states, or else the axis along which the body is longest in the mean, head over feet.
UpAxis UpAxisOf(const Markers& markers);

/// Turns that axis to y.
inline Quat TurnToY(int axis, bool down = false) {
  if (axis == 1) return down ? AxisRotation(0, kPi) : Quat(Quat::Identity());
  return ShortestArc(Vec3::Unit(axis) * (down ? -1 : 1), Vec3::UnitY());
}

}  // namespace retrace::recordings
