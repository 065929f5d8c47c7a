/// Knees of legs whose feet are put down.
#include "motion_editing/leg_reach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace retrace::task {
namespace {

constexpr double kFrame = 1.0 / 120, kThigh = 0.42, kShin = 0.4;

double ReachAt(double bend) {
  return std::sqrt(kThigh * kThigh + kShin * kShin + 2 * kThigh * kShin * std::cos(bend));
}

/// A leg whose knee bends as `bend` says, with its foot `further` away than that.
template <typename Bend>
ReachingLeg LegOf(const Bend& bend, double support, double further, size_t poses = 121) {
  ReachingLeg leg{kThigh, kShin, {}, {}, {}};
  for (size_t i = 0; i < poses; ++i) {
    const double angle = bend(static_cast<double>(i) * kFrame);
    leg.recorded.push_back(angle);
    leg.wanted.push_back({0, -(ReachAt(std::abs(angle)) + further), 0});
    leg.support.push_back(support);
  }
  return leg;
}

double BendOf(double reach) {
  return std::acos((reach * reach - kThigh * kThigh - kShin * kShin) / (2 * kThigh * kShin));
}

double LargestAcceleration(const std::vector<double>& reach) {
  double largest = 0;
  for (size_t i = 1; i + 1 < reach.size(); ++i) {
    largest = std::max(largest, std::abs(BendOf(reach[i - 1]) - 2 * BendOf(reach[i]) + BendOf(reach[i + 1])));
  }
  return largest / (kFrame * kFrame);
}

TEST(LegReach, LeavesBentLegsAsTheyAre) {
  const ReachingLeg leg = LegOf([](double time) { return 0.8 + 0.3 * std::sin(4 * time); }, 1, 0);
  const LegReach found = ReachSmoothly({leg}, kFrame, 1);
  for (size_t i = 0; i < leg.wanted.size(); ++i) {
    EXPECT_NEAR(found.reach[0][i], leg.wanted[i].norm(), 1e-6);
    EXPECT_NEAR(found.lowering[i], 0, 1e-6);
  }
}

TEST(LegReach, LowersHipsWhereStandingLegsDoNotReach) {
  const ReachingLeg leg = LegOf([](double) { return 0.3; }, 1, 0.03);
  const LegReach found = ReachSmoothly({leg}, kFrame, 1);
  for (size_t i = 0; i < leg.wanted.size(); ++i) {
    EXPECT_GT(found.lowering[i], 0.015);
    // Hip and ankle are where the foot is on the ground, and the knee is not straight.
    EXPECT_NEAR(found.reach[0][i], leg.wanted[i].norm() - found.lowering[i], 2e-3);
    EXPECT_GT(BendOf(found.reach[0][i]), 0.1);
  }
}

/// The knee of a walk passes through some degrees of hyperextension before the foot comes down. A limit of each pose
/// on its own stops it within a frame: accelerations of 700 rad/s^2.
TEST(LegReach, AKneeThatGetsStraightIsNotStopped) {
  const auto bend = [](double time) { return 0.4 - 0.45 * std::sin(kPi * time); };
  const ReachingLeg leg = LegOf(bend, 0, 0);
  const LegReach found = ReachSmoothly({leg}, kFrame, 1);
  EXPECT_LT(LargestAcceleration(found.reach[0]), 60);
  for (size_t i = 0; i < leg.wanted.size(); ++i) {
    EXPECT_NEAR(found.reach[0][i], leg.wanted[i].norm(), 0.01);
    EXPECT_GE(BendOf(found.reach[0][i]), 0.02 - 1e-9);
  }
}

TEST(LegReach, NothingIsNothing) {
  EXPECT_TRUE(ReachSmoothly({}, kFrame, 1).lowering.empty());
  EXPECT_EQ(ReachSmoothly({LegOf([](double) { return 0.5; }, 1, 0, 1)}, kFrame, 1).lowering.size(), 1u);
}

}  // namespace
}  // namespace retrace::task
