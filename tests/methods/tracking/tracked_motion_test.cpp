/// References in generalized coordinates against motions that are written down.
#include "retrace/methods/tracking/tracked_motion.h"

#include <gtest/gtest.h>

#include "task/synthetic_motion.h"

namespace retrace::tracking {
namespace {

constexpr double kRate = 3;    // [rad/s]
constexpr double kSize = 0.2;  // [m, rad]

/// Root and an elbow swing, the elbow about the axis of its parent.
character::Pose Swinging(double time) {
  character::Pose pose = task::StandingPose();
  pose.root_position += kSize * std::sin(kRate * time) * Vec3(1, 0.5, -2);
  pose.root_orientation = AxisRotation(1, kSize * std::cos(kRate * time));
  pose.joint_rotations[task::JointIndex("left_elbow")] = AxisRotation(2, kSize * std::sin(kRate * time));
  return pose;
}

TEST(TrackedMotion, HasTheDerivativesOfAMotion) {
  const character::ReferenceMotion reference = task::Motion(Swinging, 2);
  const dynamics::Coordinates coordinates(task::Human());
  TrackedMotion motion(reference, coordinates);
  Goal goal;
  const int elbow = coordinates.FirstOf(static_cast<int>(task::JointIndex("left_elbow")));
  for (double time = 0.05; time < 1.95; time += 0.0375) {
    motion.At(time, goal);
    const double s = kSize * std::sin(kRate * time), c = kSize * std::cos(kRate * time);
    EXPECT_LT((goal.velocity.head<3>() - kRate * c * Vec3(1, 0.5, -2)).norm(), 1e-3) << time;
    EXPECT_LT((goal.acceleration.head<3>() + kRate * kRate * s * Vec3(1, 0.5, -2)).norm(), 0.02) << time;
    EXPECT_NEAR(goal.velocity[4], -kRate * s, 1e-3) << time;
    EXPECT_NEAR(goal.acceleration[4], -kRate * kRate * c, 0.01) << time;
    EXPECT_NEAR(goal.velocity[elbow + 2], kRate * c, 1e-3) << time;
    EXPECT_NEAR(goal.acceleration[elbow + 2], -kRate * kRate * s, 0.01) << time;
    EXPECT_NEAR(goal.state[task::BodyIndex("pelvis")].linear_velocity.x(), kRate * c, 1e-3) << time;
  }
}

TEST(TrackedMotion, KeepsItsVelocitiesToTheEnds) {
  const auto falling = [](double time) {
    character::Pose pose = task::StandingPose();
    pose.root_position.y() -= 0.5 * 9.81 * time * time;
    return pose;
  };
  const character::ReferenceMotion reference = task::Motion(falling, 1);
  const dynamics::Coordinates coordinates(task::Human());
  TrackedMotion motion(reference, coordinates);
  Goal goal;
  motion.At(0, goal);
  EXPECT_NEAR(goal.velocity[1], 0, 0.1);
  EXPECT_NEAR(goal.acceleration[1], -9.81, 0.01);
  motion.At(1, goal);
  EXPECT_NEAR(goal.velocity[1], -9.81, 0.1);
  EXPECT_NEAR(goal.acceleration[1], -9.81, 0.01);
}

}  // namespace
}  // namespace retrace::tracking
