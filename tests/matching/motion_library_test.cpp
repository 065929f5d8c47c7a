#include "retrace/matching/motion_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "task/synthetic_motion.h"

namespace retrace::matching {
namespace {

character::State StateOf(const character::Pose& pose) {
  character::State state;
  character::ForwardKinematics(task::Human(), pose, state);
  return state;
}

TEST(MotionLibrary, HasAFrameEachThirtiethOfASecond) {
  MotionLibrary library(task::Human());
  library.Add("stand", task::Motion(task::Standing, 1));
  library.Add("squat", task::Motion(task::Squatting, 0.99));
  ASSERT_EQ(library.motions().size(), 2);
  EXPECT_EQ(library.motions()[0].num_frames, 31);
  EXPECT_EQ(library.motions()[1].first, 31);
  EXPECT_EQ(library.motions()[1].num_frames, 30);
  EXPECT_EQ(library.frames().size(), 61);
  EXPECT_EQ(library.MotionOf(0), 0);
  EXPECT_EQ(library.MotionOf(30), 0);
  EXPECT_EQ(library.MotionOf(31), 1);
  EXPECT_EQ(library.MotionOf(60), 1);
}

TEST(MotionLibrary, FramesDoNotChangeWhenTheMotionIsMovedAndTurned) {
  // Not the same on both sides, so that it does not depend on rounding which hand carries.
  const auto crawling = [](double time) {
    character::Pose pose = task::Crawling(time);
    pose.joint_rotations[task::JointIndex("left_shoulder")] *= AxisRotation(2, 0.3);
    return task::OnTheFloor(pose);
  };
  const auto elsewhere = [&](double time) {
    character::Pose pose = crawling(time);
    const Quat turn = AxisRotation(1, 2.1);
    pose.root_orientation = turn * pose.root_orientation;
    pose.root_position = turn * pose.root_position + Vec3(3, 0, -7);
    return pose;
  };
  const std::vector<Frame> frames = FramesOf(task::Motion(crawling, 1)), others = FramesOf(task::Motion(elsewhere, 1));
  ASSERT_EQ(frames.size(), others.size());
  for (size_t k = 0; k < frames.size(); ++k) {
    EXPECT_EQ(frames[k].whole.support, others[k].whole.support);
    for (size_t b = 0; b < frames[k].bodies.size(); ++b) {
      EXPECT_NEAR(frames[k].bodies[b].x, others[k].bodies[b].x, 1e-5F);
      EXPECT_NEAR(frames[k].bodies[b].z, others[k].bodies[b].z, 1e-5F);
    }
    EXPECT_NEAR(frames[k].whole.velocity[2], others[k].whole.velocity[2], 1e-3F);
  }
}

TEST(MotionLibrary, VelocitiesAreThoseOfTheMotion) {
  const auto striding = [](double time) {
    character::Pose pose = task::StandingPose();
    pose.root_orientation = AxisRotation(1, 0.7);
    pose.root_position += pose.root_orientation * Vec3(0, 0, 1.3 * time);
    return pose;
  };
  const std::vector<Frame> frames = FramesOf(task::Motion(striding, 1));
  EXPECT_NEAR(frames[15].whole.velocity[0], 0, 1e-5F);
  EXPECT_NEAR(frames[15].whole.velocity[2], 1.3F, 1e-4F);  // along the heading
}

TEST(MotionLibrary, WhoStandsIsCarriedByAFootAndWhoLiesByTheTrunk) {
  const character::Character& human = task::Human();
  const auto part_of = [&](const character::Pose& pose) {
    return human.bodies[static_cast<size_t>(SupportOf(human, StateOf(pose)))].segment;
  };
  EXPECT_THAT(part_of(task::StandingPose()), testing::EndsWith("foot"));
  character::Pose on_the_right = task::SquatPose(0.3);
  on_the_right.joint_rotations[task::JointIndex("left_hip")] = AxisRotation(0, -1.2);
  EXPECT_EQ(part_of(task::OnTheFloor(on_the_right)), "right_foot");
  character::Pose lying = task::StandingPose();
  lying.root_orientation = AxisRotation(0, -kPi / 2);
  EXPECT_THAT(part_of(task::OnTheFloor(lying)), testing::AnyOf("pelvis", "trunk"));
  character::Pose flying = task::StandingPose();
  flying.root_position.y() += 1;
  EXPECT_THAT(part_of(flying), testing::EndsWith("foot"));
}

}  // namespace
}  // namespace retrace::matching
