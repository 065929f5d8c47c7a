/// The corners of shapes.
#pragma once

#include <array>

#include "retrace/character/character.h"

namespace retrace::character {

/// Corners of the box that holds a shape, along the body's axes and about its center of mass [m].
inline std::array<Vec3, 8> CornersOf(const Shape& shape) {
  std::array<Vec3, 8> corners;
  const Vec3 half = shape.HalfExtents();
  for (size_t c = 0; c < corners.size(); ++c) {
    const Vec3 signs((c & 1) != 0 ? 1 : -1, (c & 2) != 0 ? 1 : -1, (c & 4) != 0 ? 1 : -1);
    corners[c] = shape.offset + half.cwiseProduct(signs);
  }
  return corners;
}

}  // namespace retrace::character
