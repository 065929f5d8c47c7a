#include "methods/idling/motion_tree.h"

#include <gtest/gtest.h>

#include "methods/idling/swinging_arm.h"
#include "methods/idling/targets.h"

namespace retrace::idling {
namespace {

std::vector<Path> PathsOf(const SwingingArm& arm, Leg leg, const std::function<bool()>& stop = {}) {
  const Support support = arm.support();
  Simulator simulator(arm.problem);
  return PathPlanner(arm.problem, support, arm.keys, simulator).FindPaths(leg, stop);
}

TEST(IdlingPaths, ReachTheKeyWhenTheyAreSimulated) {
  const SwingingArm arm;
  const Support support = arm.support();
  for (const Leg leg : {Leg{0, 1}, Leg{1, 0}}) {
    const std::vector<Path> paths = PathsOf(arm, leg);
    ASSERT_FALSE(paths.empty());
    EXPECT_LE(paths.size(), 2u);
    for (size_t p = 0; p < paths.size(); ++p) {
      const Path& path = paths[p];
      EXPECT_EQ(path.from, leg.from);
      EXPECT_EQ(path.to, leg.to);
      EXPECT_EQ(path.number, static_cast<int>(p) + 1);
      EXPECT_EQ(LargestAngle(path.drives.back().target, arm.keys[leg.to].targets), 0);
      Simulator simulator(arm.problem);
      character::State state = arm.keys[leg.from].settled;
      control::TargetPose targets = arm.keys[leg.from].targets;
      int step = 0;
      for (const Drive& drive : path.drives) {
        ASSERT_TRUE(simulator.Run(state, targets, drive, step, state, [](const auto&, const auto&) { return true; }));
        targets = drive.target;
        step += drive.num_steps;
      }
      EXPECT_EQ(step, path.num_steps());
      EXPECT_NEAR(support.PoseDistance(state, arm.keys[leg.to].settled), path.distance, 1e-12);
      EXPECT_LE(path.distance, arm.problem.options.reach);
      EXPECT_LE(JointRate(arm.character, state), arm.problem.options.reach_rate);
    }
  }
}

TEST(IdlingPaths, DifferFromOneAnotherAndAreAFunctionOfTheSeed) {
  SwingingArm arm;
  arm.problem.options.smoothing_passes = 0;
  const std::vector<Path> paths = PathsOf(arm, {0, 1}), again = PathsOf(arm, {0, 1});
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_GT(AngleBetweenPaths(arm.keys[0].targets, paths[0].drives, paths[1].drives), arm.problem.options.distinct);
  ASSERT_EQ(again.size(), 2u);
  for (size_t p = 0; p < 2; ++p) {
    ASSERT_EQ(again[p].drives.size(), paths[p].drives.size());
    EXPECT_EQ(again[p].drives[0].target[0].coeffs(), paths[p].drives[0].target[0].coeffs());
  }
}

TEST(IdlingPaths, WhatCannotBeReachedHasNone) {
  SwingingArm arm;
  arm.problem.options.nodes = 5;
  arm.problem.options.attempts = 1;
  arm.problem.options.reach = 1e-6;
  EXPECT_TRUE(PathsOf(arm, {0, 1}).empty());
}

TEST(IdlingPaths, AreNotLookedForAfterAStop) {
  const SwingingArm arm;
  EXPECT_TRUE(PathsOf(arm, {0, 1}, [] { return true; }).empty());
}

}  // namespace
}  // namespace retrace::idling
