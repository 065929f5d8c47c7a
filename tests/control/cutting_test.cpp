#include "retrace/control/cutting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "retrace/control/controller.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace::control {
namespace {

constexpr size_t kJoints = 3;

Quat AnyTurn(RandomStream& random) {
  return FromRotationVector(Vec3(random.Normal(), random.Normal(), random.Normal()));
}

/// Targets that change, a single target, and commands.
std::vector<Fragment> Control() {
  RandomStream random(23, RandomStage::kTest, 0, 0);
  std::vector<Fragment> fragments(3);
  int first = 4;
  for (Fragment& fragment : fragments) {
    fragment.first_step = first;
    fragment.num_steps = 10;
    first += 10;
  }
  for (int t = 0; t < 4; ++t) {
    TargetPose& targets = fragments[0].targets.emplace_back();
    for (size_t j = 0; j < kJoints; ++j) targets.push_back(AnyTurn(random));
  }
  fragments[1].targets.assign(1, fragments[0].targets[2]);
  for (int step = 0; step < 10; ++step) {
    std::vector<simulation::JointCommand>& commands = fragments[2].commands.emplace_back(kJoints);
    for (simulation::JointCommand& command : commands) {
      command = {AnyTurn(random), Vec3(random.Normal(), 0, 1), 0.5};
    }
  }
  return fragments;
}

/// What a control commands in a step: the bits.
std::vector<double> NumbersAt(const std::vector<Fragment>& fragments, int step) {
  OpenLoop open_loop(fragments);
  std::vector<simulation::JointCommand> commands(kJoints);
  const character::State state;
  const simulation::Layout layout;
  open_loop.Command({step, 0, state, layout, 0}, commands);
  std::vector<double> numbers;
  for (const simulation::JointCommand& command : commands) {
    for (int i = 0; i < 4; ++i) numbers.push_back(command.target.coeffs()[i]);
    for (int i = 0; i < 3; ++i) numbers.push_back(command.torque[i]);
    numbers.push_back(command.gain);
  }
  return numbers;
}

TEST(SplitAt, CommandsTheSameAndBeginsWhereItIsAsked) {
  const std::vector<Fragment> whole = Control();
  const std::vector<int> steps = {1, 4, 9, 14, 15, 30, 34, 40, 50};
  const std::vector<Fragment> cut = SplitAt(steps, whole);
  for (int step = 0; step < 50; ++step) EXPECT_EQ(NumbersAt(cut, step), NumbersAt(whole, step)) << step;
  std::vector<int> begins;
  int next = whole.front().first_step;
  for (const Fragment& fragment : cut) {
    EXPECT_EQ(fragment.first_step, next);
    EXPECT_GT(fragment.num_steps, 0);
    next = fragment.end_step();
    begins.push_back(fragment.first_step);
  }
  EXPECT_EQ(begins, (std::vector<int>{4, 9, 14, 15, 24, 30, 34, 40}));
  EXPECT_EQ(next, 50);
  EXPECT_EQ(SplitAt({}, whole).size(), whole.size());
  EXPECT_TRUE(SplitAt(steps, {}).empty());
}

TEST(Truncate, HasTheCommandsBeforeAStep) {
  const std::vector<Fragment> whole = Control();
  for (const int end : {4, 5, 14, 20, 33, 34, 90}) {
    const std::vector<Fragment> before = Truncate(end, whole);
    EXPECT_EQ(before.empty(), end == 4);
    if (before.empty()) continue;
    EXPECT_EQ(before.back().end_step(), std::min(end, 34));
    for (int step = 4; step < std::min(end, 34); ++step) EXPECT_EQ(NumbersAt(before, step), NumbersAt(whole, step));
  }
}

}  // namespace
}  // namespace retrace::control
