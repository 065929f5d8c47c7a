/// Solids bounded by triangles: whether a mesh bounds one, and the mass properties of what it bounds.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "retrace/math/types.h"

namespace retrace {

/// Triangles run counter-clockwise as seen from outside.
struct TriangleMesh {
  std::vector<Vec3> vertices;                 ///< [m]
  std::vector<std::array<int, 3>> triangles;  ///< indices of vertices
};

/// What keeps a mesh from being the surface of a solid, or nothing.
struct MeshFault {
  int vertex = -1;    ///< the vertex it is about, or
  int triangle = -1;  ///< the triangle, or -1 when it is about the whole
  std::string found;
  std::string expected;
  bool any() const { return !found.empty(); }
};

/// Looks for not-a-numbers, indices without vertices, vertices without triangles, triangles without area, edges that
/// do not join exactly two triangles which run along them in opposite ways, and a surface that is turned inside out.
/// (It does not look for surfaces that pass through themselves.)
MeshFault FindFault(const TriangleMesh& mesh);

/// Mass properties of a solid of density 1.
struct MassProperties {
  double volume = 0;            ///< [m^3]
  Vec3 center = Vec3::Zero();   ///< of mass [m]
  Mat3 inertia = Mat3::Zero();  ///< about `center`, in the axes of the vertices [m^5]

  /// Mass properties of both solids together; they must not overlap.
  MassProperties& operator+=(const MassProperties& other);
};

/// Exact for a mesh without fault: the integrals of 1, x and x x^T over the tetrahedra from the origin to each
/// triangle, counted by their sign (the divergence theorem; Eberly, Polyhedral Mass Properties, 2002).
MassProperties SolidOf(const TriangleMesh& mesh);

/// Whether no vertex is farther than `tolerance` in front of the plane of any triangle [m].
bool IsConvex(const TriangleMesh& mesh, double tolerance);

/// The box of these side lengths about the origin: vertex k is at the corner of which bit 0, 1 and 2 of k give the
/// sides along x, y and z.
TriangleMesh BoxMesh(const Vec3& size);

}  // namespace retrace
