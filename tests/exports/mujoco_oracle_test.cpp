/// The exported model in MuJoCo: a fall in the air, with servos, is the same there.
#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <memory>

#include "exports/simulated_motion.h"
#include "retrace/exports/mujoco_model.h"
#include "retrace/io/file.h"
#include "retrace/robots/joint_motion.h"
#include "retrace/robots/read_robot.h"
#include "retrace/robots/robot_character.h"
#include "robots/sample_robot.h"
#include "sample_folder.h"

namespace retrace::exports {
namespace {

TEST(MujocoModel, FallsAsTheSimulationDoes) {
  Simulation fall{
      robots::MakeRobotCharacter(robots::ReadRobot(robots::SampleMjcf(true), "sample.xml"), "sample.xml").character,
      {},
      {}};
  const character::Character& robot = fall.character;
  fall.control.world.time_step = 0.0005;
  character::Pose pose;
  pose.root_position = Vec3(0.3, 3, 0.2);
  pose.root_orientation = FromRotationVector(Vec3(0.2, 0.7, -0.3));
  pose.joint_rotations.assign(robot.joints.size(), Quat::Identity());
  character::ForwardKinematics(robot, pose, fall.control.start);
  std::vector<Quat> targets;
  for (const character::Joint& joint : robot.joints) targets.push_back(FromRotationVector(0.4 * joint.direction()));
  fall.control.fragments = {{0, 400, {targets}}};
  fall.trajectory = control::Replay(robot, fall.control);

  SampleFolder folder;
  const std::string file = (folder / "model.xml").string();
  io::WriteFile(file, FormatMujocoModel(fall.motion()));
  char error[1000] = "";
  const std::unique_ptr<mjModel, decltype(&mj_deleteModel)> model(
      mj_loadXML(file.c_str(), nullptr, error, sizeof error), &mj_deleteModel);
  ASSERT_NE(model, nullptr) << error;
  const std::unique_ptr<mjData, decltype(&mj_deleteData)> data(mj_makeData(model.get()), &mj_deleteData);
  mj_resetDataKeyframe(model.get(), data.get(), 0);
  ASSERT_EQ(static_cast<size_t>(model->nu), robot.joints.size());
  for (int a = 0; a < model->nu; ++a) data->ctrl[a] = 0.4;
  while (data->time < 0.2 - 1e-9) mj_step(model.get(), data.get());

  const character::State& end = fall.trajectory.states.back();
  double moved = 0;
  for (int a = 0; a < model->nu; ++a) {
    const int theirs = model->actuator_trnid[2 * a];
    const character::Joint& joint =
        robot.joints[static_cast<size_t>(robot.FindJoint(mj_id2name(model.get(), mjOBJ_JOINT, theirs)))];
    const double angle = joint.Along(RotationVector(character::JointRotation(joint, end)));
    EXPECT_NEAR(data->qpos[model->jnt_qposadr[theirs]], angle, 0.01) << joint.name;
    moved = std::max(moved, std::abs(angle));
  }
  EXPECT_GT(moved, 0.2);
  const robots::RootFrame frame = robots::RootFrameOf(robot);
  const auto r = static_cast<size_t>(robot.root);
  const Vec3 root = robots::ToFileAxes(
      Vec3(end[r].position + end[r].orientation * Vec3(frame.position - robot.bodies[r].rest_position)));
  EXPECT_LT((Vec3(data->qpos[0], data->qpos[1], data->qpos[2]) - root).norm(), 2e-3);
}

}  // namespace
}  // namespace retrace::exports
