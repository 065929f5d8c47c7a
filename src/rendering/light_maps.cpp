#include "light_maps.h"

#include <algorithm>
#include <cmath>

namespace retrace::rendering {
namespace {

constexpr int kDepthPoints = 1536;
constexpr int kGroundPoints = 1024;
constexpr int kSkyPoints = 320;
constexpr float kFar = -1e9f;
constexpr double kBias = 0.02;        // [m] so that a surface casts no shadow on itself
constexpr double kPenumbra = 0.022;   // [m] half width of a shadow's edge on the ground
constexpr double kNear = 0.11;        // [m] height over the ground at which a solid hides 1/e of the sky
constexpr double kSkyBlur = 0.05;     // [m]
constexpr float kMostHidden = 0.75f;  // of the sky

/// The first point of a grid of so many points about a position, on the grid's own raster: shadows do not swim as it
/// moves.
double FirstPoint(double middle, int points, double spacing) {
  return spacing * std::round(middle / spacing - 0.5 * points);
}

Grid Around(double u, double v, double reach, int points, float value) {
  const double spacing = 2 * reach / points;
  return Grid(points, FirstPoint(u, points, spacing), FirstPoint(v, points, spacing), spacing, value);
}

}  // namespace

template <typename Visit>
void Grid::Scan(const Vec3& a, const Vec3& b, const Vec3& c, const Visit& visit) const {
  const double ax = U(a.x()), ay = V(a.y()), bx = U(b.x()), by = V(b.y()), cx = U(c.x()), cy = V(c.y());
  const double area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
  if (!(std::abs(area) > 1e-9)) return;
  const int first = std::max(0, static_cast<int>(std::ceil(std::min({ay, by, cy}))));
  const int last = std::min(size_ - 1, static_cast<int>(std::floor(std::max({ay, by, cy}))));
  const int left = std::max(0, static_cast<int>(std::ceil(std::min({ax, bx, cx}))));
  const int right = std::min(size_ - 1, static_cast<int>(std::floor(std::max({ax, bx, cx}))));
  for (int j = first; j <= last; ++j) {
    for (int i = left; i <= right; ++i) {
      const double wb = ((i - ax) * (cy - ay) - (cx - ax) * (j - ay)) / area;
      const double wc = ((bx - ax) * (j - ay) - (i - ax) * (by - ay)) / area;
      if (wb < 0 || wc < 0 || wb + wc > 1) continue;
      visit(i, j, static_cast<float>(a.z() + wb * (b.z() - a.z()) + wc * (c.z() - a.z())));
    }
  }
}

float Grid::Between(double u, double v, float beyond) const {
  const double x = U(u), y = V(v);
  if (!(x >= first_i_ && y >= first_j_ && x < last_i_ && y < last_j_)) return beyond;
  const int i = static_cast<int>(x), j = static_cast<int>(y);
  const auto s = static_cast<float>(x - i), t = static_cast<float>(y - j);
  return (1 - t) * ((1 - s) * At(i, j) + s * At(i + 1, j)) + t * ((1 - s) * At(i, j + 1) + s * At(i + 1, j + 1));
}

void Grid::Raise(int i, int j, float value) {
  float& there = At(i, j);
  there = std::max(there, value);
  first_i_ = std::min(first_i_, i);
  last_i_ = std::max(last_i_, i);
  first_j_ = std::min(first_j_, j);
  last_j_ = std::max(last_j_, j);
}

template <typename Finish>
void Grid::Blur(int radius, const Finish& finish) {
  if (last_i_ < 0) return;
  const int reach = 2 * radius + 2;
  first_i_ = std::max(0, first_i_ - reach);
  last_i_ = std::min(size_ - 1, last_i_ + reach);
  first_j_ = std::max(0, first_j_ - reach);
  last_j_ = std::min(size_ - 1, last_j_ + reach);
  const int width = last_i_ - first_i_ + 1, height = last_j_ - first_j_ + 1;
  const float share = 1.0f / static_cast<float>(2 * radius + 1);
  std::vector<float> line(static_cast<size_t>(std::max(width, height)));
  std::vector<float> sums(static_cast<size_t>(width));
  std::vector<float> before(static_cast<size_t>(width) * static_cast<size_t>(height));
  for (int round = 0; round < 2; ++round) {
    for (int j = first_j_; j <= last_j_; ++j) {
      float* const row = &At(first_i_, j);
      float sum = 0;
      for (int k = 0; k < std::min(radius, width); ++k) sum += row[k];
      for (int k = 0; k < width; ++k) {
        if (k + radius < width) sum += row[k + radius];
        line[static_cast<size_t>(k)] = share * sum;
        if (k >= radius) sum -= row[k - radius];
      }
      std::copy_n(line.data(), width, row);
    }
    // Along the columns, a row at a time.
    for (int j = 0; j < height; ++j) {
      std::copy_n(&At(first_i_, first_j_ + j), width,
                  before.data() + static_cast<size_t>(j) * static_cast<size_t>(width));
    }
    std::fill(sums.begin(), sums.end(), 0.0f);
    const auto add = [&](int j, float factor) {
      if (j < 0 || j >= height) return;
      const float* const row = before.data() + static_cast<size_t>(j) * static_cast<size_t>(width);
      for (int k = 0; k < width; ++k) sums[static_cast<size_t>(k)] += factor * row[k];
    };
    for (int j = 0; j < std::min(radius, height); ++j) add(j, 1);
    for (int j = 0; j < height; ++j) {
      add(j + radius, 1);
      float* const row = &At(first_i_, first_j_ + j);
      for (int k = 0; k < width; ++k) row[k] = share * sums[static_cast<size_t>(k)];
      add(j - radius, -1);
    }
  }
  for (int j = first_j_; j <= last_j_; ++j) {
    for (int i = first_i_; i <= last_i_; ++i) At(i, j) = finish(At(i, j));
  }
}

LightMaps::LightMaps(const Picture& picture)
    : sun_(picture.sun.normalized()),
      across_(sun_.cross(Vec3::UnitY()).norm() > 1e-6 ? Vec3(sun_.cross(Vec3::UnitY()).normalized()) : Vec3::UnitX()),
      upward_(across_.cross(sun_)),
      depth_(Around(picture.focus.dot(across_), picture.focus.dot(upward_), picture.reach, kDepthPoints, kFar)),
      ground_sun_(Around(picture.focus.x(), picture.focus.z(), picture.reach, kGroundPoints, 0)),
      ground_sky_(Around(picture.focus.x(), picture.focus.z(), picture.reach, kSkyPoints, 0)) {
  for (const Solid& solid : picture.solids) {
    for (const auto& triangle : solid.triangles) {
      Vec3 seen[3], on_ground[3], from_above[3];
      bool is_above = true;
      for (size_t k = 0; k < 3; ++k) {
        const Vec3& place = solid.vertices[static_cast<size_t>(triangle[k])];
        seen[k] = Vec3(place.dot(across_), place.dot(upward_), place.dot(sun_));
        const double height = place.y() - picture.ground;
        const Vec3 cast = place - std::max(0.0, height) / sun_.y() * sun_;
        on_ground[k] = Vec3(cast.x(), cast.z(), 0);
        from_above[k] = Vec3(place.x(), place.z(), height);
        is_above = is_above && height > -0.3;
      }
      depth_.Scan(seen[0], seen[1], seen[2], [&](int i, int j, float depth) {
        float& nearest = depth_.At(i, j);
        nearest = std::max(nearest, depth);
      });
      if (!picture.has_ground || !is_above) continue;
      ground_sun_.Scan(on_ground[0], on_ground[1], on_ground[2],
                       [&](int i, int j, float) { ground_sun_.Raise(i, j, 1); });
      ground_sky_.Scan(from_above[0], from_above[1], from_above[2], [&](int i, int j, float height) {
        ground_sky_.Raise(i, j, static_cast<float>(std::exp(-std::max(0.0f, height) / kNear)));
      });
    }
  }
  const auto light_left = [](float most) {
    return [most](float hidden) { return 1 - most * std::clamp(hidden, 0.0f, 1.0f); };
  };
  ground_sun_.Blur(static_cast<int>(std::lround(kPenumbra / ground_sun_.spacing())), light_left(1));
  ground_sky_.Blur(static_cast<int>(std::lround(kSkyBlur / ground_sky_.spacing())), light_left(kMostHidden));
}

float LightMaps::SunAt(const Vec3& place) const {
  const double x = depth_.U(place.dot(across_)), y = depth_.V(place.dot(upward_));
  if (!(x >= 1 && y >= 1 && x < depth_.size() - 2 && y < depth_.size() - 2)) return 1;
  const auto here = static_cast<float>(place.dot(sun_) + kBias);
  const int i = static_cast<int>(x), j = static_cast<int>(y);
  const auto s = static_cast<float>(x - i), t = static_cast<float>(y - j);
  // Lit points among sixteen, weighted by a tent of two points' width.
  const float columns[4] = {1 - s, 1, 1, s}, rows[4] = {1 - t, 1, 1, t};
  float lit = 0;
  for (int v = 0; v < 4; ++v) {
    for (int u = 0; u < 4; ++u) {
      if (depth_.At(i + u - 1, j + v - 1) < here) lit += columns[u] * rows[v];
    }
  }
  return lit / 9;
}

}  // namespace retrace::rendering
