#include "retrace/rendering/renderer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "ground.h"
#include "light_maps.h"
#include "retrace/math/rotation.h"

namespace retrace::rendering {
namespace {

constexpr int kBandRows = 32;      // of pixels that a thread draws at a time
constexpr double kNearest = 0.05;  // [m] from the eye
constexpr float kSunLight = 0.52f;
constexpr float kSkyLow = 0.4f, kSkyHigh = 0.64f;  // light from below and from above
constexpr float kRim = 0.22f;                      // of what is seen at a grazing angle

/// A corner of a triangle on the screen, in samples; what varies is divided by the distance along the camera's axis.
struct Corner {
  float x = 0, y = 0;
  float near = 0;  // 1 / distance
  float place[3];  // where it is in the world
  float sky = 0, sun = 0;
  float color[3];
};

struct Face {
  Corner corners[3];
  float low_y = 0, high_y = 0;
};

/// Linear light as a screen's byte, by a table.
class ScreenTable {
 public:
  ScreenTable() {
    for (int k = 0; k < kSteps; ++k) {
      const double share = static_cast<double>(k) / (kSteps - 1);
      const double shown = share <= 0.0031308 ? 12.92 * share : 1.055 * std::pow(share, 1 / 2.4) - 0.055;
      table_[static_cast<size_t>(k)] = static_cast<uint8_t>(std::lround(255 * shown));
    }
  }
  uint8_t operator()(float linear) const {
    const float bounded = std::clamp(linear, 0.0f, 1.0f);
    return table_[static_cast<size_t>(std::lround(bounded * (kSteps - 1)))];
  }

 private:
  static constexpr int kSteps = 8192;
  std::array<uint8_t, kSteps> table_;
};

/// Where a position appears on the screen.
class Lens {
 public:
  Lens(const Camera& camera, int width, int height, int sharpness) : eye_(camera.eye) {
    forward_ = (camera.target - camera.eye).normalized();
    Vec3 right = forward_.cross(Vec3::UnitY());
    right_ = right.norm() > 1e-9 ? Vec3(right.normalized()) : Vec3::UnitX();
    up_ = right_.cross(forward_);
    scale_ = 0.5 * height * sharpness / std::tan(0.5 * camera.angle);
    middle_x_ = 0.5 * width * sharpness;
    middle_y_ = 0.5 * height * sharpness;
    sharpness_ = sharpness;
  }
  Vec3 Seen(const Vec3& place) const {
    const Vec3 away = place - eye_;
    return {away.dot(right_), away.dot(up_), away.dot(forward_)};
  }
  float X(const Vec3& seen) const { return static_cast<float>(middle_x_ + scale_ * seen.x() / seen.z()); }
  float Y(const Vec3& seen) const { return static_cast<float>(middle_y_ - scale_ * seen.y() / seen.z()); }
  /// Through the middles of a row of pixels.
  RowOfRays RaysOf(int y) const {
    const double pixel = sharpness_ / scale_;
    const double x = 0.5 * pixel - middle_x_ / scale_, v = middle_y_ / scale_ - (y + 0.5) * pixel;
    return {forward_ + v * up_ + x * right_, pixel * right_};
  }
  const Vec3& eye() const { return eye_; }

 private:
  Vec3 eye_, forward_, right_, up_;
  double scale_ = 1, middle_x_ = 0, middle_y_ = 0;
  int sharpness_ = 1;
};

std::vector<Vec3> NormalsOf(const Solid& solid) {
  std::vector<Vec3> normals(solid.vertices.size(), Vec3::Zero());
  for (const auto& triangle : solid.triangles) {
    const Vec3& a = solid.vertices[static_cast<size_t>(triangle[0])];
    const Vec3 across = (solid.vertices[static_cast<size_t>(triangle[1])] - a)
                            .cross(solid.vertices[static_cast<size_t>(triangle[2])] - a);
    for (const int k : triangle) normals[static_cast<size_t>(k)] += across;
  }
  for (Vec3& normal : normals) normal.normalize();
  return normals;
}

/// Triangles that face the camera, with the light on their corners.
class Faces {
 public:
  Faces(const Lens& lens, const Vec3& sun) : lens_(lens), sun_(sun) {}

