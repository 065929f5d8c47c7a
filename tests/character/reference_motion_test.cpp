/// A reference motion between its poses, before its start and past its end.
#include "retrace/character/reference_motion.h"

#include <gtest/gtest.h>

#include "character/sample_human.h"

namespace retrace::character {
namespace {

constexpr double kFrame = 0.1;  // [s]

/// The human at rest, whose root is at the squares of 0, 1, 2 ... along z.
ReferenceMotion Accelerating(size_t count) {
  std::vector<Pose> poses(count, RestPose(Human()));
  for (size_t f = 0; f < count; ++f) poses[f].root_position.z() = static_cast<double>(f * f);
  return ReferenceMotion(Human(), kFrame, poses, kFrame);
}

TEST(ReferenceMotion, IsStraightBetweenPosesAndStaysAtItsEnds) {
  const ReferenceMotion motion = Accelerating(4);
  EXPECT_DOUBLE_EQ(motion.duration(), 0.3);
  Pose pose;
  motion.PoseAt(0.15, pose);
  EXPECT_NEAR(pose.root_position.z(), 2.5, 1e-12);
  motion.PoseAt(-1, pose);
  EXPECT_EQ(pose.root_position.z(), 0);
  motion.PoseAt(1, pose);
  EXPECT_EQ(pose.root_position.z(), 9);
}

TEST(ReferenceMotion, SamplesArePosesAtTheirInstants) {
  const ReferenceMotion motion = Accelerating(4);
  const std::vector<Pose> samples = motion.Sample(0.05, 4, 0.125);
  ASSERT_EQ(samples.size(), 4u);
  for (size_t f = 0; f < samples.size(); ++f) {
    Pose expected;
    motion.PoseAt(0.05 + static_cast<double>(f) * 0.125, expected);
    EXPECT_EQ(samples[f].root_position, expected.root_position) << f;
    EXPECT_EQ(samples[f].joint_rotations.size(), Human().joints.size());
  }
  EXPECT_EQ(samples[3].root_position.z(), 9);  // 0.425 s: past the end
  EXPECT_TRUE(motion.Sample(0, 0, 0.1).empty());
}

}  // namespace
}  // namespace retrace::character
