#include "retrace/body_fitting/surface_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/BVH>
#include <vector>

namespace retrace::body_fitting {
namespace boxes {

struct Triangle {
  const TriangleMesh* mesh;
  int index;
  const Vec3& Corner(size_t k) const {
    return mesh->vertices[static_cast<size_t>(mesh->triangles[static_cast<size_t>(index)][k])];
  }
};

/// Looked up by Eigen's hierarchy of boxes, by argument-dependent lookup.
inline Eigen::AlignedBox3d bounding_box(const Triangle& triangle) {  // NOLINT(readability-identifier-naming)
  Eigen::AlignedBox3d box;
  for (size_t k = 0; k < 3; ++k) box.extend(triangle.Corner(k));
  return box;
}

}  // namespace boxes

namespace {

using boxes::Triangle;

/// What Eigen::BVMinimize calls.
struct NearestPoint {
  using Scalar = double;
  Vec3 point;
  SurfaceDistance::Nearest nearest = {};
  double least = std::numeric_limits<double>::max();
  double nearest_middle = least;

  double minimumOnVolume(const Eigen::AlignedBox3d& box) const {  // NOLINT(readability-identifier-naming)
    return box.squaredExteriorDistance(point);
  }
  double minimumOnObject(const Triangle& t) {  // NOLINT(readability-identifier-naming)
    const Vec3 place = NearestOnTriangle(point, t.Corner(0), t.Corner(1), t.Corner(2));
    const double squared = (place - point).squaredNorm();
    // Triangles that share the nearest corner are equally near: the one whose middle is nearer is taken, so that
    // mirrored points have mirrored triangles. The bound that is returned lets all of them be looked at.
    constexpr double kSame = 1e-9;
    const double middle = ((t.Corner(0) + t.Corner(1) + t.Corner(2)) / 3 - point).squaredNorm();
    if (squared < (1 - kSame) * least || (squared <= (1 + kSame) * least && middle < nearest_middle)) {
      nearest = {std::sqrt(squared), place, t.index};
      nearest_middle = middle;
    }
    least = std::min(least, squared);
    return (1 + 2 * kSame) * squared;
  }
};

}  // namespace

struct SurfaceDistance::Tree {
  Eigen::KdBVH<double, 3, boxes::Triangle> hierarchy;
};

SurfaceDistance::SurfaceDistance(const TriangleMesh& mesh) : mesh_(&mesh), tree_(std::make_unique<Tree>()) {
  std::vector<Triangle> triangles;
  for (size_t t = 0; t < mesh.triangles.size(); ++t) triangles.push_back({&mesh, static_cast<int>(t)});
  tree_->hierarchy.init(triangles.begin(), triangles.end());
}

SurfaceDistance::~SurfaceDistance() = default;
SurfaceDistance::SurfaceDistance(SurfaceDistance&&) noexcept = default;

SurfaceDistance::Nearest SurfaceDistance::Find(const Vec3& point) const {
  NearestPoint search{point};
  Eigen::BVMinimize(tree_->hierarchy, search);
  return search.nearest;
}

Vec3 SurfaceDistance::NormalOf(int triangle) const {
  const Triangle t{mesh_, triangle};
  return (t.Corner(1) - t.Corner(0)).cross(t.Corner(2) - t.Corner(0)).normalized();
}

Vec3 NearestOnTriangle(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, ap = point - a;
  const double d1 = ab.dot(ap), d2 = ac.dot(ap);
  if (d1 <= 0 && d2 <= 0) return a;
  const Vec3 bp = point - b;
  const double d3 = ab.dot(bp), d4 = ac.dot(bp);
  if (d3 >= 0 && d4 <= d3) return b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return a + d1 / (d1 - d3) * ab;
  const Vec3 cp = point - c;
  const double d5 = ab.dot(cp), d6 = ac.dot(cp);
  if (d6 >= 0 && d5 <= d6) return c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return a + d2 / (d2 - d6) * ac;
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const double share = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return b + share * (c - b);
  }
  const double scale = 1 / (va + vb + vc);
  return a + vb * scale * ab + vc * scale * ac;
}

}  // namespace retrace::body_fitting
