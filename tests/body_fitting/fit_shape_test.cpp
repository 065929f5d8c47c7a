#include "retrace/body_fitting/fit_shape.h"

#include <gtest/gtest.h>

#include "sample_meshes.h"

namespace retrace::body_fitting {
namespace {

using character::Shape;

/// Vertices with a third of the area of the triangles around them.
SurfacePoints PointsOf(const TriangleMesh& mesh) {
  SurfacePoints points{mesh.vertices, std::vector<double>(mesh.vertices.size(), 0.0)};
  for (const auto& t : mesh.triangles) {
    const auto at = [&](size_t k) { return mesh.vertices[static_cast<size_t>(t[k])]; };
    for (const int corner : t) {
      points.areas[static_cast<size_t>(corner)] += (at(1) - at(0)).cross(at(2) - at(0)).norm() / 6;
    }
  }
  return points;
}

TEST(FitShape, FindsCapsulesOfNoisyMeshesWithinOnePercent) {
  const struct {
    double radius, length, noise;
  } cases[] = {{0.05, 0.3, 0}, {0.05, 0.3, 0.001}, {0.12, 0.1, 0.002}, {0.03, 0.25, 0.0006}, {0.09, 0.35, 0.0018}};
  uint32_t seed = 1;
  for (const auto& c : cases) {
    const Vec3 center(0.2, 1.1, -0.05);
    TriangleMesh mesh = CapsuleMesh(c.radius, c.length, center);
    AddNoise(mesh, c.noise, seed++);
    const Fit fit = FitCapsule(PointsOf(mesh), SurfaceDistance(mesh));
    EXPECT_EQ(fit.shape.axis, 1);
    EXPECT_NEAR(fit.shape.radius, c.radius, 0.01 * c.radius);
    EXPECT_NEAR(fit.shape.length, c.length, 0.01 * c.length);
    EXPECT_LT((fit.shape.offset - center).norm(), 0.01 * c.radius);
    EXPECT_LT(fit.energy, fit.first_energy);
    EXPECT_LT(fit.iterations, 60);
  }
}

TEST(FitShape, DoesNotDependOnWhereVerticesAreDense) {
  const TriangleMesh even = CapsuleMesh(0.06, 0.3, Vec3::Zero());
  const TriangleMesh dense_caps = CapsuleMesh(0.06, 0.3, Vec3::Zero(), 64, 60, 24);
  const Shape a = FitCapsule(PointsOf(even), SurfaceDistance(even), 1).shape;
  const Shape b = FitCapsule(PointsOf(dense_caps), SurfaceDistance(dense_caps), 1).shape;
  EXPECT_NEAR(a.radius, b.radius, 1e-4);
  EXPECT_NEAR(a.length, b.length, 5e-4);
}

/// The derivative of the energy is zero where the fit ends: each parameter is at the bottom.
TEST(FitShape, EndsAtAMinimum) {
  TriangleMesh mesh = CapsuleMesh(0.07, 0.25, Vec3::Zero());
  for (Vec3& vertex : mesh.vertices) vertex.z() *= 1.4;  // no capsule
  const SurfacePoints points = PointsOf(mesh);
  const SurfaceDistance surface(mesh);
  const FitOptions none{0.5, 0};
  const Fit best = FitCapsule(points, surface, 1);
  const auto energy = [&](const Shape& shape) {
    double to_shape = 0, to_surface = 0, area = 0, own_area = 0;
    for (size_t i = 0; i < points.places.size(); ++i) {
      to_shape += points.areas[i] * std::pow(SignedDistance(shape, points.places[i]), 2);
      area += points.areas[i];
    }
    const SurfacePoints own = SurfaceOf(shape);
    for (size_t i = 0; i < own.places.size(); ++i) {
      to_surface += own.areas[i] * std::pow(surface.Find(own.places[i]).distance, 2);
      own_area += own.areas[i];
    }
    return to_shape / area + none.lambda * to_surface / own_area;
  };
  EXPECT_NEAR(energy(best.shape), best.energy, 1e-12);
  for (const double step : {-1e-3, 1e-3}) {
    Shape other = best.shape;
    other.radius += step;
    EXPECT_GT(energy(other), best.energy);
    other = best.shape;
    other.length += 4 * step;
    EXPECT_GT(energy(other), best.energy);
    for (int axis = 0; axis < 3; ++axis) {
      other = best.shape;
      other.offset[axis] += step;
      EXPECT_GT(energy(other), best.energy);
    }
  }
}

TEST(FitShape, FindsABox) {
  const Vec3 size(0.1, 0.07, 0.26);
  TriangleMesh mesh = BoxMesh(size);
  for (Vec3& vertex : mesh.vertices) vertex += Vec3(0.1, 0.035, 0.05);
  // Points all over its faces, as a mesh of a foot has them.
  Shape box;
  box.size = size;
  box.offset = Vec3(0.1, 0.035, 0.05);
  const Fit fit = FitBox(SurfaceOf(box), SurfaceDistance(mesh));
  EXPECT_LT((fit.shape.size - size).norm(), 0.01 * size.norm());
  EXPECT_LT((fit.shape.offset - box.offset).norm(), 1e-3);
}

TEST(FitShape, AMovedSurfaceIsEverywhereAsFarAway) {
  Shape capsule;
  capsule.kind = Shape::Kind::kCapsule;
  capsule.radius = 0.1;
  capsule.length = 0.4;
  Shape box;
  box.size = Vec3(0.2, 0.4, 0.6);
  for (const Shape& shape : {capsule, box}) {
    for (const Vec3& point : SurfaceOf(MovedOutwards(shape, -0.01)).places) {
      EXPECT_NEAR(SignedDistance(shape, point), -0.01, 1e-12);
    }
  }
  // No shape vanishes.
  EXPECT_GT(MovedOutwards(capsule, -1).radius, 0);
  EXPECT_GT(MovedOutwards(box, -1).size.minCoeff(), 0);
}

TEST(FitShape, ComparesAShapeAsItIs) {
  const TriangleMesh mesh = CapsuleMesh(0.05, 0.3, Vec3::Zero());
  Shape capsule;
  capsule.kind = Shape::Kind::kCapsule;
  capsule.axis = 1;
  capsule.radius = 0.06;
  capsule.length = 0.3;
  const Fit fit = Compare(capsule, PointsOf(mesh), SurfaceDistance(mesh));
  EXPECT_EQ(fit.shape.radius, 0.06);
  EXPECT_NEAR(fit.to_shape, 0.01, 1e-9);
  EXPECT_NEAR(fit.to_surface, 0.01, 1e-4);
}

TEST(FitShape, DistancesAreThoseOfTheShapes) {
  Shape capsule;
  capsule.kind = Shape::Kind::kCapsule;
  capsule.axis = 2;
  capsule.radius = 0.1;
  capsule.length = 0.4;
  EXPECT_NEAR(SignedDistance(capsule, Vec3(0.3, 0, 0.1)), 0.2, 1e-15);
  EXPECT_NEAR(SignedDistance(capsule, Vec3(0, 0, 0.5)), 0.2, 1e-15);
  EXPECT_NEAR(SignedDistance(capsule, Vec3(0, 0.03, 0)), -0.07, 1e-15);
  Shape box;
  box.size = Vec3(0.2, 0.4, 0.6);
  EXPECT_NEAR(SignedDistance(box, Vec3(0.4, 0.6, 0)), 0.5, 1e-15);
  EXPECT_NEAR(SignedDistance(box, Vec3(0.08, 0, 0)), -0.02, 1e-15);
  for (const Shape& shape : {capsule, box}) {
    const SurfacePoints points = SurfaceOf(shape);
    double area = 0;
    for (size_t i = 0; i < points.places.size(); ++i) {
      EXPECT_NEAR(SignedDistance(shape, points.places[i]), 0, 1e-12);
      area += points.areas[i];
    }
    const double exact =
        shape.kind == Shape::Kind::kBox ? 2 * (0.2 * 0.4 + 0.4 * 0.6 + 0.2 * 0.6) : 2 * kPi * 0.1 * (0.4 + 2 * 0.1);
    EXPECT_NEAR(area, exact, 1e-12);
  }
}

TEST(SurfaceDistance, IsTheSmallestOfAllTriangles) {
  TriangleMesh mesh = CapsuleMesh(0.1, 0.3, Vec3(0.1, 0.2, 0.3), 12, 4, 5);
  AddNoise(mesh, 0.01, 3);
  const SurfaceDistance surface(mesh);
  RandomStream random(5, RandomStage::kTest, 0, 0);
  for (int i = 0; i < 300; ++i) {
    const double x = random.Uniform(-0.4, 0.4), y = random.Uniform(-0.4, 0.6), z = random.Uniform(-0.2, 0.6);
    const Vec3 point(x, y, z);
    double least = 1e9;
    for (const auto& t : mesh.triangles) {
      const auto at = [&](size_t k) { return mesh.vertices[static_cast<size_t>(t[k])]; };
      least = std::min(least, (NearestOnTriangle(point, at(0), at(1), at(2)) - point).norm());
    }
    const SurfaceDistance::Nearest found = surface.Find(point);
    EXPECT_NEAR(found.distance, least, 1e-12);
    EXPECT_NEAR((found.place - point).norm(), least, 1e-9);
  }
}

/// By trying many points of the triangle.
TEST(SurfaceDistance, NoPointOfATriangleIsNearer) {
  RandomStream random(6, RandomStage::kTest, 0, 0);
  const auto any = [&] {
    const double x = random.Uniform(-1, 1), y = random.Uniform(-1, 1), z = random.Uniform(-1, 1);
    return Vec3(x, y, z);
  };
  for (int i = 0; i < 100; ++i) {
    const Vec3 a = any(), b = any(), c = any(), point = any();
    const double nearest = (NearestOnTriangle(point, a, b, c) - point).norm();
    double least = 1e9;
    constexpr int kSteps = 60;
    for (int u = 0; u <= kSteps; ++u) {
      for (int v = 0; u + v <= kSteps; ++v) {
        const Vec3 place = a + (b - a) * u / kSteps + (c - a) * v / kSteps;
        least = std::min(least, (place - point).norm());
      }
    }
    EXPECT_LE(nearest, least + 1e-12);
    EXPECT_GT(nearest, least - 0.05);
  }
}

}  // namespace
}  // namespace retrace::body_fitting
