/// Persons' motions on robots.
#include "retrace/robots/human_motion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/character/kinematics.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/recording.h"
#include "retrace/retargeting/reference.h"
#include "retrace/robots/read_robot.h"
#include "retrace/robots/robot_character.h"
#include "robots/sample_robot.h"

namespace retrace::robots {
namespace {

using character::Character;

Character SampleRobot() {
  return MakeRobotCharacter(ReadRobot(SampleUrdf(), "sample.urdf"), "sample.urdf").character;
}
Character Human() {
  return character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
}
motion::Clip Walk() {
  return recordings::ReadRecording(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh");
}

/// Its feet are where the person's are, in the measure of its legs; joints stay within their ranges.
TEST(HumanMotion, PutsTheFeetOfTheRobotWhereThoseOfThePersonAre) {
  const Character robot = SampleRobot(), human = Human();
  const motion::Clip clip = HumanMotionOf(robot, human, Walk(), "walk.bvh");
  const std::vector<character::Pose> poses = character::PosesOf(robot, clip, "walk");
  character::ReferenceReport report;
  const character::ReferenceMotion reference = character::MakeReference(human, Walk(), "walk.bvh", {}, report);
  ASSERT_EQ(poses.size(), reference.poses().size());
  const double scale = 0.97 * 0.8 / 0.825;  // legs of 0.8 and of 0.825 m
  character::State of_robot, of_human;
  double sum = 0;
  for (size_t f = 0; f < poses.size(); ++f) {
    character::ForwardKinematics(robot, poses[f], of_robot);
    character::ForwardKinematics(human, reference.poses()[f], of_human);
    for (const char* const joint : {"left_ankle", "right_ankle"}) {
      const auto place = [&](const Character& character, const character::State& state) {
        const int j = character.FindJoint(joint);
        return character::JointPosition(character, character.joints[static_cast<size_t>(j)], state);
      };
      Vec3 apart = place(robot, of_robot) - scale * place(human, of_human);
      apart.y() = 0;
      sum += apart.norm();
    }
    for (size_t j = 0; j < robot.joints.size(); ++j) {
      const character::Joint& joint = robot.joints[j];
      if (!joint.range) continue;
      const double angle = joint.Along(RotationVector(poses[f].joint_rotations[j]));
      EXPECT_GE(angle, joint.range->first - 1e-6) << joint.name;
      EXPECT_LE(angle, joint.range->second + 1e-6) << joint.name;
    }
  }
  EXPECT_LT(sum / static_cast<double>(2 * poses.size()), 0.05);
  EXPECT_THAT(clip.notes, ::testing::Contains(::testing::HasSubstr("ankles are")));
}

/// The same robot whose file has y ahead: it walks where the person walks, and ends as the other one does.
TEST(HumanMotion, OfARobotWhoseFileLooksElsewhereIsTheSame) {
  const std::string text = SampleUrdf();
  std::string turned = text;
  turned.insert(turned.find("<link"), R"(<link name="base"/><joint name="mount" type="fixed"><parent link="base"/>
    <child link="pelvis"/><origin rpy="0 0 1.5707963267948966"/></joint>)");
  const Character one = SampleRobot();
  const Character other = MakeRobotCharacter(ReadRobot(turned, "turned.urdf"), "turned.urdf").character;
  const std::vector<character::Pose> a = character::PosesOf(one, HumanMotionOf(one, Human(), Walk(), "walk"), "a");
  const std::vector<character::Pose> b = character::PosesOf(other, HumanMotionOf(other, Human(), Walk(), "walk"), "b");
  ASSERT_EQ(a.size(), b.size());
  for (const size_t f : {size_t{0}, a.size() / 2, a.size() - 1}) {
    character::State of_one, of_other;
    character::ForwardKinematics(one, a[f], of_one);
    character::ForwardKinematics(other, b[f], of_other);
    for (const char* const body : {"pelvis", "left_foot", "right_foot", "trunk"}) {
      const Vec3 apart =
          of_one[static_cast<size_t>(one.FindBody(body))].position -
          of_other[static_cast<size_t>(other.FindBody(body == std::string("pelvis") ? "base" : body))].position;
      EXPECT_LT(apart.norm(), 0.01) << body << " in frame " << f;
    }
  }
}

/// Links with the names of a human's segments do not make it one.
TEST(HumanMotion, BecomesAReferenceOfARobotWithNamesOfAHuman) {
  const Character robot = SampleRobot(), human = Human();
  ASSERT_GE(robot.FindBody("left_shin"), 0);
  const motion::Clip clip = HumanMotionOf(robot, human, Walk(), "walk.bvh");
  character::ReferenceReport report;
  const character::ReferenceMotion reference = character::MakeReference(robot, clip, "walk.bvh", {}, report);
  EXPECT_LT(report.joint_distance, 1e-6);
  EXPECT_NEAR(reference.duration(), 3.2, 0.01);
}

TEST(HumanMotion, NeedsTwoLegs) {
  const std::string text = R"(<robot name="brick"><link name="brick"><inertial><mass value="2"/>
    <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.04" iyz="0" izz="0.01"/></inertial></link></robot>)";
  const Character robot = MakeRobotCharacter(ReadRobot(text, "brick.urdf"), "brick.urdf").character;
  EXPECT_TRUE(IsRobot(robot));
  EXPECT_FALSE(IsRobot(Human()));
  try {
    HumanMotionOf(robot, Human(), Walk(), "walk.bvh");
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "brick: found 0 legs, expected two legs, for a motion of a person");
  }
}

TEST(HumanMotion, OfItsOwnSkeletonIsToldApart) {
  const Character robot = SampleRobot();
  character::Pose pose;
  pose.joint_rotations.assign(robot.joints.size(), Quat::Identity());
  EXPECT_TRUE(IsOfOwnSkeleton(character::ClipOf(robot, {pose, pose}, 0.1), robot));
  EXPECT_FALSE(IsOfOwnSkeleton(Walk(), robot));
}

}  // namespace
}  // namespace retrace::robots
