/// Events and cycles of forces whose course is known.
#include "retrace/metrics/gait_cycles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace retrace::metrics {
namespace {

constexpr double kInstant = 0.01;
constexpr double kWalkerMass = 100;

/// Trapezes of one body weight: the foot is on from `begin + k` to `begin + k + 0.6`, with slopes of 0.1 s.
double Trapeze(double time, double begin) {
  const double phase = time - begin - std::floor(time - begin);
  const double ramp = std::min({phase, 0.6 - phase, 0.1}) / 0.1;
  return time < begin ? 0 : std::max(0.0, ramp) * kWalkerMass * kStandardGravity;
}

FootForces ForcesOfAWalk(double duration) {
  const auto n = static_cast<Eigen::Index>(std::lround(duration / kInstant)) + 1;
  FootForces forces{VectorSeries::Zero(n, 3), VectorSeries::Zero(n, 3), VectorSeries::Zero(n, 3)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const double time = static_cast<double>(i) * kInstant;
    forces.left(i, 1) = Trapeze(time, 0.25);
    forces.right(i, 1) = Trapeze(time, 0.75);
  }
  forces.total = forces.left + forces.right;
  return forces;
}

TEST(GaitCycles, EventsAreWhereTheForcePassesItsThreshold) {
  const std::vector<StancePhase> stances = FindStances(ForcesOfAWalk(3), kWalkerMass, kInstant);
  ASSERT_EQ(stances.size(), 6u);  // three of the left foot, three of the right one, the last of which goes on
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_TRUE(stances[k].left);
    EXPECT_FALSE(stances[3 + k].left);
    ASSERT_TRUE(stances[k].strike && stances[k].off && stances[3 + k].strike);
    // A slope of 0.1 s per body weight passes 5 % after 5 ms.
    EXPECT_NEAR(*stances[k].strike, 0.255 + static_cast<double>(k), 1e-9);
    EXPECT_NEAR(*stances[k].off, 0.845 + static_cast<double>(k), 1e-9);
    EXPECT_NEAR(*stances[3 + k].strike, 0.755 + static_cast<double>(k), 1e-9);
  }
  EXPECT_FALSE(stances[5].off);
}

TEST(GaitCycles, ShortGapsAndTouchesDoNotCount) {
  FootForces forces = ForcesOfAWalk(2);
  for (const Eigen::Index i : {50, 51, 52}) forces.left(i, 1) = 0;  // 30 ms in the middle of a stance
  for (const Eigen::Index i : {10, 11, 12}) forces.left(i, 1) = kWalkerMass * kStandardGravity;
  const std::vector<StancePhase> stances = FindStances(forces, kWalkerMass, kInstant);
  ASSERT_EQ(stances.size(), 4u);
  EXPECT_NEAR(*stances[0].strike, 0.255, 1e-9);
  EXPECT_NEAR(*stances[0].off, 0.845, 1e-9);
}

TEST(GaitCycles, StridesAreFromStrikeToStrikeOfOneFoot) {
  const std::vector<StancePhase> stances = FindStances(ForcesOfAWalk(3), kWalkerMass, kInstant);
  const std::vector<GaitCycle> strides = StridesOf(stances);
  ASSERT_EQ(strides.size(), 4u);
  for (const GaitCycle& stride : strides) {
    EXPECT_NEAR(stride.end - stride.start, 1, 1e-9);
    EXPECT_NEAR(stride.off - stride.start, 0.59, 1e-9);
  }
  EXPECT_EQ(WholeStancesOf(stances).size(), 5u);
  EXPECT_TRUE(StridesOf(FindStances(ForcesOfAWalk(0.9), kWalkerMass, kInstant)).empty());
}

TEST(GaitCycles, CurvesHaveTheMeanAndTheDeviationOfTheirCycles) {
  constexpr Eigen::Index kCount = 301;
  Eigen::VectorXd values(kCount);
  for (Eigen::Index i = 0; i < kCount; ++i) values[i] = static_cast<double>(i) * kInstant;  // the time itself
  const std::vector<GaitCycle> cycles = {{true, 0, 0.5, 1}, {true, 1, 1.5, 2}, {true, 2, 2.5, 3}};
  const CycleCurve curve = CurveOver("time", "s", values, kInstant, cycles);
  ASSERT_EQ(curve.cycles, 3);
  for (const Eigen::Index k : {0, 37, 100}) {
    EXPECT_NEAR(curve.mean[k], 1 + 0.01 * static_cast<double>(k), 1e-8);
    EXPECT_NEAR(curve.deviation[k], 1, 1e-8);
  }
  // What was not measured throughout a cycle does not count.
  values[150] = std::nan("");
  EXPECT_EQ(CurveOver("time", "s", values, kInstant, cycles).cycles, 2);
  EXPECT_EQ(CurveOver("time", "s", values, kInstant, {}).cycles, 0);
}

}  // namespace
}  // namespace retrace::metrics
