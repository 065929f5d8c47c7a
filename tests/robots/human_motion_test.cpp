/// Persons' motions on robots.
#include "retrace/robots/human_motion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "retrace/character/kinematics.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
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

/// With a joint that rolls the forearm where both halves of the arm are longest: the elbow is the one that bends.
TEST(HumanMotion, BendsTheArmAtTheElbow) {
  std::string text = SampleUrdf();
  for (const std::string side : {"left", "right"}) {
    const std::string center = R"(<origin xyz="0.1 0 0"/><mass value="1"/>)";
    text.replace(text.find(center), center.size(), R"(<origin xyz="0.15 0 0"/><mass value="1"/>)");
    const size_t joint = text.find("<joint name=\"" + side + "_elbow\"");
    const size_t child = text.find("<child link=\"" + side + "_forearm\"/>", joint);
    ASSERT_NE(child, std::string::npos);
    text.replace(child, std::string("<child link=\"" + side + "_forearm\"/>").size(),
                 "<child link=\"" + side + "_roll\"/>");
    text.insert(text.find("<joint"), "<link name=\"" + side +
                                         R"(_roll"><inertial><origin xyz="0.05 0 0"/><mass value="0.5"/>
      <inertia ixx="0.001" iyy="0.001" izz="0.001"/></inertial></link>
      <joint name=")" + side + R"(_wrist_roll" type="continuous"><parent link=")" +
                                         side + R"(_roll"/><child link=")" + side +
                                         R"(_forearm"/><origin xyz="0.05 0 0"/><axis xyz="1 0 0"/></joint>)");
  }
  const Character robot = MakeRobotCharacter(ReadRobot(text, "roll.urdf"), "roll.urdf").character;
  const std::vector<character::Pose> poses =
      character::PosesOf(robot, HumanMotionOf(robot, Human(), Walk(), "walk"), "a");
  const auto rolls = static_cast<size_t>(robot.FindJoint("left_wrist_roll"));
  const auto elbow = static_cast<size_t>(robot.FindJoint("left_elbow"));
  double bent = 0;
  for (const character::Pose& pose : poses) {
    EXPECT_LT(AngleBetween(pose.joint_rotations[rolls], Quat::Identity()), 1e-6) << "nothing says how a hand is turned";
    bent = std::max(bent, AngleBetween(pose.joint_rotations[elbow], Quat::Identity()));
  }
  EXPECT_GT(bent, 0.2);
}

/// Hands that bear a person's weight are on the floor, in whatever proportion the robot's arms are.
TEST(HumanMotion, LeansOnTheFloorWhereThePersonDoes) {
  const std::string clips = std::string(RETRACE_SHARED_DIR) + "/mocap/clips";
  const std::string g1 = std::string(RETRACE_SHARED_DIR) + "/robots/unitree_g1/g1_29dof_rev_1_0.urdf";
  if (!std::filesystem::exists(clips) || !std::filesystem::exists(g1)) GTEST_SKIP() << "there is no ../shared";
  const Character robot = MakeRobotCharacter(ReadRobot(io::ReadFile(g1), g1), g1).character;
  motion::Clip getup = recordings::ReadRecording(clips + "/getup_supine_wd2.bvh");
  const auto first = getup.frames.begin() + static_cast<std::ptrdiff_t>(1.5 / getup.frame_time);
  const auto last = getup.frames.begin() + static_cast<std::ptrdiff_t>(2.5 / getup.frame_time);
  getup.frames = {first, last};
  const motion::Clip clip = HumanMotionOf(robot, Human(), getup, "getup");
  double highest = 0, deepest = 0;
  for (const character::Pose& pose : character::PosesOf(robot, clip, "getup")) {
    character::State state;
    character::ForwardKinematics(robot, pose, state);
    for (size_t b = 0; b < state.size(); ++b) {
      const double lowest = character::LowestPoint(robot.bodies[b], state[b]);
      if (robot.bodies[b].shapes.empty() || robot.bodies[b].part == character::Part::kFoot) continue;
      deepest = std::min(deepest, lowest);
      if (robot.bodies[b].part == character::Part::kHand) highest = std::max(highest, lowest);
    }
  }
  EXPECT_LT(highest, 0.06);
  EXPECT_GT(deepest, -0.03);
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