  void Add(const Solid& solid) {
    seen_.resize(solid.vertices.size());
    for (size_t v = 0; v < seen_.size(); ++v) seen_[v] = lens_.Seen(solid.vertices[v]);
    const std::vector<Vec3> normals = solid.smooth ? NormalsOf(solid) : std::vector<Vec3>();
    for (const auto& triangle : solid.triangles) {
      const Vec3& a = solid.vertices[static_cast<size_t>(triangle[0])];
      Vec3 flat = (solid.vertices[static_cast<size_t>(triangle[1])] - a)
                      .cross(solid.vertices[static_cast<size_t>(triangle[2])] - a);
      if (!(flat.dot(lens_.eye() - a) > 0)) continue;
      flat.normalize();
      Lit corners[3];
      for (size_t k = 0; k < 3; ++k) {
        const auto v = static_cast<size_t>(triangle[k]);
        const Color& color = solid.colors.size() == 1 ? solid.colors.front() : solid.colors[v];
        corners[k] = Light(seen_[v], solid.vertices[v], solid.smooth ? normals[v] : flat, color);
      }
      AddClipped(corners);
    }
  }

  const std::vector<Face>& faces() const { return faces_; }

 private:
  struct Lit {
    Vec3 seen, place;
    float sky = 0, sun = 0;
    Color color = {};
  };

  Lit Light(const Vec3& seen, const Vec3& place, const Vec3& normal, const Color& color) const {
    const auto above = static_cast<float>(0.5 + 0.5 * normal.y());
    const auto facing = static_cast<float>(std::max(0.0, (normal.dot(sun_) + 0.15) / 1.15));
    const double grazing = 1 - std::abs(normal.dot((lens_.eye() - place).normalized()));
    const auto rim = static_cast<float>(grazing * grazing * grazing);
    return {seen, place, kSkyLow + (kSkyHigh - kSkyLow) * above + kRim * rim * above, kSunLight * facing, color};
  }

  /// What is too near to the eye, or behind it, is cut off.
  void AddClipped(const Lit (&corners)[3]) {
    Lit kept[4];
    int count = 0;
    for (size_t k = 0; k < 3; ++k) {
      const Lit& here = corners[k];
      const Lit& next = corners[(k + 1) % 3];
      const bool inside = here.seen.z() > kNearest;
      if (inside) kept[count++] = here;
      if (inside == (next.seen.z() > kNearest)) continue;
      const double share = (kNearest - here.seen.z()) / (next.seen.z() - here.seen.z());
      Lit cut = here;
      cut.seen += share * (next.seen - here.seen);
      cut.place += share * (next.place - here.place);
      kept[count++] = cut;
    }
    for (int k = 2; k < count; ++k) AddFace(kept[0], kept[k - 1], kept[k]);
  }

  void AddFace(const Lit& a, const Lit& b, const Lit& c) {
    Face face;
    const Lit* const lit[3] = {&a, &b, &c};
    for (size_t k = 0; k < 3; ++k) {
      Corner& corner = face.corners[k];
      corner.x = lens_.X(lit[k]->seen);
      corner.y = lens_.Y(lit[k]->seen);
      corner.near = static_cast<float>(1 / lit[k]->seen.z());
      for (int i = 0; i < 3; ++i) {
        corner.place[i] = static_cast<float>(lit[k]->place[i]) * corner.near;
        corner.color[i] = lit[k]->color[static_cast<size_t>(i)] * corner.near;
      }
      corner.sky = lit[k]->sky * corner.near;
      corner.sun = lit[k]->sun * corner.near;
    }
    face.low_y = std::min({face.corners[0].y, face.corners[1].y, face.corners[2].y});
    face.high_y = std::max({face.corners[0].y, face.corners[1].y, face.corners[2].y});
    faces_.push_back(face);
  }

  const Lens& lens_;
  Vec3 sun_;
  std::vector<Vec3> seen_;
  std::vector<Face> faces_;
};

/// Samples of some rows of pixels.
class Samples {
 public:
  Samples(int width, int rows)
      : width_(width),
        rows_(rows),
        first_x_(width),
        near_(static_cast<size_t>(width) * static_cast<size_t>(rows)),
        colors_(near_.size()) {}

  void Clear() {
    for (int y = 0; y < rows_ && first_x_ <= last_x_; ++y) {
      std::fill(near_.begin() + static_cast<std::ptrdiff_t>(Index(first_x_, y)),
                near_.begin() + static_cast<std::ptrdiff_t>(Index(last_x_, y)) + 1, 0.0f);
    }
    first_x_ = width_;
    last_x_ = -1;
  }
  /// Columns beyond which there is nothing.
  int first_x() const { return first_x_; }
  int last_x() const { return last_x_; }
  float NearAt(int x, int y) const { return near_[Index(x, y)]; }
  const Color& ColorAt(int x, int y) const { return colors_[Index(x, y)]; }

