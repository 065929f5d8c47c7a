/// Frames at a rate, and the text formats that hold them: CSV, BVH, TRC.
#include "retrace/exports/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "exports/simulated_motion.h"
#include "results/sample_motion.h"
#include "retrace/character/skeleton.h"
#include "retrace/exports/bvh.h"
#include "retrace/exports/trc.h"
#include "retrace/io/number.h"
#include "retrace/recordings/bvh.h"
#include "retrace/results/tables.h"

namespace retrace::exports {
namespace {

TEST(ExportedMotion, FramesOnStepsAreTheStatesToTheBit) {
  const Simulation drop = Drop("human", 48);
  const auto frames = FramesAt(drop.trajectory, 60);
  ASSERT_EQ(frames.size(), 13u);
  for (size_t k = 0; k < frames.size(); ++k) {
    EXPECT_EQ(control::Fingerprint(frames[k]), control::Fingerprint(drop.trajectory.states[4 * k]));
    EXPECT_EQ(StepOfFrame(drop.trajectory, 60, static_cast<int>(k)), static_cast<int>(4 * k) - 1);
  }
}

TEST(ExportedMotion, FramesBetweenStepsLieBetween) {
  const character::Character character = results::SmallCharacter();
  const control::Trajectory trajectory = results::Glide(character, 10, Vec3(0, 0, 2));  // 1/100 s
  const auto frames = FramesAt(trajectory, 80);                                         // one step and a quarter each
  ASSERT_EQ(frames.size(), 9u);
  EXPECT_NEAR(frames[1][0].position.z(), 2.0 / 80, 1e-12);
  EXPECT_EQ(StepOfFrame(trajectory, 80, 1), 1) << "the step that goes on at the frame's time";
  const double angle = RotationVector(character::JointRotation(character.joints[0], frames[1])).x();
  EXPECT_GT(angle, 0.5 * std::sin(0.1));
  EXPECT_LT(angle, 0.5 * std::sin(0.2));
}

TEST(ExportedMotion, HasEveryFrameUpToItsEnd) {
  const character::Character character = results::SmallCharacter();
  rc::check([&] {
    const int steps = *rc::gen::inRange(0, 40);
    const double rate = *rc::gen::inRange(1, 3000) / 10.0;
    const control::Trajectory trajectory = results::Glide(character, steps, Vec3(1, 0, 0));
    const auto frames = FramesAt(trajectory, rate);
    RC_ASSERT(static_cast<int>(frames.size()) == NumFrames(steps * 0.01, rate));
    for (size_t k = 0; k < frames.size(); ++k) {
      const double time = static_cast<double>(k) / rate;
      RC_ASSERT(time <= steps * 0.01 + 1e-6);
      RC_ASSERT(std::abs(frames[k][0].position.x() - time) < 1e-7);
    }
    RC_ASSERT(static_cast<double>(frames.size()) / rate > steps * 0.01 - 1e-6);
  });
}

TEST(ExportBvh, ReadsBackToTheSimulatedPoses) {
  const Simulation drop = Drop("quadruped", 24);
  const motion::Clip clip = motion::ParseBvh(FormatMotionBvh(drop.character, drop.trajectory), "drop.bvh");
  ASSERT_EQ(clip.frames.size(), 13u);
  EXPECT_DOUBLE_EQ(clip.frame_time, 1.0 / 120);
  const auto poses = character::PosesOf(drop.character, clip, "drop.bvh");
  for (size_t k = 0; k < poses.size(); ++k) {
    character::Pose pose;
    character::PoseOf(drop.character, drop.trajectory.states[2 * k], pose);
    EXPECT_LT((poses[k].root_position - pose.root_position).norm(), 1e-12);
    for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
      EXPECT_LT(AngleBetween(poses[k].joint_rotations[j], pose.joint_rotations[j]), 1e-7);
    }
  }
}

TEST(ExportBvh, OfAMotionWithoutAStepIsOneFrame) {
  const character::Character character = results::SmallCharacter();
  const motion::Clip clip =
      motion::ParseBvh(FormatMotionBvh(character, results::Glide(character, 0, Vec3::Zero()), 30), "still.bvh");
  EXPECT_EQ(clip.frames.size(), 1u);
}

TEST(ExportCsv, BodiesAreWhereTheyWere) {
  const Simulation drop = Drop("asimo", 24, FullWorld());
  const results::Table table = results::ParseTable(FormatBodiesTable(drop.motion(), 120), "bodies.csv");
  const auto& names = table.Text("body");
  const size_t own = drop.character.bodies.size();
  const size_t per_frame = own + 3;  // the swing, the crate and the ball; what is fixed has no rows
  ASSERT_EQ(names.size(), 13 * per_frame);
  const auto time = table.Numbers("time"), x = table.Numbers("x"), y = table.Numbers("y"), z = table.Numbers("z");
  const auto qw = table.Numbers("qw"), qx = table.Numbers("qx"), qy = table.Numbers("qy"), qz = table.Numbers("qz");
  for (size_t k = 0; k < 13; ++k) {
    const character::State& state = drop.trajectory.states[2 * k];
    for (size_t i = 0; i < per_frame; ++i) {
      const size_t row = k * per_frame + i;
      EXPECT_DOUBLE_EQ(time[row], static_cast<double>(k) / 120);
      const Vec3 place(x[row], y[row], z[row]);
      if (i == own) {
        EXPECT_EQ(names[row], "swing");
        EXPECT_EQ(place, BoxPositions(drop.control.world.environment, time[row])[1]);
        EXPECT_EQ(table.Text("vx")[row], "");
        continue;
      }
      const size_t b = i < own ? i : i - 1;
      EXPECT_EQ(names[row], i < own ? drop.character.bodies[i].name : i == own + 1 ? "crate" : "ball");
      EXPECT_EQ(place, state[b].position);
      EXPECT_EQ(Quat(qw[row], qx[row], qy[row], qz[row]).coeffs(), state[b].orientation.coeffs());
      EXPECT_EQ(table.Text("wz")[row], io::Number(state[b].angular_velocity.z()));
    }
  }
}

TEST(ExportCsv, JointsHoldBodiesTogether) {
  const Simulation drop = Drop("human", 24);
  const results::Table table = results::ParseTable(FormatJointsTable(drop.motion(), 240), "joints.csv");
  const size_t joints = drop.character.joints.size();
  ASSERT_EQ(table.Text("joint").size(), 25 * joints);
  const auto x = table.Numbers("x"), rotation = table.Numbers("rotation_x"), torque = table.Numbers("torque_z");
  const auto gap = table.Numbers("gap");
  for (size_t k = 0; k < 25; ++k) {
    for (size_t j = 0; j < joints; ++j) {
      const size_t row = k * joints + j;
      const character::Joint& joint = drop.character.joints[j];
      const character::State& state = drop.trajectory.states[k];
      EXPECT_EQ(table.Text("joint")[row], joint.name);
      EXPECT_EQ(table.Text("child")[row], drop.character.bodies[static_cast<size_t>(joint.child)].name);
      EXPECT_EQ(x[row], character::JointPosition(drop.character, joint, state).x());
      EXPECT_EQ(rotation[row], RotationVector(character::JointRotation(joint, state)).x());
      EXPECT_EQ(torque[row], k == 0 ? 0 : drop.trajectory.torques[k - 1][j].z());
      EXPECT_LT(gap[row], 1e-3);
    }
  }
}

std::vector<std::vector<std::string>> Cells(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  for (const char c : text) {
    if (c == '\n') {
      rows.emplace_back(1);
    } else if (c == '\t') {
      rows.back().emplace_back();
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();  // after the last line end
  return rows;
}

TEST(ExportTrc, HeadersAndMarkersAreAsItsReadersExpect) {
  const Simulation drop = Drop("quadruped", 24);
  const auto rows = Cells(FormatTrc(drop.motion(), 120));
  const size_t markers = 1 + drop.character.joints.size() + 5;  // tips: head and four feet
  ASSERT_EQ(rows.size(), 6u + 13u);
  EXPECT_EQ(rows[0][0], "PathFileType");
  EXPECT_EQ(rows[0][1], "4");
  EXPECT_EQ(rows[0][2], "(X/Y/Z)");
  EXPECT_THAT(rows[1], testing::ElementsAre("DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units",
                                            "OrigDataRate", "OrigDataStartFrame", "OrigNumFrames"));
  EXPECT_THAT(rows[2], testing::ElementsAre("120", "120", "13", std::to_string(markers), "mm", "120", "1", "13"));
  EXPECT_EQ(rows[3][0], "Frame#");
  EXPECT_EQ(rows[3][1], "Time");
  EXPECT_EQ(rows[4][2], "X1");
  EXPECT_EQ(rows[4].back(), "Z" + std::to_string(markers));
  EXPECT_EQ(rows[5], std::vector<std::string>{""});
  for (size_t k = 0; k < 13; ++k) {
    const auto& row = rows[6 + k];
    ASSERT_EQ(row.size(), 2 + 3 * markers) << "no cell too many: OpenSim counts them";
    EXPECT_EQ(row[0], std::to_string(k + 1));
    const character::State& state = drop.trajectory.states[2 * k];
    for (size_t m = 0; m < markers; ++m) {
      const auto number = [&](size_t axis) { return std::stod(row[2 + 3 * m + axis]); };
      const Vec3 place = 0.001 * Vec3(-number(2), number(1), number(0));  // back from x forward, z right
      const std::string& name = rows[3][2 + 3 * m];
      if (m == 0) {
        EXPECT_LT((place - state[static_cast<size_t>(drop.character.root)].position).norm(), 2e-9);
      } else if (m <= drop.character.joints.size()) {
        const character::Joint& joint = drop.character.joints[m - 1];
        EXPECT_EQ(name, joint.name);
        EXPECT_LT((place - character::JointPosition(drop.character, joint, state)).norm(), 2e-9);
      } else {
        const int body = drop.character.FindBody(name.substr(0, name.size() - 4));
        ASSERT_GE(body, 0) << name;
        const character::BodyState& at = state[static_cast<size_t>(body)];
        const double reach = drop.character.bodies[static_cast<size_t>(body)].shapes[0].BoundingRadius();
        EXPECT_LT((place - at.position).norm(), 2 * reach) << name;
      }
    }
  }
}

TEST(ExportTrc, TipsAreThoseOfTheBvhFile) {
  const Simulation drop = Drop("human", 12);
  const auto rows = Cells(FormatTrc(drop.motion(), 120));
  const motion::Clip clip = motion::ParseBvh(FormatMotionBvh(drop.character, drop.trajectory), "drop.bvh");
  int tips = 0;
  for (size_t m = 0; 2 + 3 * m < rows[3].size(); ++m) {
    const auto& joints = clip.skeleton.joints;
    for (size_t j = 0; j < joints.size(); ++j) {
      if (joints[j].name != rows[3][2 + 3 * m] || !joints[j].end_site) continue;
      ++tips;
      motion::GlobalPose pose;
      motion::ForwardKinematics(clip.skeleton, clip.frames.back(), pose);
      const auto number = [&](size_t axis) { return 0.001 * std::stod(rows.back()[2 + 3 * m + axis]); };
      EXPECT_LT((pose.positions[j] - Vec3(-number(2), number(1), number(0))).norm(), 1e-3) << rows[3][2 + 3 * m];
    }
  }
  EXPECT_EQ(tips, 5);
}

}  // namespace
}  // namespace retrace::exports
