/// The ground as the camera sees it: light and shadow, a grid of meters, colored marks.
#pragma once

#include <cstdint>
#include <vector>

#include "light_maps.h"
#include "retrace/rendering/picture.h"

namespace retrace::rendering {

/// Rays of one row of pixels: first + k * step, of length 1 along the camera's axis. All fall equally steeply.
struct RowOfRays {
  Vec3 first, step;
};

class Ground {
 public:
  Ground(const Picture& picture, const LightMaps& light);
  /// What a row of pixels sees of it, or the background.
  void DrawRow(const RowOfRays& rays, std::vector<Color>& row) const;

 private:
  const Color& MarkAt(double x, double z) const;

  const Picture& picture_;
  const LightMaps& light_;
  std::vector<uint32_t> marks_;  // which mark lies on each cell around the focus, from 1; 0: none
  double low_x_ = 0, low_z_ = 0;
  int cells_ = 0;
};

}  // namespace retrace::rendering
