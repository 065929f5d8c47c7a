#include "retrace/control/simulate.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "simulation/sample_characters.h"

namespace retrace::control {
namespace {

/// A block of 2 kg without weight, far from the ground.
struct FloatingBlock {
  FloatingBlock() : block(simulation::Block()) {
    options.gravity = 0;
    options.time_step = 0.01;
    start = simulation::StateOf(block, simulation::RestPose(block));
    character::Translate(start, Vec3(0, 10, 0));
  }
  /// Velocity after so many steps under pushes.
  Vec3 VelocityAfter(int steps, std::span<const Push> pushes, int first_step = 0) const {
    simulation::World world(block, options);
    world.SetState(start, first_step);
    OpenLoop rest({});
    Controller* const controller = &rest;
    SimulationScratch scratch;
    EXPECT_TRUE(Simulate(world, {&controller, 1}, first_step, steps, pushes, scratch, [](int) {}));
    character::State state;
    world.GetState(state);
    return state[0].linear_velocity;
  }

  character::Character block;
  simulation::WorldOptions options;
  character::State start;
};

TEST(SimulatedPushes, TheImpulseIsExactWhereverAPushBeginsAndEnds) {
  const FloatingBlock floating;
  for (const auto& [start, duration] : {std::pair{0.1, 0.05}, {0.1034, 0.0511}, {0.1034, 0.002}, {0.1099, 0.0002}}) {
    const Push push{0, Vec3(3, -1, 2), start, duration};
    EXPECT_LT((floating.VelocityAfter(40, {&push, 1}) - duration / 2 * push.force).norm(), 1e-12) << start;
  }
}

TEST(SimulatedPushes, SeveralAddUpAndTimesAreThoseOfTheWholeMotion) {
  const FloatingBlock floating;
  const std::array pushes = {Push{0, Vec3(1, 0, 0), 0.1, 0.1}, Push{0, Vec3(0, 0, 4), 0.15, 0.1},
                             Push{0, Vec3(100, 0, 0), 5, 0.1}};
  EXPECT_LT((floating.VelocityAfter(40, pushes) - Vec3(0.05, 0, 0.2)).norm(), 1e-12);
  // From 0.15 s on what is left of the first one acts.
  EXPECT_LT((floating.VelocityAfter(40, pushes, 15) - Vec3(0.025, 0, 0.2)).norm(), 1e-12);
}

/// Notes what it is asked.
class NotingController final : public Controller {
 public:
  void Command(const StepContext& now, std::span<simulation::JointCommand> commands) override {
    steps.push_back(now.step);
    times.push_back(now.time);
    num_bodies = now.state.size();
    num_commands = commands.size();
    character = now.character;
  }
  bool RestartsAt(int step) override {
    asked.push_back(step);
    return false;
  }
  std::vector<int> steps, asked;
  std::vector<double> times;
  size_t num_bodies = 0, num_commands = 0, character = 0;
};

TEST(SimulationLoop, AsksEachControllerOnceForEachStep) {
  const FloatingBlock floating;
  const character::Character arm = simulation::ArmOnPost("ball", 100, 10);
  const std::array<const character::Character*, 2> characters = {&floating.block, &arm};
  simulation::World world(characters, floating.options);
  character::State start = floating.start;
  for (const character::BodyState& body : simulation::StateOf(arm, simulation::RestPose(arm))) {
    start.push_back(body);
    start.back().position += Vec3(20, 30, 0);
  }
  world.SetState(start, 7);
  NotingController first, second;
  const std::array<Controller*, 2> controllers = {&first, &second};
  SimulationScratch scratch;
  std::vector<int> observed;
  EXPECT_TRUE(Simulate(world, controllers, 7, 3, {}, scratch, [&](int step) { observed.push_back(step); }));
  EXPECT_EQ(observed, (std::vector<int>{7, 8, 9}));
  for (const NotingController* controller : {&first, &second}) {
    EXPECT_EQ(controller->steps, observed);
    EXPECT_EQ(controller->asked, (std::vector<int>{8, 9}));  // the beginning is a restart anyway
    EXPECT_NEAR(controller->times[2], 0.09, 1e-12);
    EXPECT_EQ(controller->num_bodies, 3u);
  }
  EXPECT_EQ(first.num_commands, 0u);
  EXPECT_EQ(second.num_commands, 1u);
  EXPECT_EQ(second.character, 1u);
}

TEST(SimulationLoop, EndsWhereTheSimulationDiverges) {
  const FloatingBlock floating;
  const Push push{0, Vec3(1e12, 0, 0), 0.05, 1};
  simulation::World world(floating.block, floating.options);
  world.SetState(floating.start);
  OpenLoop rest({});
  Controller* const controller = &rest;
  SimulationScratch scratch;
  int steps = 0;
  EXPECT_FALSE(Simulate(world, {&controller, 1}, 0, 40, {&push, 1}, scratch, [&](int) { ++steps; }));
  EXPECT_GE(steps, 5);
  EXPECT_LT(steps, 40);
}

TEST(SimulatedFragments, SideBySideAreTheSameToTheBit) {
  const character::Character arm = simulation::ArmOnPost("ball", 100, 10);
  simulation::WorldOptions options;
  const character::Character* const one = &arm;
  simulation::WorldLanes worlds({&one, 1}, options);
  const size_t lanes = worlds.num_lanes();
  std::vector<Fragment> fragments(lanes, {12, 24, {TargetPose(1), TargetPose(1)}});
  std::vector<character::State> starts(lanes), ends(lanes);
  std::vector<FragmentRun> runs(lanes);
  for (size_t r = 0; r < lanes; ++r) {
    fragments[r].targets[1][0] = AxisRotation(2, 0.1 * static_cast<double>(r + 1));
    starts[r] = simulation::StateOf(arm, simulation::RestPose(arm));
    starts[r][1].angular_velocity = Vec3(0, 0.1 * static_cast<double>(r), 0);
    runs[r] = {&starts[r], &fragments[r], &ends[r]};
  }
  LanesScratch scratch;
  std::vector<int> observed(lanes);
  SimulateFragments(worlds, runs, scratch, [&](size_t run, int step) { EXPECT_EQ(observed[run]++, step); });
  simulation::World world(arm, options);
  SimulationScratch single;
  for (size_t r = 0; r < lanes; ++r) {
    EXPECT_FALSE(runs[r].diverged);
    EXPECT_EQ(observed[r], 24);
    character::State end;
    ASSERT_TRUE(SimulateFragment(world, starts[r], fragments[r], single, end));
    EXPECT_TRUE(simulation::SameBits(end, ends[r])) << r;
  }
}

}  // namespace
}  // namespace retrace::control
