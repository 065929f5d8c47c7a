/// Solids bounded by triangles: mass properties against closed forms and against points counted, and what is no solid.
#include "retrace/math/triangle_mesh.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "math/any_stream.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace {
namespace {

Mat3 BoxInertia(const Vec3& size) {
  const Vec3 s = size.cwiseAbs2();
  return size.prod() / 12 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y()).asDiagonal().toDenseMatrix();
}

/// A pyramid over a square of side 2 in the plane y = 0, of height 1.
TriangleMesh Pyramid() {
  return {{{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}, {0, 1, 0}},
          {{0, 1, 2}, {0, 2, 3}, {1, 0, 4}, {2, 1, 4}, {3, 2, 4}, {0, 3, 4}}};
}

RC_GTEST_PROP(SolidOf, ABoxAnywhereIsThatOfTheClosedForm, ()) {
  RandomStream random = AnyStream();
  const Vec3 size(random.Uniform(0.01, 2), random.Uniform(0.01, 2), random.Uniform(0.01, 2));
  const Mat3 turn = FromRotationVector(AnyVector(random, 3)).toRotationMatrix();
  const Vec3 shift = AnyVector(random, 5);
  TriangleMesh mesh = BoxMesh(size);
  for (Vec3& v : mesh.vertices) v = turn * v + shift;
  RC_ASSERT(!FindFault(mesh).any());
  const MassProperties solid = SolidOf(mesh);
  RC_ASSERT(std::abs(solid.volume / size.prod() - 1) < 1e-9);
  RC_ASSERT((solid.center - shift).norm() < 1e-9);
  const Mat3 expected = turn * BoxInertia(size) * turn.transpose();
  RC_ASSERT((solid.inertia - expected).norm() < 1e-8 * expected.norm());
}

TEST(SolidOf, APyramidIsThatOfTheClosedForm) {
  const TriangleMesh mesh = Pyramid();
  ASSERT_FALSE(FindFault(mesh).any()) << FindFault(mesh).found;
  const MassProperties solid = SolidOf(mesh);
  const double volume = 4.0 / 3;
  EXPECT_NEAR(solid.volume, volume, 1e-14);
  EXPECT_LT((solid.center - Vec3(0, 0.25, 0)).norm(), 1e-14);
  // About the axis m s^2 / 10, across it m s^2 / 20 + 3 m h^2 / 80 (side s, height h).
  EXPECT_NEAR(solid.inertia(1, 1), volume * 4 / 10, 1e-14);
  EXPECT_NEAR(solid.inertia(0, 0), volume * (4.0 / 20 + 3.0 / 80), 1e-14);
  EXPECT_NEAR(solid.inertia(2, 2), volume * (4.0 / 20 + 3.0 / 80), 1e-14);
  EXPECT_NEAR(solid.inertia(0, 1), 0, 1e-15);
}

RC_GTEST_PROP(SolidOf, PartsMakeTheWhole, ()) {
  RandomStream random = AnyStream();
  const Vec3 size(1, 0.7, 0.4);
  const double cut = random.Uniform(0.1, 0.9);
  TriangleMesh low = BoxMesh({cut * size.x(), size.y(), size.z()});
  TriangleMesh high = BoxMesh({(1 - cut) * size.x(), size.y(), size.z()});
  for (Vec3& v : low.vertices) v.x() += 0.5 * cut * size.x();
  for (Vec3& v : high.vertices) v.x() += 0.5 * (1 + cut) * size.x();
  MassProperties sum = SolidOf(low);
  sum += SolidOf(high);
  RC_ASSERT(std::abs(sum.volume - size.prod()) < 1e-14);
  RC_ASSERT((sum.center - Vec3(0.5 * size.x(), 0, 0)).norm() < 1e-14);
  RC_ASSERT((sum.inertia - BoxInertia(size)).norm() < 1e-14);
}

TEST(IsConvex, TellsABoxFromADentedOne) {
  TriangleMesh mesh = Pyramid();
  EXPECT_TRUE(IsConvex(mesh, 1e-12));
  mesh.vertices.emplace_back(0, 0.2, 0);  // the base, pressed in
  mesh.triangles.erase(mesh.triangles.begin(), mesh.triangles.begin() + 2);
  for (int k = 0; k < 4; ++k) mesh.triangles.push_back({k, (k + 1) % 4, 5});
  ASSERT_FALSE(FindFault(mesh).any()) << FindFault(mesh).found;
  EXPECT_FALSE(IsConvex(mesh, 1e-3));
  EXPECT_TRUE(IsConvex(mesh, 1));
  EXPECT_NEAR(SolidOf(mesh).volume, 4.0 / 3 * 0.8, 1e-14);
}

TEST(FindFault, NamesWhatKeepsAMeshFromBeingASolid) {
  const auto fault = [](auto change) {
    TriangleMesh mesh = BoxMesh({1, 1, 1});
    change(mesh);
    return FindFault(mesh);
  };
  MeshFault found = fault([](TriangleMesh& m) { m.vertices[3].y() = std::nan(""); });
  EXPECT_EQ(found.vertex, 3);
  EXPECT_EQ(found.expected, "finite numbers");
  found = fault([](TriangleMesh& m) { m.triangles.resize(3); });
  EXPECT_EQ(found.found, "3 triangles");
  found = fault([](TriangleMesh& m) { m.triangles[5][1] = 8; });
  EXPECT_EQ(found.triangle, 5);
  EXPECT_EQ(found.found, "vertex 8");
  EXPECT_EQ(found.expected, "indices of vertices, 0 to 7");
  found = fault([](TriangleMesh& m) { m.vertices.emplace_back(0, 0, 0); });
  EXPECT_EQ(found.vertex, 8);
  found = fault([](TriangleMesh& m) { m.triangles[2][2] = m.triangles[2][1]; });
  EXPECT_EQ(found.triangle, 2);
  EXPECT_EQ(found.found, "a triangle without area");
  found = fault([](TriangleMesh& m) { m.triangles.pop_back(); });
  EXPECT_NE(found.found.find("an open edge, from vertex "), std::string::npos) << found.found;
  found = fault([](TriangleMesh& m) { std::swap(m.triangles[4][0], m.triangles[4][1]); });
  EXPECT_NE(found.found.find("a second triangle that runs along the edge"), std::string::npos) << found.found;
  found = fault([](TriangleMesh& m) {
    for (auto& t : m.triangles) std::swap(t[0], t[1]);
  });
  EXPECT_EQ(found.found, "a surface that is turned inside out");
  EXPECT_EQ(found.triangle, -1);
}

}  // namespace
}  // namespace retrace
