/// Contact of convex polyhedra: against ODE's boxes, and against what defines the direction of least penetration.
#include "simulation/convex_polyhedron.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "math/any_stream.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "simulation/ode_library.h"
#include "simulation/ode_of_library.h"

namespace retrace::simulation {
namespace {

Placement AnyPlacement(RandomStream& random, double distance) {
  Placement placement;
  placement.rotation = FromRotationVector(AnyVector(random, 3)).toRotationMatrix();
  placement.position = AnyVector(random, distance);
  return placement;
}

/// An octagonal prism that narrows upwards.
TriangleMesh Stump(double width, double height) {
  TriangleMesh mesh;
  for (const double level : {0.0, 1.0}) {
    for (int k = 0; k < 8; ++k) {
      const double angle = kPi / 8 + k * kPi / 4;
      const double radius = width * (1 - 0.3 * level);
      mesh.vertices.emplace_back(radius * std::sin(angle), height * (level - 0.5), radius * std::cos(angle));
    }
  }
  for (int k = 0; k < 8; ++k) {
    const int next = (k + 1) % 8;
    mesh.triangles.push_back({k, next, 8 + next});
    mesh.triangles.push_back({k, 8 + next, 8 + k});
    if (k > 0 && k < 7) {
      mesh.triangles.push_back({0, next, k});
      mesh.triangles.push_back({8, 8 + k, 8 + next});
    }
  }
  return mesh;
}

std::vector<Overlap> Collide(const ConvexPolyhedron& a, const Placement& at_a, const ConvexPolyhedron& b,
                             const Placement& at_b) {
  ConvexScratch scratch;
  std::vector<Overlap> overlaps;
  CollideConvex(a, at_a, b, at_b, scratch, overlaps);
  return overlaps;
}

double Deepest(const std::vector<Overlap>& overlaps) {
  double depth = 0;
  for (const Overlap& overlap : overlaps) depth = std::max(depth, overlap.depth);
  return depth;
}

TEST(ConvexPolyhedron, TrianglesOfOnePlaneAreOneFace) {
  const ConvexPolyhedron box(BoxMesh({1, 2, 3}));
  ASSERT_EQ(box.faces().size(), 6u);
  EXPECT_EQ(box.edges().size(), 12u);
  EXPECT_EQ(box.largest_face(), 4u);
  for (const auto& face : box.faces()) {
    EXPECT_NEAR(face.normal.cwiseAbs().maxCoeff(), 1, 1e-15);
    EXPECT_NEAR(face.distance, 0.5 * std::abs(face.normal.dot(Vec3(1, 2, 3))), 1e-15);
  }
  const ConvexPolyhedron stump(Stump(0.5, 1));
  EXPECT_EQ(stump.faces().size(), 10u);
  EXPECT_EQ(stump.edges().size(), 24u);
  EXPECT_EQ(stump.largest_face(), 8u);
}

/// Depth, direction and position of boxes as ODE finds them.
RC_GTEST_PROP(CollideConvexProperty, BoxesTouchAsOdesBoxesDo, ()) {
  InitializeOde();
  RandomStream random = AnyStream();
  const Vec3 sizes[] = {{random.Uniform(0.1, 1), random.Uniform(0.1, 1), random.Uniform(0.1, 1)},
                        {random.Uniform(0.1, 1), random.Uniform(0.1, 1), random.Uniform(0.1, 1)}};
  const Placement at[] = {AnyPlacement(random, 0.3), AnyPlacement(random, 0.3)};
  const ConvexPolyhedron a(BoxMesh(sizes[0]));
  const ConvexPolyhedron b(BoxMesh(sizes[1]));
  dGeomID geoms[2];
  for (size_t i = 0; i < 2; ++i) {
    geoms[i] = retrace_dCreateBox(nullptr, sizes[i].x(), sizes[i].y(), sizes[i].z());
    retrace_dGeomSetPosition(geoms[i], at[i].position.x(), at[i].position.y(), at[i].position.z());
    dMatrix3 rotation = {};
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) rotation[4 * r + c] = at[i].rotation(r, c);
    }
    retrace_dGeomSetRotation(geoms[i], rotation);
  }
  dContactGeom found[8];
  const int count = retrace_dCollide(geoms[0], geoms[1], 8, found, sizeof(dContactGeom));
  for (const dGeomID geom : geoms) retrace_dGeomDestroy(geom);
  const std::vector<Overlap> overlaps = Collide(a, at[0], b, at[1]);
  double depth = 0;
  for (int i = 0; i < count; ++i) depth = std::max(depth, found[i].depth);
  // A contact so shallow that rounding decides whether there is one says nothing.
  if (std::max(depth, Deepest(overlaps)) < 1e-6) return;
  RC_ASSERT(!overlaps.empty());
  RC_ASSERT(count > 0);
  // Where an edge is nearly as good as a face, each may take the other: then by at most the share that decides.
  const double difference = std::abs(Deepest(overlaps) - depth);
  const Vec3 normal = ToVec3(found[0].normal);
  if ((overlaps[0].normal - normal).norm() > 1e-6) {
    RC_ASSERT(difference < 0.06 * depth);
    return;
  }
  RC_ASSERT(difference < 1e-9);
  RC_ASSERT(static_cast<int>(overlaps.size()) >= count);
}

