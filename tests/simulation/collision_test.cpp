/// What is not listed as near touches nothing.
#include "simulation/collision.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "retrace/math/random.h"
#include "simulation/available_passes.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

/// The human in any posture, on the ground, in it or over it, with limbs inside one another.
std::vector<BodyMotion> AnyBodies(const character::Character& human, RandomStream& random) {
  const auto any = [&](double size) {
    return Vec3(random.Uniform(-size, size), random.Uniform(-size, size), random.Uniform(-size, size));
  };
  character::Pose pose = RestPose(human);
  for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
    pose.joint_rotations[j] = FromRotationVector(any(2));
  }
  pose.root_orientation = FromRotationVector(any(3));
  pose.root_position.y() = random.Uniform(0, 1.5);
  std::vector<BodyMotion> bodies;
  for (const character::BodyState& state : StateOf(human, pose)) {
    bodies.push_back({state.position, state.orientation, state.orientation.toRotationMatrix(), any(3), any(5)});
  }
  return bodies;
}

RC_GTEST_PROP(CollisionProperty, WhatIsNotNearTouchesNothing, (uint64_t seed)) {
  RandomStream random(seed, RandomStage::kTest, 0, 0);
  const character::Character human = Human();
  const Forest forest(human);
  CollisionOptions options;
  options.time_step = 1.0 / 240;
  options.gravity = 9.81;
  options.ground_height = random.Uniform(-0.3, 0.3);
  Collision collision(forest, options);
  NearShapeFinder finder(collision, kScalarPasses);
  const std::vector<BodyMotion> bodies = AnyBodies(human, random);

  std::vector<uint32_t> pairs(collision.pairs().size()), shapes(collision.shapes().size());
  std::iota(pairs.begin(), pairs.end(), 0);
  std::iota(shapes.begin(), shapes.end(), 0);
  collision.Find(bodies, {pairs, shapes});
  const std::vector<ContactPoint> expected = collision.points();

  finder.Find(reinterpret_cast<const std::byte*>(bodies.data()));
  const NearShapes near = finder.OfLane(0);
  collision.Find(bodies, near);
  RC_TAG(near.pairs.size() < pairs.size() / 4 ? "few are near" : "many are near");
  RC_ASSERT(near.pairs.size() < pairs.size());
  RC_ASSERT(collision.points().size() == expected.size());
  for (size_t c = 0; c < expected.size(); ++c) {
    RC_ASSERT(collision.points()[c].body == expected[c].body);
    RC_ASSERT(collision.points()[c].other == expected[c].other);
    RC_ASSERT(collision.points()[c].position == expected[c].position);
    RC_ASSERT(collision.points()[c].depth == expected[c].depth);
  }
}

}  // namespace
}  // namespace retrace::simulation
