/// Closed meshes of which shape and volume are known.
#pragma once

#include <cmath>

#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/math/triangle_mesh.h"

namespace retrace::body_fitting {

/// A capsule along y about a position, its vertices on the capsule.
inline TriangleMesh CapsuleMesh(double radius, double length, const Vec3& center, int around = 64, int rings = 16,
                                int rows = 24) {
  TriangleMesh mesh;
  std::vector<std::pair<double, double>> profile;  // height and distance from the axis, without the poles
  for (int r = 1; r <= rings; ++r) {
    const double angle = 0.5 * kPi * r / rings;
    profile.emplace_back(-0.5 * length - radius * std::cos(angle), radius * std::sin(angle));
  }
  for (int r = 1; r < rows; ++r) profile.emplace_back(length * (static_cast<double>(r) / rows - 0.5), radius);
  for (int r = rings; r >= 1; --r) {
    const double angle = 0.5 * kPi * r / rings;
    profile.emplace_back(0.5 * length + radius * std::cos(angle), radius * std::sin(angle));
  }
  mesh.vertices.push_back(center - Vec3(0, 0.5 * length + radius, 0));
  for (const auto& [height, distance] : profile) {
    for (int k = 0; k < around; ++k) {
      const double angle = 2 * kPi * k / around;
      mesh.vertices.push_back(center + Vec3(distance * std::sin(angle), height, distance * std::cos(angle)));
    }
  }
  mesh.vertices.push_back(center + Vec3(0, 0.5 * length + radius, 0));
  const int last = static_cast<int>(mesh.vertices.size()) - 1;
  const auto at = [&](int row, int k) { return 1 + row * around + k % around; };
  const int count = static_cast<int>(profile.size());
  for (int k = 0; k < around; ++k) {
    mesh.triangles.push_back({0, at(0, k + 1), at(0, k)});
    mesh.triangles.push_back({last, at(count - 1, k), at(count - 1, k + 1)});
    for (int row = 0; row + 1 < count; ++row) {
      mesh.triangles.push_back({at(row, k), at(row, k + 1), at(row + 1, k + 1)});
      mesh.triangles.push_back({at(row, k), at(row + 1, k + 1), at(row + 1, k)});
    }
  }
  return mesh;
}

/// Moves each vertex at random, with a normal distribution along each axis.
inline void AddNoise(TriangleMesh& mesh, double deviation, uint32_t seed) {
  RandomStream random(seed, RandomStage::kTest, 0, 0);
  for (Vec3& vertex : mesh.vertices) {
    const double x = random.Normal(), y = random.Normal(), z = random.Normal();
    vertex += deviation * Vec3(x, y, z);
  }
}

}  // namespace retrace::body_fitting