/// Moved apart by the depth along the normal, bodies touch no longer; moved by less in any direction, they still do.
RC_GTEST_PROP(CollideConvexProperty, TheNormalIsTheShortestWayOut, ()) {
  RandomStream random = AnyStream();
  const ConvexPolyhedron a(random.Uniform() < 0.5 ? Stump(random.Uniform(0.1, 0.5), random.Uniform(0.1, 1))
                                                  : BoxMesh({0.3, 0.5, 0.2}));
  const ConvexPolyhedron b(Stump(random.Uniform(0.1, 0.5), random.Uniform(0.1, 1)));
  Placement at_a = AnyPlacement(random, 0.3);
  const Placement at_b = AnyPlacement(random, 0.3);
  const std::vector<Overlap> overlaps = Collide(a, at_a, b, at_b);
  RC_ASSERT(overlaps.empty() || MayTouch(a, at_a, b, at_b));
  if (overlaps.empty()) return;
  const double depth = Deepest(overlaps);
  for (const Overlap& overlap : overlaps) {
    RC_ASSERT(std::abs(overlap.normal.norm() - 1) < 1e-12);
    RC_ASSERT(overlap.normal == overlaps.front().normal);
    RC_ASSERT(overlap.depth > 0);
  }
  const Vec3 start = at_a.position;
  at_a.position = start + (depth + 1e-9) * overlaps.front().normal;
  RC_ASSERT(Deepest(Collide(a, at_a, b, at_b)) < 1e-8);
  for (int i = 0; i < 20; ++i) {
    // An edge is taken only where it is better by 5 %.
    at_a.position = start + 0.94 * depth * AnyVector(random, 1).normalized();
    RC_ASSERT(!Collide(a, at_a, b, at_b).empty());
  }
}

/// The least overlap along all axes that can have it: normals of faces and products of edges.
double LeastOverlap(const ConvexPolyhedron& a, const Placement& at_a, const ConvexPolyhedron& b,
                    const Placement& at_b) {
  double least = 1e300;
  const auto look = [&](Vec3 axis) {
    if (axis.norm() < 1e-6) return;
    axis.normalize();
    Eigen::AlignedBox<double, 1> range[2];
    for (const Vec3& v : a.vertices())
      range[0].extend(Eigen::Matrix<double, 1, 1>(axis.dot(at_a.position + at_a.rotation * v)));
    for (const Vec3& v : b.vertices())
      range[1].extend(Eigen::Matrix<double, 1, 1>(axis.dot(at_b.position + at_b.rotation * v)));
    least = std::min({least, range[0].max()[0] - range[1].min()[0], range[1].max()[0] - range[0].min()[0]});
  };
  for (const auto& face : a.faces()) look(at_a.rotation * face.normal);
  for (const auto& face : b.faces()) look(at_b.rotation * face.normal);
  for (const auto& edge : a.edges()) {
    for (const auto& other : b.edges()) look((at_a.rotation * edge.along).cross(at_b.rotation * other.along));
  }
  return least;
}

TEST(CollideConvex, FindsTheLeastOverlapOfAllAxes) {
  int touching = 0;
  for (uint32_t i = 0; i < 600; ++i) {  // among them small bodies deep inside large ones
    RandomStream random(i, RandomStage::kTest, 0, 0);
    const ConvexPolyhedron a(random.Uniform() < 0.5 ? Stump(random.Uniform(0.1, 0.5), random.Uniform(0.1, 1))
                                                    : BoxMesh({0.3, 0.5, 0.2}));
    const ConvexPolyhedron b(Stump(random.Uniform(0.1, 0.5), random.Uniform(0.1, 1)));
    const Placement at_a = AnyPlacement(random, 0.3);
    const Placement at_b = AnyPlacement(random, 0.3);
    const double least = LeastOverlap(a, at_a, b, at_b);
    const double depth = Deepest(Collide(a, at_a, b, at_b));
    touching += depth > 0;
    if (least <= 0) {
      EXPECT_EQ(depth, 0) << i;
    } else if (least > 1e-9) {
      EXPECT_GT(depth, 0.5 * least) << i;  // the deepest corner of the faces that meet may be cut off
      EXPECT_LT(depth, 1.0501 * least) << i;
    }
  }
  EXPECT_GT(touching, 300);
}

