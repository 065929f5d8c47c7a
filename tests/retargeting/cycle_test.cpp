/// Cycles that are found in motions and repeated.
#include "retrace/retargeting/cycle.h"

#include <gtest/gtest.h>

#include "character/sample_human.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

constexpr double kPoseTime = 1.0 / 120;

/// Legs swing to and fro, ever more by `growth`, while the root goes forward at 1 m/s and turns.
std::vector<Pose> Strides(double duration, double period, double growth = 0, double turning = 0) {
  std::vector<Pose> poses;
  for (double time = 0; time < duration; time += kPoseTime) {
    Pose& pose = poses.emplace_back(RestPose(Human()));
    const double phase = 2 * kPi * time / period;
    pose.root_position.z() += time;
    pose.root_position.y() += 0.02 * std::cos(2 * phase);
    pose.root_orientation = AxisRotation(1, turning * time);
    const double size = 0.4 + growth * time;
    pose.joint_rotations[static_cast<size_t>(Human().FindJoint("left_hip"))] = AxisRotation(0, size * std::sin(phase));
    pose.joint_rotations[static_cast<size_t>(Human().FindJoint("right_hip"))] =
        AxisRotation(0, -size * std::sin(phase));
    pose.joint_rotations[static_cast<size_t>(Human().FindJoint("left_knee"))] =
        AxisRotation(0, 0.5 + 0.4 * std::cos(phase));
  }
  return poses;
}

TEST(Cycle, IsFoundWhereTheMotionRepeats) {
  const auto cycle = FindCycle(Strides(3, 1.1), kPoseTime);
  ASSERT_TRUE(cycle);
  EXPECT_EQ(cycle->length, 132u);
  EXPECT_LT(cycle->seam, 1e-6);
}

TEST(Cycle, HasABadSeamInAMotionThatDoesNotRepeat) {
  const auto cycle = FindCycle(Strides(1.4, 6, 0.8), kPoseTime);
  ASSERT_TRUE(cycle);
  EXPECT_GT(cycle->seam, kWorstSeam);
}

TEST(Cycle, IsNotFoundInAMotionThatTurnsOrIsShort) {
  EXPECT_FALSE(FindCycle(Strides(3, 1.1, 0, 2), kPoseTime));
  EXPECT_FALSE(FindCycle(Strides(0.4, 1.1), kPoseTime));
}

TEST(Cycle, RepeatedGoesOnWithoutAJump) {
  const std::vector<Pose> poses = Strides(3, 1.1, 0.05, 0.05);
  const auto cycle = FindCycle(poses, kPoseTime);
  ASSERT_TRUE(cycle);
  ASSERT_LT(cycle->seam, kWorstSeam);
  const std::vector<Pose> repeated = Repeat(poses, *cycle, 2000);
  ASSERT_EQ(repeated.size(), 2000u);
  for (size_t i = 1; i < repeated.size(); ++i) {
    EXPECT_LT((repeated[i].root_position - repeated[i - 1].root_position).norm(), 1.6 * kPoseTime) << i;
    EXPECT_LT(AngleBetween(repeated[i].root_orientation, repeated[i - 1].root_orientation), 0.01) << i;
    for (size_t j = 0; j < Human().joints.size(); ++j) {
      EXPECT_LT(AngleBetween(repeated[i].joint_rotations[j], repeated[i - 1].joint_rotations[j]), 0.05) << i;
    }
  }
  // It neither climbs nor turns in the long run.
  EXPECT_NEAR(repeated.back().root_position.y(), repeated.front().root_position.y(), 0.06);
  EXPECT_LT(AngleBetween(repeated.back().root_orientation, repeated.front().root_orientation), 0.1);
  EXPECT_NEAR(repeated.back().root_position.z() - repeated.front().root_position.z(), 2000 * kPoseTime, 1);
}

}  // namespace
}  // namespace retrace::character
