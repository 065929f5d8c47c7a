#include "retrace/character/approach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

Body CapsuleBody(double radius, double length, int axis, const Vec3& offset = Vec3::Zero()) {
  Shape shape;
  shape.kind = Shape::Kind::kCapsule;
  shape.radius = radius;
  shape.length = length;
  shape.axis = axis;
  shape.offset = offset;
  Body body;
  body.shapes = {shape};
  return body;
}

Body BoxBody(const Vec3& size) {
  Shape shape;
  shape.size = size;
  Body body;
  body.shapes = {shape};
  return body;
}

/// The same box as a mesh.
Body MeshBody(const Vec3& size) {
  Body body = BoxBody(size);
  body.shapes[0].kind = Shape::Kind::kMesh;
  body.shapes[0].mesh = BoxMesh(size);
  return body;
}

BodyState At(const Vec3& position, const Quat& orientation = Quat::Identity()) {
  BodyState state;
  state.position = position;
  state.orientation = orientation;
  return state;
}

TEST(BodyDistance, IsThatOfSegmentsLessTheRadii) {
  const Body upright = CapsuleBody(0.05, 0.4, 1), across = CapsuleBody(0.1, 0.6, 0);
  // They cross at a distance of 0.5 m.
  EXPECT_NEAR(BodyDistance(upright, At(Vec3::Zero()), across, At(Vec3(0.1, 0.1, 0.5))), 0.35, 1e-9);
  // The end of the one is nearest to the end of the other: 0.3 along x, 0.4 along y.
  EXPECT_NEAR(BodyDistance(upright, At(Vec3::Zero()), across, At(Vec3(0.6, 0.6, 0))), 0.5 - 0.15, 1e-9);
  // Parallel, beside one another, and one after the other.
  EXPECT_NEAR(BodyDistance(upright, At(Vec3::Zero()), upright, At(Vec3(0.3, 0.2, 0))), 0.2, 1e-9);
  EXPECT_NEAR(BodyDistance(upright, At(Vec3::Zero()), upright, At(Vec3(0, 1, 0))), 0.5, 1e-9);
  // Turned by a right angle, the upright one lies along x.
  EXPECT_NEAR(BodyDistance(upright, At(Vec3::Zero(), AxisRotation(2, kPi / 2)), across, At(Vec3(0.7, 0, 0))), 0.05,
              1e-9);
  // A little inside one another: as deep as the radii say while the segments are apart.
  EXPECT_NEAR(BodyDistance(upright, At(Vec3::Zero()), across, At(Vec3(0, 0, 0.1))), -0.05, 1e-9);
  EXPECT_LE(BodyDistance(upright, At(Vec3::Zero()), across, At(Vec3::Zero())), 0);
  const Body lifted = CapsuleBody(0.05, 0.4, 1, Vec3(0, 0, 0.2));
  EXPECT_NEAR(BodyDistance(lifted, At(Vec3::Zero()), across, At(Vec3(0, 0, 0.5))), 0.15, 1e-9);
  EXPECT_TRUE(std::isinf(BodyDistance(Body(), At(Vec3::Zero()), across, At(Vec3::Zero()))));
}

TEST(BodyDistance, IsThatOfFacesEdgesAndCornersOfBoxes) {
  const Vec3 size(0.2, 0.4, 0.6);
  for (const Body& box : {BoxBody(size), MeshBody(size)}) {
    EXPECT_NEAR(BodyDistance(box, At(Vec3::Zero()), box, At(Vec3(0.5, 0.1, 0.2))), 0.3, 1e-9);
    EXPECT_NEAR(BodyDistance(box, At(Vec3::Zero()), box, At(Vec3(0.5, 0.8, 0.2))), 0.5, 1e-9);
    EXPECT_NEAR(BodyDistance(box, At(Vec3::Zero()), box, At(Vec3(0.3, 0.6, 0.8))), std::sqrt(0.01 + 0.04 + 0.04), 1e-9);
    EXPECT_LE(BodyDistance(box, At(Vec3::Zero()), box, At(Vec3(0.1, 0.3, 0.5))), 1e-9);
    const double corner = std::sqrt(0.5) * 0.2;
    const Body cube = BoxBody(Vec3::Constant(0.2));
    EXPECT_NEAR(BodyDistance(box, At(Vec3::Zero()), cube, At(Vec3(0.5, 0, 0), AxisRotation(1, kPi / 4))), 0.4 - corner,
                1e-9);
  }
}

