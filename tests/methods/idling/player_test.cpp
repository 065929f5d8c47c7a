#include "methods/idling/player.h"

#include <gtest/gtest.h>

#include "methods/idling/motion_tree.h"
#include "methods/idling/swinging_arm.h"
#include "methods/idling/targets.h"

namespace retrace::idling {
namespace {

struct Playing {
  Playing() {
    const Support support = arm.support();
    Simulator simulator(arm.problem);
    PathPlanner planner(arm.problem, support, arm.keys, simulator);
    for (const Leg leg : {Leg{0, 1}, Leg{1, 0}}) {
      for (Path& path : planner.FindPaths(leg, {})) paths.push_back(std::move(path));
    }
  }
  Status Play(const Hooks& hooks = {}) {
    const Support support = arm.support();
    Simulator simulator(arm.problem);
    summary = {};
    return Player(arm.problem, support, arm.keys, paths, simulator).Play(hooks, summary);
  }

  SwingingArm arm;
  std::vector<Path> paths;
  Summary summary;
};

TEST(IdlingPlayer, StringsPathsTogetherForTheWholeDuration) {
  Playing playing;
  std::vector<double> progress;
  Hooks hooks;
  hooks.on_progress = [&](double time) { progress.push_back(time); };
  ASSERT_EQ(playing.Play(hooks), Status::kReachedEnd);
  const Summary& summary = playing.summary;
  // Fragments and parts without gaps, to the end.
  int step = 0;
  for (const control::Fragment& fragment : summary.control.fragments) {
    EXPECT_EQ(fragment.first_step, step);
    step = fragment.end_step();
  }
  EXPECT_EQ(step, 5 * 240);
  step = 0;
  size_t key = 0;
  bool moved = false;
  for (const Played& part : summary.played) {
    EXPECT_EQ(part.first_step, step);
    EXPECT_EQ(part.leg.from, key);
    if (part.path < 0) {
      EXPECT_EQ(part.leg.to, key);
    } else {
      EXPECT_EQ(part.num_steps, playing.paths[static_cast<size_t>(part.path)].num_steps());
      moved = true;
    }
    step += part.num_steps;
    key = part.leg.to;
  }
  EXPECT_EQ(step, 5 * 240);
  EXPECT_TRUE(moved);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  // The control alone makes the same motion.
  control::OpenLoopControl control{playing.arm.problem.world, playing.arm.keys[0].settled, summary.control.fragments};
  EXPECT_EQ(control::Fingerprint(control::Replay(playing.arm.character, control).states.back()),
            control::Fingerprint(summary.end));
}

TEST(IdlingPlayer, IsAFunctionOfTheSeed) {
  Playing playing;
  playing.Play();
  const uint64_t end = control::Fingerprint(playing.summary.end);
  playing.Play();
  EXPECT_EQ(control::Fingerprint(playing.summary.end), end);
  playing.arm.problem.options.seed = 2;
  playing.Play();
  EXPECT_NE(control::Fingerprint(playing.summary.end), end);
}

TEST(IdlingPlayer, PerlinNoiseMovesItsTargetsEvenly) {
  Playing playing;
  playing.paths.clear();  // the first key is held throughout
  const auto fastest = [&](Noise kind) {
    playing.arm.problem.options.noise_kind = kind;
    EXPECT_EQ(playing.Play(), Status::kReachedEnd);
    double most = 0;
    for (const control::Fragment& fragment : playing.summary.control.fragments) {
      most = std::max(most, LargestAngle(fragment.targets.front(), fragment.targets.back()) / fragment.num_steps);
    }
    return most;
  };
  playing.arm.problem.options.noise_frequency = 0.2;
  const double independent = fastest(Noise::kIndependent), perlin = fastest(Noise::kPerlin);
  EXPECT_GT(perlin, 0);
  EXPECT_LT(perlin, independent);
}

TEST(IdlingPlayer, PlaysThePathsThatWereChosenAlone) {
  Playing playing;
  const auto from_first = [](const Path& path) { return path.from == 0; };
  const auto count = std::count_if(playing.paths.begin(), playing.paths.end(), from_first);
  ASSERT_EQ(count, 2);
  playing.arm.problem.options.duration = 12;
  playing.arm.problem.choices = {{{0, 1}, {2}}};
  ASSERT_EQ(playing.Play(), Status::kReachedEnd);
  int played = 0;
  for (const Played& part : playing.summary.played) {
    if (part.path < 0 || !from_first(playing.paths[static_cast<size_t>(part.path)])) continue;
    EXPECT_EQ(playing.paths[static_cast<size_t>(part.path)].number, 2);
    ++played;
  }
  EXPECT_GT(played, 0);
}

TEST(IdlingPlayer, HoldsAKeyThatNoPathLeavesAndEndsWhereNothingIsValid) {
  Playing playing;
  playing.paths.clear();
  ASSERT_EQ(playing.Play(), Status::kReachedEnd);
  for (const Played& part : playing.summary.played) EXPECT_EQ(part.leg, (Leg{0, 0}));
  playing.arm.problem.options.pose_limit = 1e-9;  // noise alone leads farther
  EXPECT_EQ(playing.Play(), Status::kDeadEnd);
  EXPECT_EQ(playing.summary.dead_ends, 1);
  EXPECT_TRUE(playing.summary.control.fragments.empty());
}

TEST(IdlingPlayer, WhatItPlayedUntilAStopIsKept) {
  Playing playing;
  int asked = 0;
  Hooks hooks;
  hooks.stop = [&] { return ++asked > 2; };
  EXPECT_EQ(playing.Play(hooks), Status::kStopped);
  EXPECT_FALSE(playing.summary.control.fragments.empty());
  EXPECT_LT(playing.summary.control.num_steps(), 5 * 240);
}

}  // namespace
}  // namespace retrace::idling
