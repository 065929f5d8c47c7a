/// Curves over gait cycles, and which joints they are of.
#include "retrace/results/cycle_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace retrace::results {
namespace {

character::Character Load(const std::string& name) {
  return character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/" + name + ".json");
}

TEST(CycleTable, LegLoadsAreThoseOfTheJointsOfTheSide) {
  const std::vector<CycleSource> right = LegLoads(Load("human"), false);
  ASSERT_EQ(right.size(), 7u);
  EXPECT_EQ(right[1].quantity, "hip_abduction_moment");
  EXPECT_EQ(right[1].column, "right_hip_z");
  EXPECT_EQ(right[1].sign, -1) << "to the right is outward";
  EXPECT_EQ(right[2].column, "right_knee_x");
  EXPECT_EQ(right[6].unit, "W/kg");
  EXPECT_EQ(LegLoads(Load("human"), true)[1].sign, 1);
  EXPECT_TRUE(LegLoads(Load("quadruped"), true).empty());
}

TEST(CycleTable, CurvesAreMeansPerKilogramOfTheChannelsThatThereAre) {
  Channels channels{{"a", "b"}, Eigen::MatrixXd::Zero(201, 2)};
  channels.values.col(1).setLinSpaced(0, 20);
  const std::vector<metrics::GaitCycle> cycles = {{true, 0, 0.5, 1}, {true, 1, 1.5, 2}};
  std::vector<metrics::CycleCurve> curves;
  AddCurves(channels, {{"power", "W/kg", "b", -1}, {"other", "W/kg", "c", 1}}, 2, 0.01, cycles, curves);
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].cycles, 2);
  EXPECT_NEAR(curves[0].mean[0], -2.5, 1e-6);  // 0 and 10, per 2 kg
  EXPECT_NEAR(curves[0].mean[50], -5, 1e-6);
  CycleCurves both;
  both.left.curves = curves;
  EXPECT_THAT(FormatCycleCurves(both), testing::StartsWith("percent,left_power_mean,left_power_sd\n0,-2.5,"));
}

}  // namespace
}  // namespace retrace::results
