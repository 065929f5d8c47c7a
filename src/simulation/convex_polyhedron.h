/// Contact of convex polyhedra by the separating-axis test, exact and without memory of earlier steps.
#pragma once

#include <span>
#include <vector>

#include "retrace/math/triangle_mesh.h"

namespace retrace::simulation {

/// The faces and edges of a convex mesh; triangles in one plane make one face.
class ConvexPolyhedron {
 public:
  struct Face {
    Vec3 normal = Vec3::Zero();  ///< outward
    double distance = 0;         ///< of its plane from the origin, along the normal [m]
    std::vector<int> loop;       ///< its vertices, counter-clockwise as seen from outside
  };
  struct Edge {
    Vec3 start = Vec3::Zero();
    Vec3 along = Vec3::Zero();  ///< to its other end
    Vec3 normals[2] = {};       ///< of the faces that it joins
    Vec3 arc = Vec3::Zero();    ///< normals[1] x normals[0], which is along the edge
  };

  /// The mesh must be without fault (math/triangle_mesh.h) and convex.
  explicit ConvexPolyhedron(const TriangleMesh& mesh);

  const std::vector<Vec3>& vertices() const { return vertices_; }
  const std::vector<Face>& faces() const { return faces_; }
  const std::vector<Edge>& edges() const { return edges_; }
  const Vec3& half_extents() const { return half_extents_; }  ///< of the box about the origin that holds it [m]
  double radius() const { return radius_; }                   ///< of the sphere about the origin that holds it [m]
  size_t largest_face() const { return largest_face_; }       ///< number of its vertices

 private:
  void MakeFaces(const TriangleMesh& mesh);

  std::vector<Vec3> vertices_;
  std::vector<Face> faces_;
  std::vector<Edge> edges_;
  Vec3 half_extents_ = Vec3::Zero();
  double radius_ = 0;
  size_t largest_face_ = 0;
};

/// Where a polyhedron's origin and axes are in the world.
struct Placement {
  Vec3 position = Vec3::Zero();
  Mat3 rotation = Mat3::Identity();
};

/// A point where two bodies overlap.
struct Overlap {
  Vec3 position = Vec3::Zero();  ///< on the body whose face or edge is inside the other [m]
  Vec3 normal = Vec3::Zero();    ///< towards the first body, the direction of least penetration
  double depth = 0;              ///< [m]
};

/// Memory of a test, kept so that none is allocated in a step.
struct ConvexScratch {
  std::vector<Vec3> polygon;
  std::vector<Vec3> clipped;
  void Reserve(size_t vertices_of_two_faces) {
    polygon.reserve(vertices_of_two_faces);
    clipped.reserve(vertices_of_two_faces);
  }
};

/// Sets `overlaps` to the points at which `a` and `b` overlap: the corners of the overlap of the two faces that meet,
/// or the nearest points of two edges. Nothing where they are apart.
void CollideConvex(const ConvexPolyhedron& a, const Placement& at_a, const ConvexPolyhedron& b, const Placement& at_b,
                   ConvexScratch& scratch, std::vector<Overlap>& overlaps);

/// Whether boxes about two polyhedra leave room for contact; false only where they are apart.
bool MayTouch(const ConvexPolyhedron& a, const Placement& at_a, const ConvexPolyhedron& b, const Placement& at_b);

/// Puts those of `points` (each with `position` and `depth`) that stand for all first, and returns how many they are,
/// at most `wanted`: the deepest, and then again and again the one that is farthest, in the plane of `normal`, from
/// those that were taken. What touches comes before what does not yet, and what is far above counts as nearer.
template <typename Point>
size_t TakeSpread(std::span<Point> points, const Vec3& normal, size_t wanted) {
  constexpr double kTouching = -0.0005;  // depth of a point that touches, within the accuracy of a step [m]
  constexpr double kGapPerDistance = 3;  // a point so many times higher than farther does not widen the support
  if (points.size() <= wanted) return points.size();
  if (wanted == 0) return 0;
  const auto take = [&](size_t place, size_t from) { std::swap(points[place], points[from]); };
  size_t deepest = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i].depth > points[deepest].depth) deepest = i;
  }
  take(0, deepest);
  const double depth = points[0].depth;
  for (size_t taken = 1; taken < wanted; ++taken) {
    size_t best = taken;
    bool best_touches = false;
    double best_score = 0;
    for (size_t i = taken; i < points.size(); ++i) {
      double nearest = 1e300;
      for (size_t k = 0; k < taken; ++k) {
        Vec3 apart = points[i].position - points[k].position;
        apart -= apart.dot(normal) * normal;
        nearest = std::min(nearest, apart.squaredNorm());
      }
      const double score = std::sqrt(nearest) - kGapPerDistance * (depth - points[i].depth);
      const bool touches = points[i].depth >= kTouching;
      if (i == taken || touches > best_touches || (touches == best_touches && score > best_score)) {
        best = i;
        best_touches = touches;
        best_score = score;
      }
    }
    take(taken, best);
  }
  return wanted;
}

}  // namespace retrace::simulation
