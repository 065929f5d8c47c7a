/// The model for MuJoCo: what is read of it again is the robot.
#include "retrace/exports/mujoco_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exports/simulated_motion.h"
#include "retrace/robots/read_robot.h"
#include "retrace/robots/robot_character.h"
#include "robots/sample_robot.h"

namespace retrace::exports {
namespace {

using character::Character;

Character Read(const std::string& text, const std::string& name) {
  return robots::MakeRobotCharacter(robots::ReadRobot(text, name), name).character;
}

/// A robot in its rest pose, a little turned, in a world of its own.
Simulation Rest(const Character& character) {
  Simulation simulation{character, {}, {}};
  simulation.control.world.friction = 0.6;
  character::Pose pose;
  pose.root_position = Vec3(0.3, 1.4, 0.2);
  pose.root_orientation = AxisRotation(1, 0.5);
  pose.joint_rotations.assign(character.joints.size(), Quat::Identity());
  character::ForwardKinematics(character, pose, simulation.control.start);
  simulation.control.fragments = {{0, 2, {pose.joint_rotations}}};
  simulation.trajectory = control::Replay(character, simulation.control);
  return simulation;
}

TEST(MujocoModel, IsReadAsTheSameRobot) {
  const Character robot = Read(robots::SampleMjcf(true), "sample.xml");
  const std::string text = FormatMujocoModel(Rest(robot).motion());
  EXPECT_THAT(text, testing::HasSubstr("friction=\"0.6 0.005 0.0001\""));
  const Character again = Read(text, "mujoco_model.xml");
  ASSERT_EQ(again.bodies.size(), robot.bodies.size());
  EXPECT_NEAR(again.height, robot.height, 1e-9);
  for (const character::Body& body : robot.bodies) {
    const character::Body& other = again.bodies[static_cast<size_t>(again.FindBody(body.name))];
    EXPECT_NEAR(body.mass, other.mass, 1e-12);
    EXPECT_LT((body.rest_position - other.rest_position).norm(), 1e-9) << body.name;
    EXPECT_LT((body.InertiaTensor() - other.InertiaTensor()).norm(), 1e-9) << body.name;
    ASSERT_EQ(body.shapes.size(), other.shapes.size());
  }
  for (const character::Joint& joint : robot.joints) {
    const character::Joint& other = again.joints[static_cast<size_t>(again.FindJoint(joint.name))];
    EXPECT_LT((joint.direction() - other.direction()).norm(), 1e-9) << joint.name;
    EXPECT_LT((joint.anchor - other.anchor).norm(), 1e-9) << joint.name;
    EXPECT_EQ(joint.armature, other.armature);
    EXPECT_NEAR(joint.kp, other.kp, 1e-9);
    EXPECT_NEAR(joint.kd, other.kd, 1e-9);
    EXPECT_NEAR(joint.effort.maxCoeff(), other.effort.maxCoeff(), 1e-9);
  }
}

TEST(MujocoModel, HasTheFirstStateAsAKey) {
  const Character robot = Read(robots::SampleUrdf(), "sample.urdf");
  const std::string text = FormatMujocoModel(Rest(robot).motion());
  // The frame of the root link is 1 cm behind and 2 cm above the center of the pelvis; z of ours is x of the file.
  const size_t at = text.find("qpos=\"");
  ASSERT_NE(at, std::string::npos);
  const Vec3 frame = Vec3(0.3, 1.4, 0.2) + AxisRotation(1, 0.5) * Vec3(0, 0.02, -0.01);
  std::istringstream numbers(text.substr(at + 6));
  Vec3 position;
  double w = 0;
  numbers >> position[0] >> position[1] >> position[2] >> w;
  EXPECT_LT((position - Vec3(frame.z(), frame.x(), frame.y())).norm(), 1e-3);  // it fell for a step
  EXPECT_NEAR(w, std::cos(0.25), 1e-3);
}

}  // namespace
}  // namespace retrace::exports
