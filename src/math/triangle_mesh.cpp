#include "retrace/math/triangle_mesh.h"

#include <cmath>
#include <map>
#include <utility>

namespace retrace {
namespace {

const Vec3& At(const TriangleMesh& mesh, int vertex) {
  return mesh.vertices[static_cast<size_t>(vertex)];
}

Vec3 DoubleArea(const TriangleMesh& mesh, const std::array<int, 3>& t) {
  return (At(mesh, t[1]) - At(mesh, t[0])).cross(At(mesh, t[2]) - At(mesh, t[0]));
}

std::string Pair(int a, int b) {
  std::string text = std::to_string(a);
  return text.append(" to ").append(std::to_string(b));
}

MeshFault FaultOfIndices(const TriangleMesh& mesh) {
  const int count = static_cast<int>(mesh.vertices.size());
  std::vector<bool> used(mesh.vertices.size(), false);
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (const int v : mesh.triangles[t]) {
      if (v < 0 || v >= count) {
        std::string expected = "indices of vertices, 0 to ";
        return {-1, static_cast<int>(t), "vertex " + std::to_string(v), expected.append(std::to_string(count - 1))};
      }
      used[static_cast<size_t>(v)] = true;
    }
  }
  for (size_t v = 0; v < used.size(); ++v) {
    if (!used[v]) return {static_cast<int>(v), -1, "a vertex of no triangle", "vertices of triangles"};
  }
  return {};
}

/// Each edge must be run along once in each direction.
MeshFault FaultOfEdges(const TriangleMesh& mesh) {
  std::map<std::pair<int, int>, int> runs;
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& corners = mesh.triangles[t];
    for (size_t k = 0; k < 3; ++k) {
      const int a = corners[k];
      const int b = corners[(k + 1) % 3];
      if (!runs.emplace(std::make_pair(a, b), static_cast<int>(t)).second) {
        return {-1, static_cast<int>(t), "a second triangle that runs along the edge from vertex " + Pair(a, b),
                "two triangles per edge, which run along it in opposite directions"};
      }
    }
  }
  for (const auto& [edge, triangle] : runs) {
    if (!runs.contains({edge.second, edge.first})) {
      return {-1, triangle, "an open edge, from vertex " + Pair(edge.first, edge.second),
              "a closed surface: another triangle that runs along it the other way"};
    }
  }
  return {};
}

}  // namespace

MeshFault FindFault(const TriangleMesh& mesh) {
  Vec3 sum = Vec3::Zero();
  for (size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (!mesh.vertices[v].allFinite())
      return {static_cast<int>(v), -1, "a coordinate that is not a number", "finite numbers"};
    sum += mesh.vertices[v];
  }
  if (mesh.triangles.size() < 4) {
    return {-1, -1, std::to_string(mesh.triangles.size()) + " triangles", "at least four, which close a surface"};
  }
  MeshFault fault = FaultOfIndices(mesh);
  if (fault.any()) return fault;
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& corners = mesh.triangles[t];
    double longest = 0;
    for (size_t k = 0; k < 3; ++k) {
      longest = std::max(longest, (At(mesh, corners[k]) - At(mesh, corners[(k + 1) % 3])).squaredNorm());
    }
    // Its height over its longest side, as a share of that side.
    if (!(DoubleArea(mesh, corners).norm() > 1e-9 * longest)) {
      return {-1, static_cast<int>(t), "a triangle without area", "three vertices that are not on one line"};
    }
  }
  fault = FaultOfEdges(mesh);
  if (fault.any()) return fault;
  if (!(SolidOf(mesh).volume > 0)) {
    return {-1, -1, "a surface that is turned inside out", "triangles that run counter-clockwise as seen from outside"};
  }
  return {};
}

MassProperties& MassProperties::operator+=(const MassProperties& other) {
  const Vec3 apart = center - other.center;
  const double sum = volume + other.volume;
  const double reduced = volume * other.volume / sum;
  inertia += other.inertia + reduced * (apart.squaredNorm() * Mat3::Identity() - apart * apart.transpose());
  center = (volume * center + other.volume * other.center) / sum;
  volume = sum;
  return *this;
}

MassProperties SolidOf(const TriangleMesh& mesh) {
  // From a vertex of the mesh itself, so that a solid far from the origin keeps its digits.
  const Vec3 origin = mesh.vertices.front();
  double volume = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (const auto& t : mesh.triangles) {
    const Vec3 a = At(mesh, t[0]) - origin;
    const Vec3 b = At(mesh, t[1]) - origin;
    const Vec3 c = At(mesh, t[2]) - origin;
    const Vec3 sum = a + b + c;
    const double part = a.dot(b.cross(c)) / 6;
    volume += part;
    first += part / 4 * sum;
    // The integral of x x^T over a tetrahedron with a vertex at 0 is V/20 (sum sum^T + a a^T + b b^T + c c^T).
    second += part / 20 * (sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
  }
  MassProperties solid;
  solid.volume = volume;
  const Vec3 center = first / volume;
  second -= volume * center * center.transpose();
  solid.center = origin + center;
  solid.inertia = second.trace() * Mat3::Identity() - second;
  return solid;
}

bool IsConvex(const TriangleMesh& mesh, double tolerance) {
  for (const auto& t : mesh.triangles) {
    const Vec3 normal = DoubleArea(mesh, t).normalized();
    for (const Vec3& vertex : mesh.vertices) {
      if (normal.dot(vertex - At(mesh, t[0])) > tolerance) return false;
    }
  }
  return true;
}

TriangleMesh BoxMesh(const Vec3& size) {
  TriangleMesh mesh;
  for (int k = 0; k < 8; ++k) {
    const Vec3 sign(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5);
    mesh.vertices.emplace_back(sign.cwiseProduct(size));
  }
  mesh.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
  return mesh;
}

}  // namespace retrace