/// The point of a body's only shape that is nearest to another point; for the oracle.
Vec3 Project(const Body& body, const BodyState& at, const Vec3& point) {
  const Shape& shape = body.shapes[0];
  const Vec3 local = at.orientation.conjugate() * Vec3(point - at.position) - shape.offset;
  Vec3 on = local;
  if (shape.kind == Shape::Kind::kBox) {
    on = local.cwiseMax(-0.5 * shape.size).cwiseMin(0.5 * shape.size);
  } else {
    Vec3 core = Vec3::Zero();
    core[shape.axis] = std::clamp(local[shape.axis], -0.5 * shape.length, 0.5 * shape.length);
    const Vec3 out = local - core;
    if (out.norm() > shape.radius) on = core + shape.radius * out.normalized();
  }
  return at.position + at.orientation * Vec3(on + shape.offset);
}

/// Projections onto one and the other in turn lead to the nearest points (Cheney and Goldstein 1959).
TEST(BodyDistance, IsThatOfAlternatingProjections) {
  RandomStream random(23, RandomStage::kTest, 0, 0);
  const auto vector = [&](double size) { return Vec3(Vec3(random.Normal(), random.Normal(), random.Normal()) * size); };
  const auto body = [&] {
    if (random.Uniform() < 0.5) return BoxBody(vector(0.3).cwiseAbs() + Vec3::Constant(0.02));
    return CapsuleBody(0.02 + 0.2 * random.Uniform(), random.Uniform(), static_cast<int>(3 * random.Uniform()),
                       vector(0.1));
  };
  int apart = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Body a = body(), b = body();
    const BodyState at_a = At(vector(0.4), FromRotationVector(vector(1)));
    const BodyState at_b = At(vector(0.4), FromRotationVector(vector(1)));
    const double distance = BodyDistance(a, at_a, b, at_b);
    EXPECT_NEAR(distance, BodyDistance(b, at_b, a, at_a), 1e-7 + (distance < 0 ? 1 : 0));
    Vec3 on_a = at_a.position, on_b = at_b.position;
    for (int round = 0; round < 3000; ++round) {
      on_b = Project(b, at_b, on_a);
      on_a = Project(a, at_a, on_b);
    }
    const double expected = (on_a - on_b).norm();
    apart += distance > 0 ? 1 : 0;
    // Where they hardly touch the projections creep.
    EXPECT_NEAR(std::max(0.0, distance), expected, 2e-4) << trial;
    EXPECT_LE(distance, expected + 1e-8) << trial;
  }
  EXPECT_GT(apart, 100);
}

/// A character of one capsule of 0.1 m radius that stands upright.
Character Post() {
  return ParseCharacter(
      io::ParseJson(R"({"format": "retrace-character", "version": 1, "name": "post", "height": 1, "bodies": [
        {"name": "post", "mass": 2, "inertia": [0.1, 0.1, 0.1], "position": [0, 0.5, 0],
         "shapes": [{"capsule": {"radius": 0.1, "length": 0.8, "axis": "y"}}]}], "joints": [],
         "end_effectors": [], "no_self_collision": [], "contact_presets": {"none": {}}})",
                    "post.json"),
      "post.json");
}

/// It moves along x from a position with a constant velocity.
ReferenceMotion Moving(const Character& character, double x, double velocity, double duration) {
  std::vector<Pose> poses;
  for (int f = 0; f <= static_cast<int>(std::lround(duration * 30)); ++f) {
    Pose& pose = poses.emplace_back();
    pose.root_position = Vec3(x + velocity * f / 30, 0.5, 0);
  }
  return ReferenceMotion(character, 1.0 / 30, poses, 1.0 / 60);
}

TEST(FirstTouch, IsWhenTheDistanceIsClosed) {
  const Character post = Post();
  // 2 m between the axes, 0.2 m of radii, 1.3 m/s together: after 1.8 / 1.3 s.
  const ReferenceMotion a = Moving(post, 0, 0.8, 3), b = Moving(post, 2, -0.5, 3);
  const Approach approach = FirstTouch(a, b, 0, 3);
  EXPECT_TRUE(approach.touch);
  EXPECT_NEAR(approach.time, 1.8 / 1.3, 2e-4);
  EXPECT_EQ(approach.bodies.first, 0);
  EXPECT_EQ(approach.bodies.second, 0);
  // From a later instant on they are inside one another at once.
  const Approach inside = FirstTouch(a, b, 1.5, 3);
  EXPECT_TRUE(inside.touch);
  EXPECT_EQ(inside.time, 1.5);
  EXPECT_LT(inside.bodies.distance, 0);
}

TEST(FirstTouch, NamesTheClosestApproachOfThoseThatDoNotMeet) {
  const Character post = Post();
  const Approach approach = FirstTouch(Moving(post, 0, 0.5, 3), Moving(post, 2, 0, 3), 0, 2);
  EXPECT_FALSE(approach.touch);
  EXPECT_NEAR(approach.time, 2, 1e-9);
  EXPECT_NEAR(approach.bodies.distance, 0.8, 1e-9);
}

}  // namespace
}  // namespace retrace::character
