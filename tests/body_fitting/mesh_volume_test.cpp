#include "retrace/body_fitting/mesh_volume.h"

#include <gtest/gtest.h>

#include "sample_meshes.h"

namespace retrace::body_fitting {
namespace {

TEST(MeshVolume, CellsHaveTheVolumeAndTheMomentsOfTheSolid) {
  TriangleMesh box = BoxMesh(Vec3(0.21, 0.37, 0.14));
  for (Vec3& vertex : box.vertices) vertex = FromRotationVector(Vec3(0.3, 0.5, -0.4)) * vertex;
  for (const TriangleMesh& mesh : {CapsuleMesh(0.08, 0.3, Vec3(0.2, 0.9, 0.1)), box}) {
    const MassProperties exact = SolidOf(mesh);
    const MassProperties cells = SolidOf(FillWithCells(mesh, 0.0085));
    EXPECT_NEAR(cells.volume, exact.volume, 0.01 * exact.volume);
    EXPECT_LT((cells.center - exact.center).norm(), 1e-3);
    EXPECT_LT((cells.inertia - exact.inertia).norm(), 0.02 * exact.inertia.norm());
  }
}

TEST(MeshVolume, WhatASurfaceOverlapsCountsOnce) {
  TriangleMesh mesh = BoxMesh(Vec3(0.2, 0.2, 0.2));
  TriangleMesh other = BoxMesh(Vec3(0.2, 0.2, 0.2));
  for (Vec3& vertex : other.vertices) vertex.x() += 0.1;
  for (auto triangle : other.triangles) {
    for (int& corner : triangle) corner += 8;
    mesh.triangles.push_back(triangle);
  }
  mesh.vertices.insert(mesh.vertices.end(), other.vertices.begin(), other.vertices.end());
  EXPECT_NEAR(SolidOf(FillWithCells(mesh, 0.004)).volume, 0.3 * 0.2 * 0.2, 0.01 * 0.012);
}

/// Columns that go exactly through vertices and edges must neither miss the surface nor meet it twice.
TEST(MeshVolume, ColumnsThroughEdgesMeetTheSurfaceOnce) {
  constexpr double kSpacing = 0.0625;                                                 // a power of two: no rounding
  const TriangleMesh mesh = BoxMesh(Vec3(5 * kSpacing, 7 * kSpacing, 3 * kSpacing));  // sides on columns
  const double volume = SolidOf(FillWithCells(mesh, kSpacing)).volume;
  EXPECT_DOUBLE_EQ(volume, 5 * 7 * 3 * kSpacing * kSpacing * kSpacing);
}

}  // namespace
}  // namespace retrace::body_fitting
