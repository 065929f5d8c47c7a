/// Tables of forces with their bands.
#include "retrace/results/force_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "results/sample_motion.h"
#include "retrace/results/tables.h"

namespace retrace::results {
namespace {

TEST(ForceTables, ABandHoldsAllControlsAndEndsWithThem) {
  BandedChannels bands;
  const double none = std::nan("");
  bands.controls.push_back({{"a", "b"}, Eigen::MatrixXd(3, 2)});
  bands.controls.push_back({{"a", "b"}, Eigen::MatrixXd(2, 2)});
  bands.controls[0].values << 1, 10, 2, none, 3, 30;
  bands.controls[1].values << -1, none, 4, none;
  Channels measured{{"a", "b"}, Eigen::MatrixXd(2, 2)};
  measured.values << 7, 8, none, 9;
  EXPECT_EQ(FormatBands(bands, 0.5, 0, &measured),
            "time,a,a_min,a_max,a_measured,b,b_min,b_max,b_measured\n"
            "0,1,-1,1,7,10,10,10,8\n"
            "0.5,2,2,4,,,,,9\n"
            "1,3,3,3,,30,30,30,\n");
  bands.motion = 1;
  EXPECT_EQ(FormatBands(bands, 0.5, 20),
            "time,a_20Hz,a_20Hz_min,a_20Hz_max,b_20Hz,b_20Hz_min,b_20Hz_max\n"
            "0,-1,-1,1,,10,10\n"
            "0.5,4,2,4,,,\n");
}

TEST(ForceTables, GroundForcesAreThoseOfThePlates) {
  const character::Character character = SmallCharacter();
  metrics::GroundForces ground;
  ground.plates = {{1, {1}}, {0, {0}}};
  const metrics::AppliedForce pressed{Vec3(1, 20, 3), Vec3(0.1, 0, 0.3), Vec3(0, 5, 0)};
  ground.forces = {{{}, pressed}, {{}, {Vec3(1, 1, 1), Vec3(1, 0, 1), Vec3::Zero()}}};
  ground.num_states = 2;
  const Channels channels = GroundForceChannels(character, ground, 0.01, 0);
  EXPECT_THAT(
      channels.names,
      testing::ElementsAre("total_force_x", "total_force_y", "total_force_z", "left_arm_force_x", "left_arm_force_y",
                           "left_arm_force_z", "left_arm_center_x", "left_arm_center_y", "left_arm_center_z",
                           "left_arm_free_moment", "trunk_force_x", "trunk_force_y", "trunk_force_z", "trunk_center_x",
                           "trunk_center_y", "trunk_center_z", "trunk_free_moment"));
  const auto row = channels.values.row(1);
  const double expected[] = {2, 21, 4, 1, 20, 3, 0.1, 0, 0.3, 5, 1, 1, 1, 1, 0, 1, 0};
  for (Eigen::Index c = 0; c < 17; ++c) EXPECT_EQ(row[c], expected[c]) << channels.names[static_cast<size_t>(c)];
  EXPECT_EQ(channels.values(0, 1), 0);
  EXPECT_TRUE(std::isnan(channels.values(0, 6))) << "nothing presses";
}

TEST(ForceTables, ASmoothCenterOfPressureIsThatOfTheSmoothForces) {
  const character::Character character = SmallCharacter();  // 5 kg
  metrics::GroundForces ground;
  ground.plates = {{1, {1}}};
  ground.num_states = 200;
  // Steady in the first half, at two positions by turns; nothing presses in the second half.
  for (int i = 0; i < 200; ++i) {
    metrics::AppliedForce applied;
    if (i < 100) applied = {Vec3(0, 30, 0), Vec3(i % 2, 0, 0.5), Vec3(0, 2, 0)};
    if (ground.forces.empty()) ground.forces.emplace_back();
    ground.forces[0].push_back(applied);
  }
  const Channels channels = GroundForceChannels(character, ground, 1.0 / 240, 20);
  EXPECT_NEAR(channels.values(50, 1), 30, 1e-3);
  EXPECT_NEAR(channels.values(50, 6), 0.5, 1e-3);
  EXPECT_NEAR(channels.values(50, 8), 0.5, 1e-3);
  EXPECT_NEAR(channels.values(50, 9), 2, 1e-3);
  EXPECT_TRUE(std::isnan(channels.values(150, 6)));
}

TEST(ForceTables, PowerIsTorqueTimesRate) {
  const character::Character character = SmallCharacter();
  control::Trajectory trajectory;
  trajectory.time_step = 0.01;
  trajectory.states.resize(2, character::State(3));
  trajectory.states[0][1].angular_velocity = Vec3(2, 0, 0);
  trajectory.states[1][1].angular_velocity = Vec3(4, 7, 0);
  trajectory.states[1][0].angular_velocity = Vec3(-2, 0, 0);
  trajectory.torques = {{Vec3(10, 0, 0), Vec3(1, 2, 3)}};
  const Channels channels = JointLoadChannels(character, trajectory);
  EXPECT_THAT(channels.names, testing::ElementsAre("left_shoulder_x", "neck_x", "neck_y", "neck_z",
                                                   "left_shoulder_power", "neck_power"));
  const double expected[] = {10, 1, 2, 3, 10 * (2 + 6) / 2.0, 1 * (0 + 2) / 2.0};
  for (Eigen::Index c = 0; c < 6; ++c) EXPECT_NEAR(channels.values(1, c), expected[c], 1e-12);
  EXPECT_TRUE((channels.values.row(0).array() == 0).all());
}

TEST(ForceTables, AComparisonIsALongTable) {
  metrics::ForceComparison comparison;
  comparison.rows = {{"run", 0, "total", metrics::ForceComponent::kVertical, {1, 2, 0.5, -4, 5}},
                     {"body_weight", 20, "total", metrics::ForceComponent::kForeAft, {1, 2, std::nan(""), 4, 5}}};
  EXPECT_EQ(FormatForceComparison(comparison),
            "source,low_pass,part,component,rmse_percent,rrmse_percent,r,peak_percent,impulse_percent\n"
            "run,raw,total,vertical,1,2,0.5,-4,5\n"
            "body_weight,20Hz,total,fore_aft,1,2,,4,5\n");
}

}  // namespace
}  // namespace retrace::results
