/// Pushes that are found in motions that were made to have them.
#include "retrace/kinetics/push_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "character/sample_human.h"
#include "retrace/character/kinematics.h"

namespace retrace::kinetics {
namespace {

using character::Human;

constexpr double kPushFrame = 1.0 / 60;

/// A stiff body stands and is displaced along x.
character::ReferenceMotion Standing(const std::function<double(double)>& aside) {
  return character::StandingHuman([&](double time) -> Vec3 { return {aside(time), 0, 0}; }, 241, kPushFrame);
}

TEST(FindPushes, FindsWhatAcceleratesAPersonAndNothingElse) {
  EXPECT_TRUE(FindPushes(Standing([](double) { return 0.0; })).empty());
  // The whole body slides off at 6 m/s^2 for 0.2 s from 2 s on, and comes to rest slowly: feet that were to give the
  // force, from under a body that keeps upright, would have to give its moment, too.
  const double acceleration = 6, start = 2, duration = 0.2;
  const auto aside = [&](double time) {
    const double t = std::clamp(time - start, 0.0, duration);
    const double speed = acceleration * duration, rest = std::max(0.0, time - start - duration);
    return 0.5 * acceleration * t * t + speed * 0.8 * (1 - std::exp(-rest / 0.8));
  };
  const std::vector<FoundPush> pushes = FindPushes(Standing(aside));
  ASSERT_EQ(pushes.size(), 1u);
  EXPECT_NEAR(pushes[0].start, start, 0.07);
  EXPECT_NEAR(pushes[0].duration, duration, 0.1);
  EXPECT_GT(pushes[0].force.x(), 0.15 * acceleration * Human().total_mass());
  EXPECT_LT(pushes[0].force.x(), 1.1 * acceleration * Human().total_mass());  // a lower bound, but for the smoothing
  EXPECT_LT(std::abs(pushes[0].force.z()), 0.1 * pushes[0].force.x());
  EXPECT_EQ(pushes[0].force.y(), 0);
}

TEST(FindPushes, KnowsHowLongAMotionIsOutOfBalance) {
  EXPECT_EQ(ShareOutOfBalance(Standing([](double) { return 0.0; }), {}), 0);
  // 6 m/s^2 for 0.2 s of 4 s, and a little longer because forces are smoothed.
  const auto aside = [](double time) {
    const double t = std::clamp(time - 2, 0.0, 0.2), rest = std::max(0.0, time - 2.2);
    return 3 * t * t + 0.96 * (1 - std::exp(-rest / 0.8));
  };
  const double share = ShareOutOfBalance(Standing(aside), {});
  EXPECT_GT(share, 0.2 / 4);
  EXPECT_LT(share, 0.5 / 4);
  EXPECT_LT(ShareOutOfBalance(Standing(aside), {{2, 2.2}}), 0.2 * share);  // the push is known
}

TEST(FindPushes, AMotionMayBeTooShort) {
  const character::ReferenceMotion standing = Standing([](double) { return 0.0; });
  EXPECT_TRUE(FindPushes(standing.WithPoses({standing.poses()[0], standing.poses()[1]})).empty());
}

}  // namespace
}  // namespace retrace::kinetics
