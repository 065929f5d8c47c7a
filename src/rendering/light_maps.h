/// Where the sun does not reach, and where the ground is dark because something is close above it.
#pragma once

#include <vector>

#include "retrace/rendering/picture.h"

namespace retrace::rendering {

/// A square grid of numbers in the plane, read between its points.
class Grid {
 public:
  Grid(int size, double low_u, double low_v, double spacing, float value)
      : size_(size),
        low_u_(low_u),
        low_v_(low_v),
        spacing_(spacing),
        values_(static_cast<size_t>(size) * static_cast<size_t>(size), value) {}

  int size() const { return size_; }
  double spacing() const { return spacing_; }
  float& At(int i, int j) {
    return values_[static_cast<size_t>(j) * static_cast<size_t>(size_) + static_cast<size_t>(i)];
  }
  float At(int i, int j) const { return const_cast<Grid*>(this)->At(i, j); }
  /// In points of the grid.
  double U(double u) const { return (u - low_u_) / spacing_; }
  double V(double v) const { return (v - low_v_) / spacing_; }
  /// Interpolated between the four points around a position; `beyond` outside.
  float Between(double u, double v, float beyond) const;
  /// Makes a value at least as large.
  void Raise(int i, int j, float value);
  /// Where anything was raised: the mean over so many points to each side, twice, along both axes, and then `finish` of
  /// it. Elsewhere all is as it was, and what Between reads there is `beyond`.
  template <typename Finish>
  void Blur(int radius, const Finish& finish);

  /// Calls `visit(i, j, value)` for the points inside a triangle, with the value there.
  template <typename Visit>
  void Scan(const Vec3& a, const Vec3& b, const Vec3& c, const Visit& visit) const;

 private:
  int size_;
  double low_u_, low_v_, spacing_;
  std::vector<float> values_;
  int first_i_ = size_, last_i_ = -1, first_j_ = size_, last_j_ = -1;  // where anything was raised
};

/// What the sun and the sky see of solids around a focus.
class LightMaps {
 public:
  explicit LightMaps(const Picture& picture);

  /// Share of the sun that reaches a solid at a position.
  float SunAt(const Vec3& place) const;
  /// Share of the sun and of the sky that reach the ground.
  float SunOnGround(double x, double z) const { return ground_sun_.Between(x, z, 1); }
  float SkyOnGround(double x, double z) const { return ground_sky_.Between(x, z, 1); }
  const Vec3& sun() const { return sun_; }

 private:
  Vec3 sun_, across_, upward_;  // axes of what the sun sees
  Grid depth_;                  // nearest to the sun
  Grid ground_sun_;
  Grid ground_sky_;
};

}  // namespace retrace::rendering