  /// @param first_row of the samples on the screen
  /// @param light null: the sun reaches everything
  void Draw(const Face& face, int first_row, int rows, const LightMaps* light) {
    const Corner &a = face.corners[0], &b = face.corners[1], &c = face.corners[2];
    const float area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    if (!(std::abs(area) > 1e-6f)) return;
    const float per_area = 1 / area;
    const auto top = static_cast<float>(first_row), bottom = static_cast<float>(first_row + rows);
    const int y0 = static_cast<int>(std::ceil(std::max(face.low_y - 0.5f, top)));
    const int y1 = static_cast<int>(std::floor(std::min(face.high_y - 0.5f, bottom - 1)));
    const float low_x = std::max(std::min({a.x, b.x, c.x}) - 0.5f, 0.0f);
    const float high_x = std::min(std::max({a.x, b.x, c.x}) - 0.5f, static_cast<float>(width_ - 1));
    const int x0 = static_cast<int>(std::ceil(low_x)), x1 = static_cast<int>(std::floor(high_x));
    if (x1 < x0 || y1 < y0) return;
    first_x_ = std::min(first_x_, x0);
    last_x_ = std::max(last_x_, x1);
    for (int y = y0; y <= y1; ++y) {
      const float py = static_cast<float>(y) + 0.5f;
      for (int x = x0; x <= x1; ++x) {
        const float px = static_cast<float>(x) + 0.5f;
        const float wb = ((px - a.x) * (c.y - a.y) - (c.x - a.x) * (py - a.y)) * per_area;
        const float wc = ((b.x - a.x) * (py - a.y) - (px - a.x) * (b.y - a.y)) * per_area;
        const float wa = 1 - wb - wc;
        if (wa < 0 || wb < 0 || wc < 0) continue;
        const float near = wa * a.near + wb * b.near + wc * c.near;
        const size_t index = Index(x, y - first_row);
        if (near <= near_[index]) continue;
        near_[index] = near;
        const auto at = [&](float va, float vb, float vc) { return (wa * va + wb * vb + wc * vc) / near; };
        float sun = at(a.sun, b.sun, c.sun);
        if (light != nullptr && sun > 0.01f) {
          sun *= light->SunAt({at(a.place[0], b.place[0], c.place[0]), at(a.place[1], b.place[1], c.place[1]),
                               at(a.place[2], b.place[2], c.place[2])});
        }
        const float lit = at(a.sky, b.sky, c.sky) + sun;
        for (size_t k = 0; k < 3; ++k) colors_[index][k] = lit * at(a.color[k], b.color[k], c.color[k]);
      }
    }
  }

 private:
  size_t Index(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x);
  }
  int width_, rows_;
  int first_x_, last_x_ = -1;
  std::vector<float> near_;
  std::vector<Color> colors_;
};

Solid ArrowSolid(const ForceArrow& arrow, double radius) {
  constexpr int kAround = 16;
  Solid solid;
  solid.colors = {arrow.color};
  const Vec3 whole = arrow.to - arrow.from;
  const double length = whole.norm();
  if (!(length > 1e-6)) return solid;
  const double size = std::min(1.0, length / (9 * radius));  // a short arrow is a small one
  const double shaft = radius * size, head = 2.6 * radius * size, tip = 6.5 * radius * size;
  const Quat turn = ShortestArc(Vec3::UnitY(), whole / length);
  const double rings[4][2] = {{0, shaft}, {length - tip, shaft}, {length - tip, head}, {length, 0}};
  for (const auto& [along, out] : rings) {
    for (int k = 0; k < kAround; ++k) {
      const double angle = 2 * kPi * k / kAround;
      solid.vertices.push_back(arrow.from + turn * Vec3(out * std::sin(angle), along, out * std::cos(angle)));
    }
  }
  for (int ring = 0; ring < 3; ++ring) {
    for (int k = 0; k < kAround; ++k) {
      const int next = (k + 1) % kAround, below = ring * kAround, above = below + kAround;
      solid.triangles.push_back({below + k, below + next, above + next});
      solid.triangles.push_back({below + k, above + next, above + k});
    }
  }
  return solid;
}

/// All that is the same for every band of rows.
class Drawing {
 public:
  Drawing(const Picture& picture, int width, int height, int sharpness)
      : picture_(picture),
        sharpness_(sharpness),
        image_(width, height),
        lens_(picture.camera, width, height, sharpness),
        light_(picture),
        ground_(picture, light_),
        solids_(lens_, light_.sun()),
        ghosts_(lens_, light_.sun()),
        arrows_(lens_, light_.sun()) {
    for (const Solid& solid : picture.solids) solids_.Add(solid);
    for (const Solid& ghost : picture.ghosts) ghosts_.Add(ghost);
    for (const ForceArrow& arrow : picture.arrows) arrows_.Add(ArrowSolid(arrow, picture.arrow_radius));
  }

