/// Distances between states.
#include "retrace/metrics/state_distance.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::metrics {
namespace {

const character::Character& TheHuman() {
  static const character::Character human =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  return human;
}

Vec3 AnyVector(double size) {
  const auto any = [&] { return size * (*rc::gen::inRange(-1000, 1001) / 1000.0); };
  return {any(), any(), any()};
}

/// In any posture, moving.
character::State AnyState() {
  character::Pose pose;
  pose.root_position = AnyVector(3);
  pose.root_orientation = FromRotationVector(AnyVector(1.5));
  for (size_t j = 0; j < TheHuman().joints.size(); ++j) {
    pose.joint_rotations.push_back(FromRotationVector(AnyVector(0.5)));
  }
  character::State state;
  character::ForwardKinematics(TheHuman(), pose, state);
  for (character::BodyState& body : state) {
    body.linear_velocity = AnyVector(2);
    body.angular_velocity = AnyVector(2);
  }
  return state;
}

character::State MovedOnGround(character::State state, double heading, const Vec3& offset) {
  const Quat turn = AxisRotation(1, heading);
  for (character::BodyState& body : state) {
    body.position = turn * body.position + offset;
    body.orientation = turn * body.orientation;
    body.linear_velocity = turn * body.linear_velocity;
    body.angular_velocity = turn * body.angular_velocity;
  }
  return state;
}

RC_GTEST_PROP(StateDistance, DoesNotChangeWithPlaceAndHeading, ()) {
  const character::State a = AnyState(), b = AnyState();
  const Vec3 along = AnyVector(10);
  const character::State moved = MovedOnGround(b, 3 * AnyVector(1).x(), {along.x(), 0, along.z()});
  RC_ASSERT(StateDistance(TheHuman(), a, a) < 1e-12);
  RC_ASSERT(StateDistance(TheHuman(), b, moved) < 1e-9);
  const double heading = 3 * AnyVector(1).x();
  const character::State both = MovedOnGround(a, heading, {along.z(), 0, along.x()});
  RC_ASSERT(std::abs(StateDistance(TheHuman(), both, MovedOnGround(b, heading, Vec3::Zero())) -
                     StateDistance(TheHuman(), a, b)) < 1e-9);
  RC_ASSERT(std::abs(StateDistance(TheHuman(), b, a) - StateDistance(TheHuman(), a, b)) < 1e-9);
}

TEST(StateDistance, CountsHeightsAndVelocities) {
  character::Pose pose;
  pose.joint_rotations.assign(TheHuman().joints.size(), Quat::Identity());
  character::State a;
  character::ForwardKinematics(TheHuman(), pose, a);
  EXPECT_NEAR(StateDistance(TheHuman(), a, MovedOnGround(a, 0.5, {1, 0.3, 2})), 0.3, 1e-12);
  character::State faster = a;
  for (character::BodyState& body : faster) body.linear_velocity.x() += 0.5;
  EXPECT_NEAR(StateDistance(TheHuman(), a, faster), 0.5 * kDistanceTime, 1e-12);
  EXPECT_EQ(StateDistance(TheHuman(), a, faster, 0), 0);
}

}  // namespace
}  // namespace retrace::metrics