RC_GTEST_PROP(CollideConvexProperty, NeitherTheOrderNorTheFrameMatters, ()) {
  RandomStream random = AnyStream();
  const ConvexPolyhedron a(Stump(0.3, 0.5));
  const ConvexPolyhedron b(BoxMesh({0.4, 0.2, 0.6}));
  const Placement at_a = AnyPlacement(random, 0.2);
  const Placement at_b = AnyPlacement(random, 0.2);
  const std::vector<Overlap> overlaps = Collide(a, at_a, b, at_b);
  const std::vector<Overlap> swapped = Collide(b, at_b, a, at_a);
  RC_ASSERT(std::abs(Deepest(overlaps) - Deepest(swapped)) < 1e-9);
  const Placement frame = AnyPlacement(random, 5);
  const auto moved = [&](const Placement& at) {
    return Placement{frame.position + frame.rotation * at.position, frame.rotation * at.rotation};
  };
  const std::vector<Overlap> elsewhere = Collide(a, moved(at_a), b, moved(at_b));
  RC_ASSERT(std::abs(Deepest(overlaps) - Deepest(elsewhere)) < 1e-9);
  if (overlaps.empty()) return;
  RC_ASSERT((overlaps[0].normal + swapped[0].normal).norm() < 1e-6);
  RC_ASSERT((frame.rotation * overlaps[0].normal - elsewhere[0].normal).norm() < 1e-6);
}

TEST(CollideConvex, TwoCubesFaceToFace) {
  const ConvexPolyhedron cube(BoxMesh({1, 1, 1}));
  const std::vector<Overlap> overlaps = Collide(cube, {{0, 0.95, 0}, Mat3::Identity()}, cube, {});
  ASSERT_EQ(overlaps.size(), 4u);
  for (const Overlap& overlap : overlaps) {
    EXPECT_NEAR(overlap.depth, 0.05, 1e-12);
    EXPECT_LT((overlap.normal - Vec3::UnitY()).norm(), 1e-12);  // towards the first, which is above
    EXPECT_NEAR(std::abs(overlap.position.x()), 0.5, 1e-12);
    EXPECT_NEAR(std::abs(overlap.position.z()), 0.5, 1e-12);
    EXPECT_NEAR(overlap.position.y(), 0.5, 1e-12);
  }
}

TEST(CollideConvex, TwoEdgesThatCross) {
  const ConvexPolyhedron cube(BoxMesh({1, 1, 1}));
  Placement above;
  above.rotation = AxisRotation(0, kPi / 4).toRotationMatrix();  // an edge along x is lowest
  Placement below;
  below.rotation = AxisRotation(2, kPi / 4).toRotationMatrix();  // an edge along z is highest
  above.position.y() = std::sqrt(2.0) - 0.02;
  const std::vector<Overlap> overlaps = Collide(cube, above, cube, below);
  ASSERT_EQ(overlaps.size(), 1u);
  EXPECT_NEAR(overlaps[0].depth, 0.02, 1e-12);
  EXPECT_LT((overlaps[0].normal - Vec3::UnitY()).norm(), 1e-12);
  EXPECT_LT((overlaps[0].position - Vec3(0, std::sqrt(0.5) - 0.01, 0)).norm(), 1e-12);
}

TEST(TakeSpread, StandsOnTheCornersOfASole) {
  // Twelve points of a sole, four of them corners, in an order that has the inner ones first.
  std::vector<Overlap> points;
  for (const double x : {0.0, -0.02, 0.02, -0.06, 0.06}) {
    for (const double z : {0.0, -0.04, 0.04, -0.1, 0.1}) points.push_back({{x, 0, z}, Vec3::UnitY(), 0.001});
  }
  points[3].depth = 0.0011;  // of an outer one of the middle line
  ASSERT_EQ(TakeSpread(std::span<Overlap>(points), Vec3::UnitY(), 4), 4u);
  EXPECT_EQ(points[0].depth, 0.0011);
  Eigen::AlignedBox3d bounds;
  for (size_t i = 0; i < 4; ++i) bounds.extend(points[i].position);
  EXPECT_NEAR(bounds.sizes().x(), 0.12, 1e-12);
  EXPECT_NEAR(bounds.sizes().z(), 0.2, 1e-12);
}

TEST(TakeSpread, WhatTouchesComesFirst) {
  std::vector<Overlap> points;
  for (int k = 0; k < 8; ++k) points.push_back({{0.1 * std::cos(k), 0, 0.1 * std::sin(k)}, Vec3::UnitY(), -0.01});
  for (int k = 0; k < 3; ++k) points.push_back({{0.01 * k, 0, 0.01 * (k == 1)}, Vec3::UnitY(), 0});
  ASSERT_EQ(TakeSpread(std::span<Overlap>(points), Vec3::UnitY(), 4), 4u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(points[i].depth, 0) << i;
  EXPECT_LT(points[3].depth, 0);
}

}  // namespace
}  // namespace retrace::simulation
