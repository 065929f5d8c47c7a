/// The point of a foot by which sliding is judged. Internal to the module.
#pragma once

#include <Eigen/Geometry>

#include "retrace/character/character.h"

namespace retrace::metrics {

/// The ball of a foot, in the body's frame: on the sole, in the middle of its width, at 70 % of its length.
inline Vec3 BallOfFoot(const character::Body& body) {
  constexpr double kBall = 0.7;
  Eigen::AlignedBox3d bounds;
  for (const auto& shape : body.shapes) {
    const Vec3 half = shape.HalfExtents();
    bounds.extend(Vec3(shape.offset - half)).extend(Vec3(shape.offset + half));
  }
  return {bounds.center().x(), bounds.min().y(), bounds.min().z() + kBall * bounds.sizes().z()};
}

}  // namespace retrace::metrics