  Image Draw(int threads) {
    std::atomic<int> next = 0;
    const int bands = (image_.height + kBandRows - 1) / kBandRows;
    const auto work = [&] {
      Samples solids(image_.width * sharpness_, kBandRows * sharpness_), above = solids;
      for (int band = next++; band < bands; band = next++) DrawBand(band * kBandRows, solids, above);
    };
    std::vector<std::thread> others;
    for (int k = 1; k < threads; ++k) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
    return std::move(image_);
  }

 private:
  void DrawBand(int first, Samples& solids, Samples& above) {
    const int rows = std::min(kBandRows, image_.height - first);
    std::vector<std::vector<Color>> colors(static_cast<size_t>(rows),
                                           std::vector<Color>(static_cast<size_t>(image_.width)));
    for (int y = 0; y < rows; ++y) ground_.DrawRow(lens_.RaysOf(first + y), colors[static_cast<size_t>(y)]);
    solids.Clear();
    if (Fill(solids_, first, rows, solids, &light_)) Lay(solids, nullptr, 1, colors);
    above.Clear();
    if (Fill(ghosts_, first, rows, above, nullptr)) Lay(above, &solids, picture_.ghost_opacity, colors);
    above.Clear();
    if (Fill(arrows_, first, rows, above, nullptr)) Lay(above, nullptr, 1, colors);
    for (int y = 0; y < rows; ++y) {
      uint8_t* byte = image_.Row(first + y);
      for (const Color& color : colors[static_cast<size_t>(y)]) {
        for (const float share : color) *byte++ = screen_(share);
      }
    }
  }

  /// Whether there was anything.
  bool Fill(const Faces& faces, int first, int rows, Samples& samples, const LightMaps* light) const {
    bool any = false;
    const auto top = static_cast<float>(first * sharpness_), bottom = static_cast<float>((first + rows) * sharpness_);
    for (const Face& face : faces.faces()) {
      if (face.high_y < top || face.low_y > bottom) continue;
      samples.Draw(face, first * sharpness_, rows * sharpness_, light);
      any = true;
    }
    return any;
  }

  /// Samples over the colors that are there, but where something else is nearer.
  void Lay(const Samples& samples, const Samples* hidden_by, float opacity,
           std::vector<std::vector<Color>>& colors) const {
    const float share = opacity / static_cast<float>(sharpness_ * sharpness_);
    const int first = samples.first_x() / sharpness_, last = samples.last_x() < 0 ? -1 : samples.last_x() / sharpness_;
    for (size_t y = 0; y < colors.size(); ++y) {
      for (int x = first; x <= last; ++x) {
        Color sum = {};
        int covered = 0;
        for (int v = 0; v < sharpness_; ++v) {
          for (int u = 0; u < sharpness_; ++u) {
            const int sx = x * sharpness_ + u, sy = static_cast<int>(y) * sharpness_ + v;
            const float near = samples.NearAt(sx, sy);
            if (near <= 0 || (hidden_by != nullptr && hidden_by->NearAt(sx, sy) > near)) continue;
            ++covered;
            for (size_t k = 0; k < 3; ++k) sum[k] += std::min(1.0f, samples.ColorAt(sx, sy)[k]);
          }
        }
        if (covered == 0) continue;
        Color& color = colors[y][static_cast<size_t>(x)];
        const float left = 1 - share * static_cast<float>(covered);
        for (size_t k = 0; k < 3; ++k) color[k] = left * color[k] + share * sum[k];
      }
    }
  }

  const Picture& picture_;
  int sharpness_;
  Image image_;
  Lens lens_;
  LightMaps light_;
  Ground ground_;
  Faces solids_, ghosts_, arrows_;
  ScreenTable screen_;
};

}  // namespace

Image Draw(const Picture& picture, int width, int height, int threads, int sharpness) {
  if (width < 1 || height < 1 || threads < 1 || sharpness < 1) throw std::invalid_argument("a picture without pixels");
  return Drawing(picture, width, height, sharpness).Draw(threads);
}

}  // namespace retrace::rendering
