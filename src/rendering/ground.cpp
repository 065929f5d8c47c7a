#include "ground.h"

#include <algorithm>
#include <cmath>

namespace retrace::rendering {
namespace {

constexpr double kLine = 0.008;                      // half width of a grid line [m]
constexpr double kClear = 5, kLost = 22;             // between these distances the ground becomes background [m]
constexpr float kSunShare = 0.6f, kSkyShare = 0.4f;  // of the light on open ground
constexpr double kMarked = 12;                       // marks are drawn as far from the focus as this [m]

/// The share of a pixel `size` wide that a line of the grid covers, at a coordinate [m].
float LineShare(double at, double size) {
  const double away = std::abs(at - std::nearbyint(at));
  if (away > kLine + 0.5 * size) return 0;
  const double inside = std::min(1.0, 0.5 + (kLine - away) / size);
  return static_cast<float>(inside * std::min(1.0, 2 * kLine / size));
}

}  // namespace

Ground::Ground(const Picture& picture, const LightMaps& light) : picture_(picture), light_(light) {
  if (picture.marks.empty()) return;
  cells_ = static_cast<int>(2 * kMarked / picture.mark_side);
  const auto corner = [&](double middle) {
    return picture.mark_side * (std::floor(middle / picture.mark_side) - 0.5 * cells_);
  };
  low_x_ = corner(picture.focus.x());
  low_z_ = corner(picture.focus.z());
  marks_.assign(static_cast<size_t>(cells_) * static_cast<size_t>(cells_), 0);
  for (size_t k = 0; k < picture.marks.size(); ++k) {
    const double i = std::floor((picture.marks[k].x - low_x_) / picture.mark_side);
    const double j = std::floor((picture.marks[k].z - low_z_) / picture.mark_side);
    if (!(i >= 0 && j >= 0 && i < cells_ && j < cells_)) continue;
    marks_[static_cast<size_t>(j) * static_cast<size_t>(cells_) + static_cast<size_t>(i)] =
        static_cast<uint32_t>(k + 1);
  }
}

const Color& Ground::MarkAt(double x, double z) const {
  if (cells_ == 0) return picture_.ground_color;
  const int i = static_cast<int>((x - low_x_) / picture_.mark_side),
            j = static_cast<int>((z - low_z_) / picture_.mark_side);
  if (x < low_x_ || z < low_z_ || i >= cells_ || j >= cells_) return picture_.ground_color;
  const uint32_t mark = marks_[static_cast<size_t>(j) * static_cast<size_t>(cells_) + static_cast<size_t>(i)];
  return mark == 0 ? picture_.ground_color : picture_.marks[mark - 1].color;
}

void Ground::DrawRow(const RowOfRays& rays, std::vector<Color>& row) const {
  const double height = picture_.camera.eye.y() - picture_.ground;
  const double fall = rays.first.y();
  const double away = picture_.has_ground && fall * height < 0 ? -height / fall : -1;
  if (!(away > 0 && away < 1000)) {
    std::fill(row.begin(), row.end(), picture_.background);
    return;
  }
  const Vec3 first = picture_.camera.eye + away * rays.first, step = away * rays.step;
  // A pixel is as wide as this across the ray, and longer along it.
  const double size = step.norm();
  const double height_squared = height * height;
  for (size_t k = 0; k < row.size(); ++k) {
    const double x = first.x() + static_cast<double>(k) * step.x(), z = first.z() + static_cast<double>(k) * step.z();
    const double fx = x - picture_.focus.x(), fz = z - picture_.focus.z();
    const double flat = fx * fx + fz * fz;
    if (flat >= kLost * kLost) {
      row[k] = picture_.background;
      continue;
    }
    float fade = 0;
    if (flat > kClear * kClear) {
      const auto gone = static_cast<float>((std::sqrt(flat) - kClear) / (kLost - kClear));
      fade = gone * gone * (3 - 2 * gone);
    }
    const double dx = x - picture_.camera.eye.x(), dz = z - picture_.camera.eye.z();
    const double level = dx * dx + dz * dz;
    const double stretch = std::sqrt(1 + level / height_squared) - 1, per_level = stretch / std::sqrt(level + 1e-12);
    const float line = std::max(LineShare(x, size * (1 + per_level * std::abs(dx))),
                                LineShare(z, size * (1 + per_level * std::abs(dz))));
    const float shade = (kSunShare * light_.SunOnGround(x, z) + kSkyShare) * light_.SkyOnGround(x, z);
    const Color& bare = MarkAt(x, z);
    for (size_t c = 0; c < 3; ++c) {
      const float lit = (bare[c] + line * (picture_.grid_color[c] - bare[c])) * shade;
      row[k][c] = lit + fade * (picture_.background[c] - lit);
    }
  }
}

}  // namespace retrace::rendering
