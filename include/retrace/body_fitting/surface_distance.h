/// The nearest position on the surface of a triangle mesh, in time of the order of the logarithm of its size.
#pragma once

#include <memory>

#include "retrace/math/triangle_mesh.h"
#include "retrace/math/types.h"

namespace retrace::body_fitting {

class SurfaceDistance {
 public:
  struct Nearest {
    double distance = 0;        ///< [m]
    Vec3 place = Vec3::Zero();  ///< on the surface
    int triangle = -1;
  };

  /// The mesh must have at least one triangle, and outlive this.
  explicit SurfaceDistance(const TriangleMesh& mesh);
  ~SurfaceDistance();
  SurfaceDistance(SurfaceDistance&&) noexcept;

  Nearest Find(const Vec3& point) const;
  /// Unit normal of a triangle, outwards.
  Vec3 NormalOf(int triangle) const;

 private:
  struct Tree;
  const TriangleMesh* mesh_;
  std::unique_ptr<Tree> tree_;
};

/// The point of a triangle that is nearest to another one (Ericson, Real-Time Collision Detection, 2005, 5.1.5).
Vec3 NearestOnTriangle(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace retrace::body_fitting
