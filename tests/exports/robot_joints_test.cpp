/// The table of a robot's joints: what it says of a simulation, and that it is read as the same motion.
#include "retrace/exports/robot_joints.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/character/skeleton.h"
#include "retrace/control/control.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/joint_table.h"
#include "retrace/robots/joint_motion.h"

namespace retrace::exports {
namespace {

/// A robot with hinges alone, whose root frame is not at the center of its root.
character::Character Robot() {
  const std::string text = R"({"format": "retrace-character", "version": 1, "name": "robot", "height": 1,
    "root_frame": {"position": [0.1, 0.9, -0.2]},
    "bodies": [{"name": "trunk", "mass": 5, "inertia": [0.1, 0.1, 0.1], "position": [0, 1, 0], "shapes": [{"box": [0.2, 0.4, 0.2]}]},
               {"name": "arm", "part": "hand", "mass": 1, "inertia": [0.01, 0.01, 0.01], "position": [0.3, 1, 0],
                "shapes": [{"box": [0.3, 0.1, 0.1]}]}],
    "joints": [{"name": "shoulder", "parent": "trunk", "child": "arm", "type": "hinge", "axis": [0, 0.6, 0.8],
                "anchor": [0.15, 1, 0], "kp": 40, "kd": 4, "strength_scale": 1, "window": 0}],
    "end_effectors": ["arm"], "no_self_collision": [], "contact_presets": {"none": {}}})";
  return character::ParseCharacter(io::ParseJson(text, "robot.json"), "robot.json");
}

TEST(JointMotion, IsReadAsTheSameMotion) {
  const character::Character robot = Robot();
  control::OpenLoopControl control;
  control::Fragment fragment;
  fragment.num_steps = 20;
  fragment.targets = {{FromRotationVector(0.5 * robot.joints[0].direction())}};
  control.fragments = {fragment};
  control.world.time_step = 0.005;
  character::Pose pose;
  pose.root_position = Vec3(0.3, 1.4, 0.2);
  pose.root_orientation = FromRotationVector(Vec3(0.2, 0.7, -0.3));
  pose.joint_rotations = {Quat::Identity()};
  character::ForwardKinematics(robot, pose, control.start);
  const control::Trajectory trajectory = control::Replay(robot, control);
  const std::string table = FormatJointMotion({robot, control, trajectory, "motion"}, 100);
  EXPECT_EQ(table.substr(0, table.find('\n')),
            "time,root_x,root_y,root_z,root_qx,root_qy,root_qz,root_qw,root_vx,root_vy,root_vz,root_wx,root_wy,root_wz,"
            "shoulder,shoulder_velocity,shoulder_target,shoulder_kp,shoulder_kd,shoulder_feedforward,shoulder_torque,"
            "contact_arm");
  const recordings::JointTable read = recordings::ParseJointTable(table, "motion.csv", 1);
  EXPECT_EQ(read.joints, std::vector<std::string>{"shoulder"});
  EXPECT_NEAR(read.frame_time, 0.01, 1e-12);
  const motion::Clip clip = robots::ClipOfJoints(read, robot, "motion.csv");
  const std::vector<character::Pose> poses = character::PosesOf(robot, clip, "motion.csv");
  ASSERT_EQ(poses.size(), 11u);
  for (size_t f = 0; f < poses.size(); ++f) {
    character::State state;
    character::ForwardKinematics(robot, poses[f], state);
    for (size_t b = 0; b < state.size(); ++b) {
      EXPECT_LT((state[b].position - trajectory.states[2 * f][b].position).norm(), 1e-3);
      EXPECT_LT(AngleBetween(state[b].orientation, trajectory.states[2 * f][b].orientation), 1e-3);
    }
  }
  EXPECT_GT(read.angles(10, 0), 0.05) << "the servo turns the arm towards its target";
}

}  // namespace
}  // namespace retrace::exports
