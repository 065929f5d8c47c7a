/// Nearest positions on surfaces, beside a search over all triangles and closed forms.
#include "retrace/body_fitting/surface_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "body_fitting/sample_meshes.h"

namespace retrace::body_fitting {
namespace {

Vec3 RandomPoint(RandomStream& random, double reach) {
  const double x = random.Uniform(-reach, reach), y = random.Uniform(-reach, reach), z = random.Uniform(-reach, reach);
  return {x, y, z};
}

TEST(NearestOnTriangle, IsNotFartherThanAnyOtherPositionOnIt) {
  RandomStream random(7, RandomStage::kTest, 0, 0);
  for (int n = 0; n < 200; ++n) {
    const Vec3 a = RandomPoint(random, 1), b = RandomPoint(random, 1), c = RandomPoint(random, 1);
    const Vec3 point = RandomPoint(random, 2);
    const double nearest = (NearestOnTriangle(point, a, b, c) - point).norm();
    double least = std::numeric_limits<double>::infinity();
    constexpr int kSteps = 40;
    for (int i = 0; i <= kSteps; ++i) {
      for (int j = 0; i + j <= kSteps; ++j) {
        const double u = static_cast<double>(i) / kSteps, v = static_cast<double>(j) / kSteps;
        least = std::min(least, (a + u * (b - a) + v * (c - a) - point).norm());
      }
    }
    EXPECT_LE(nearest, least + 1e-12);
    EXPECT_GT(nearest, least - 0.1);  // twice the distance between neighbors of the grid
  }
}

TEST(SurfaceDistance, IsThatOfTheNearestOfAllTriangles) {
  TriangleMesh mesh = CapsuleMesh(0.3, 0.8, Vec3(0.1, -0.2, 0.4), 24, 6, 8);
  AddNoise(mesh, 0.01, 5);
  const SurfaceDistance surface(mesh);
  RandomStream random(8, RandomStage::kTest, 0, 0);
  for (int n = 0; n < 300; ++n) {
    const Vec3 point = RandomPoint(random, 1.5);
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [a, b, c] : mesh.triangles) {
      const auto at = [&](int i) { return mesh.vertices[static_cast<size_t>(i)]; };
      least = std::min(least, (NearestOnTriangle(point, at(a), at(b), at(c)) - point).norm());
    }
    const SurfaceDistance::Nearest nearest = surface.Find(point);
    EXPECT_NEAR(nearest.distance, least, 1e-12);
    EXPECT_NEAR((nearest.place - point).norm(), least, 1e-12);
    ASSERT_GE(nearest.triangle, 0);
  }
}

TEST(SurfaceDistance, OfACapsuleInClosedForm) {
  const double radius = 0.3, length = 0.8;
  const TriangleMesh mesh = CapsuleMesh(radius, length, Vec3::Zero(), 128, 32, 32);
  const SurfaceDistance surface(mesh);
  RandomStream random(9, RandomStage::kTest, 0, 0);
  for (int n = 0; n < 100; ++n) {
    const Vec3 point = RandomPoint(random, 1.5);
    const Vec3 axis(0, std::clamp(point.y(), -0.5 * length, 0.5 * length), 0);
    EXPECT_NEAR(surface.Find(point).distance, std::abs((point - axis).norm() - radius), 2e-3);
  }
  // Normals point outwards.
  const SurfaceDistance::Nearest side = surface.Find(Vec3(2, 0, 0));
  EXPECT_GT(surface.NormalOf(side.triangle).x(), 0.99);
}

}  // namespace
}  // namespace retrace::body_fitting
