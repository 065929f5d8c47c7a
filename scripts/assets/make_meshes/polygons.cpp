#include "polygons.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace retrace::make_meshes {
namespace {

/// The half at x >= 0. Vertices are places on edges of the grid; those at x = 0 are on its first plane.
class Half {
 public:
  Half(const std::function<double(const Vec3&)>& function, const Vec3& low, const Eigen::Vector3i& cells,
       double spacing)
      : low_(low), points_(cells + Eigen::Vector3i::Ones()), spacing_(spacing) {
    for (int k = 0; k < points_.z(); ++k) {
      for (int j = 0; j < points_.y(); ++j) {
        for (int i = 0; i < points_.x(); ++i) values_.push_back(AwayFromZero(function(PlaceOf({i, j, k}))));
      }
    }
    for (int k = 0; k + 1 < points_.z(); ++k) {
      for (int j = 0; j + 1 < points_.y(); ++j) {
        for (int i = 0; i + 1 < points_.x(); ++i) AddCube({i, j, k});
      }
    }
  }

  TriangleMesh Take() { return std::move(mesh_); }

 private:
  using Corner = Eigen::Vector3i;

  /// A vertex at a point of the grid would be one of several at the same place.
  double AwayFromZero(double value) const {
    const double least = 0.05 * spacing_;
    return std::abs(value) < least ? std::copysign(least, value) : value;
  }
  Vec3 PlaceOf(const Corner& c) const { return low_ + spacing_ * c.cast<double>(); }
  int64_t NumberOf(const Corner& c) const {
    return (static_cast<int64_t>(c.z()) * points_.y() + c.y()) * points_.x() + c.x();
  }
  double ValueAt(const Corner& c) const { return values_[static_cast<size_t>(NumberOf(c))]; }

  void AddCube(const Corner& at) {
    // From corner 000 to 111 along the axes in each order: the tetrahedra of neighboring cubes share their faces.
    static constexpr int kOrders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (size_t order = 0; order < 6; ++order) {
      std::array<Corner, 4> corners = {at, at, at, at};
      for (size_t step = 0; step < 3; ++step) {
        for (size_t c = step + 1; c < 4; ++c) ++corners[c][kOrders[order][step]];
      }
      if (order >= 3) std::swap(corners[2], corners[3]);  // the odd ones are mirror images
      AddTetrahedron(corners);
    }
  }

  /// @param c a right-handed tetrahedron: (c1 - c0) x (c2 - c0) . (c3 - c0) > 0
  void AddTetrahedron(const std::array<Corner, 4>& c) {
    std::vector<size_t> in, out;
    for (size_t k = 0; k < 4; ++k) (ValueAt(c[k]) < 0 ? in : out).push_back(k);
    const auto on = [&](size_t a, size_t b) { return VertexBetween(c[a], c[b]); };
    if (in.size() == 1 || in.size() == 3) {
      const size_t alone = in.size() == 1 ? in[0] : out[0];
      // The other three, counter-clockwise as seen from the one that is alone.
      static constexpr size_t kOthers[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
      const auto& o = kOthers[alone];
      std::array<int, 3> triangle = {on(alone, o[0]), on(alone, o[1]), on(alone, o[2])};
      if (in.size() == 1) std::swap(triangle[1], triangle[2]);
      mesh_.triangles.push_back(triangle);
    } else if (in.size() == 2) {
      const int quad[4] = {on(in[0], out[0]), on(in[0], out[1]), on(in[1], out[1]), on(in[1], out[0])};
      // An even permutation of the corners keeps the sense.
      const bool even = (in[0] == 0 && in[1] == 1) || (in[0] == 0 && in[1] == 3) || (in[0] == 1 && in[1] == 2) ||
                        (in[0] == 2 && in[1] == 3);
      if (even) {
        mesh_.triangles.push_back({quad[0], quad[1], quad[2]});
        mesh_.triangles.push_back({quad[0], quad[2], quad[3]});
      } else {
        mesh_.triangles.push_back({quad[0], quad[2], quad[1]});
        mesh_.triangles.push_back({quad[0], quad[3], quad[2]});
      }
    }
  }

  int VertexBetween(const Corner& a, const Corner& b) {
    const int64_t first = NumberOf(a), second = NumberOf(b);
    const std::pair key(std::min(first, second), std::max(first, second));
    const auto [entry, is_new] = vertices_.emplace(key, static_cast<int>(mesh_.vertices.size()));
    if (is_new) {
      const bool swapped = second < first;
      const Corner& from = swapped ? b : a;
      const Corner& to = swapped ? a : b;
      const double share = ValueAt(from) / (ValueAt(from) - ValueAt(to));
      mesh_.vertices.push_back(PlaceOf(from) + share * (PlaceOf(to) - PlaceOf(from)));
    }
    return entry->second;
  }

  Vec3 low_;
  Eigen::Vector3i points_;
  double spacing_;
  std::vector<double> values_;
  TriangleMesh mesh_;
  std::map<std::pair<int64_t, int64_t>, int> vertices_;
};

}  // namespace

TriangleMesh SymmetricSurface(const std::function<double(const Vec3&)>& function, const Vec3& corner, double low,
                              double spacing) {
  const Vec3 begin(0, low, -corner.z());
  const Eigen::Vector3i cells = ((corner - begin) / spacing).array().ceil().cast<int>();
  TriangleMesh mesh = Half(function, begin, cells, spacing).Take();
  const size_t half = mesh.vertices.size();
  std::vector<int> mirrored(half);
  for (size_t v = 0; v < half; ++v) {
    const Vec3 place = mesh.vertices[v];
    if (place.x() == 0) {
      mirrored[v] = static_cast<int>(v);
      continue;
    }
    mirrored[v] = static_cast<int>(mesh.vertices.size());
    mesh.vertices.emplace_back(-place.x(), place.y(), place.z());
  }
  const size_t triangles = mesh.triangles.size();
  for (size_t t = 0; t < triangles; ++t) {
    const auto at = [&](size_t k) { return mirrored[static_cast<size_t>(mesh.triangles[t][k])]; };
    mesh.triangles.push_back({at(0), at(2), at(1)});
  }
  return mesh;
}

}  // namespace retrace::make_meshes
