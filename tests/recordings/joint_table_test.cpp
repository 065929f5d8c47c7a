/// Tables of joint angles: what is read of them, and what is refused.
#include "retrace/recordings/joint_table.h"

#include <gtest/gtest.h>

#include "recordings/npz_writer.h"
#include "retrace/io/error.h"

namespace retrace::recordings {
namespace {

std::string Refusal(const std::string& text, size_t joints) {
  try {
    ParseJointTable(text, "motion.csv", joints);
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(JointTable, WithoutAHeaderIsRootAndJointsInTheirOrder) {
  const JointTable table =
      ParseJointTable("1,2,3,0,0,0.6,0.8,0.1,0.2\n1,2,3.5,0,0,0.6,0.8,0.3,-0.2\n", "motion.csv", 2);
  EXPECT_TRUE(table.joints.empty());
  ASSERT_EQ(table.root_positions.size(), 2u);
  EXPECT_EQ(table.root_positions[1], Vec3(1, 2, 3.5));
  EXPECT_NEAR(table.root_orientations[0].z(), 0.6, 1e-12);
  EXPECT_NEAR(table.root_orientations[0].w(), 0.8, 1e-12);
  EXPECT_EQ(table.angles(1, 0), 0.3);
  EXPECT_EQ(table.angles(1, 1), -0.2);
  EXPECT_FALSE(table.frame_time_known);
  EXPECT_NEAR(table.frame_time, 1.0 / 30, 1e-12);
}

TEST(JointTable, WithAHeaderIsReadByName) {
  const JointTable table = ParseJointTable(
      "time,knee_joint,root_x,root_y,root_z,root_qw,root_qx,root_qy,root_qz,hip_joint\n"
      "0,0.5,1,2,3,1,0,0,0,0.25\r\n0.02,0.6,1,2,3,1,0,0,0,0.35\n",
      "motion.csv", 12);
  EXPECT_EQ(table.joints, (std::vector<std::string>{"knee_joint", "hip_joint"}));
  EXPECT_EQ(table.angles(1, 0), 0.6);
  EXPECT_EQ(table.angles(0, 1), 0.25);
  EXPECT_TRUE(table.frame_time_known);
  EXPECT_NEAR(table.frame_time, 0.02, 1e-12);
  EXPECT_EQ(table.root_orientations[0].w(), 1);
}

/// A quaternion of the other order puts the robot on its head.
TEST(JointTable, TakesTheQuaternionWithWhichTheRobotStands) {
  const JointTable table = ParseJointTable("0,0,1,0.99,0.01,0.1,0.0995,0.1\n", "motion.csv", 1);
  EXPECT_GT(table.root_orientations[0].w(), 0.9);
  ASSERT_EQ(table.notes.size(), 2u);
  EXPECT_EQ(table.notes[0],
            "the quaternion of the root is read as w, x, y, z, because the robot stands with it in the first frame");
}

TEST(JointTable, OfAnArchiveIsReadByTheNamesOfArrays) {
  NpzWriter qpos;
  qpos.Add("qpos", "<f8", {2, 16}, {1, 2, 3, 0.8, 0, 0, 0.6, 0.1, 0.2, 9, 9, 9, 1, 0, 0, 0,  //
                                    1, 2, 3, 0.8, 0, 0, 0.6, 0.3, 0.4, 9, 9, 9, 1, 0, 0, 0});
  qpos.Add("fps", "<f8", {}, {50});
  const JointTable table = ParseJointTable(qpos.Bytes(), "motion.npz", 2);
  EXPECT_TRUE(HoldsJointAngles(qpos.Bytes(), "motion.npz"));
  EXPECT_EQ(table.root_positions[0], Vec3(1, 2, 3));
  EXPECT_NEAR(table.root_orientations[0].z(), 0.6, 1e-12);
  EXPECT_EQ(table.angles(1, 1), 0.4);
  EXPECT_NEAR(table.frame_time, 0.02, 1e-12);
  EXPECT_EQ(table.notes.front(), "positions of 1 objects are left out");

  NpzWriter parts;
  parts.Add("root_pos", "<f4", {1, 3}, {1, 2, 3});
  parts.Add("root_rot", "<f4", {1, 4}, {0, 0, 0, 1});
  parts.Add("dof_pos", "<f4", {1, 2}, {0.5, 0.25});
  const JointTable other = ParseJointTable(parts.Bytes(), "motion.npz", 2);
  EXPECT_EQ(other.root_orientations[0].w(), 1);
  EXPECT_EQ(other.angles(0, 1), 0.25);

  NpzWriter person;
  person.Add("poses", "<f8", {1, 66}, std::vector<double>(66, 0));
  EXPECT_FALSE(HoldsJointAngles(person.Bytes(), "motion.npz"));
}

TEST(JointTable, IsRefusedWithLineAndColumn) {
  EXPECT_EQ(Refusal("1,2,3,0,0,0,1,0.1\n", 2),
            "motion.csv:1:1: found 8 numbers in a line without a header, expected 9: position and quaternion of the "
            "root, and 2 joints of the robot");
  EXPECT_EQ(Refusal("1,2,3,0,0,0,1,0.1\n1,2,3,0,0,0,1,nan\n", 1),
            "motion.csv:2:15: found \"nan\", expected a number from -10000 to 10000");
  EXPECT_EQ(Refusal("1,2,3,0,0,0,1,0.1\n1,2,3\n", 1),
            "motion.csv:2:1: found 3 columns, expected 8 as in the first line");
  EXPECT_EQ(Refusal("1,2,3,0,0,0,2,0.1\n", 1),
            "motion.csv: frame 0: found a quaternion of length 2.000, expected one of length 1");
  EXPECT_EQ(Refusal("root_x,root_y,knee\n1,2,3\n", 1),
            "motion.csv:1:1: found no column root_z, expected position and quaternion of the root");
  EXPECT_EQ(Refusal("", 1), "motion.csv: found no frames, expected a line of numbers per frame");
}

}  // namespace
}  // namespace retrace::recordings
