#include "retrace/metrics/support_checks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "task/synthetic_motion.h"

namespace retrace::metrics {
namespace {

struct FoundSupports {
  FoundSupports(const task::Course& course, double duration, bool levels = false) {
    const character::ReferenceMotion motion = task::Motion(course, duration);
    FindSupports(motion, motion.StatesOfPoses(), levels, {}, supports, warnings);
  }
  bool Warns(const std::string& kind) const {
    return std::any_of(warnings.begin(), warnings.end(), [&](const ClipWarning& w) { return w.kind == kind; });
  }
  std::vector<Support> supports;
  std::vector<ClipWarning> warnings;
};

/// Leaning backward about the feet, as on a rail behind the back.
character::Pose Leaning(double) {
  character::Pose pose = task::StandingPose();
  pose.root_orientation = AxisRotation(0, -0.5);
  return task::OnTheFloor(pose);
}

TEST(SupportChecks, WhoStandsRestsOnTheFloor) {
  const FoundSupports standing(task::Standing, 2);
  EXPECT_TRUE(standing.supports.empty());
  EXPECT_TRUE(standing.warnings.empty());
  EXPECT_TRUE(FoundSupports(task::Squatting, 2).supports.empty());
}

/// The center of mass is far behind the feet, and nothing moves.
TEST(SupportChecks, WhoLeansRestsOnSomethingElse) {
  const FoundSupports leaning(Leaning, 2);
  ASSERT_EQ(leaning.supports.size(), 1u);
  EXPECT_NEAR(leaning.supports[0].interval.start, 0, 0.02);
  EXPECT_NEAR(leaning.supports[0].interval.end, 2, 0.02);
  character::State state;
  character::ForwardKinematics(task::Human(), Leaning(0), state);
  const auto root = static_cast<size_t>(task::Human().root);
  EXPECT_NEAR(leaning.supports[0].height, character::LowestPoint(task::Human().bodies[root], state[root]), 1e-6);
  EXPECT_TRUE(leaning.Warns("support"));
  EXPECT_TRUE(FoundSupports(Leaning, 0.4).supports.empty());  // too short to rest
}

TEST(SupportChecks, AFastFallIsNoSupport) {
  const auto falling = [](double time) {
    character::Pose pose = Leaning(0);
    pose.root_position.y() += 3 - 0.5 * kStandardGravity * time * time;
    return pose;
  };
  const FoundSupports fall(falling, 0.7);
  EXPECT_TRUE(fall.supports.empty());
  EXPECT_FALSE(fall.Warns("floating"));
}

/// It moves along, 10 cm over the floor, and does not fall.
TEST(SupportChecks, WhatHoversFloats) {
  const auto hovering = [](double time) {
    character::Pose pose = task::StandingPose();
    pose.root_position += Vec3(0, 0.1, time);
    return pose;
  };
  const FoundSupports hover(hovering, 2);
  EXPECT_TRUE(hover.supports.empty());
  EXPECT_TRUE(hover.Warns("floating"));
  EXPECT_FALSE(FoundSupports(hovering, 2, true).Warns("floating"));  // on another level
}

}  // namespace
}  // namespace retrace::metrics
