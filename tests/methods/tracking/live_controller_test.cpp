/// Motions that come pose by pose, and torques for any simulator.
#include "retrace/methods/tracking/live_controller.h"

#include <gtest/gtest.h>

#include "retrace/control/control.h"
#include "retrace/io/error.h"
#include "retrace/methods/tracking/live_reference.h"
#include "retrace/simulation/world.h"
#include "task/synthetic_motion.h"

namespace retrace::tracking {
namespace {

constexpr double kFrame = 1.0 / 120;  // [s]

simulation::WorldOptions Plain() {
  simulation::WorldOptions options;
  options.contact_scale.clear();
  return options;
}

/// Squats, and from a time on does so deeper.
character::Pose DeepeningSquat(double time, double deeper_from) {
  const double depth = time > deeper_from ? 0.45 + 0.2 * std::min(1.0, time - deeper_from) : 0.45;
  return task::SquatPose(depth * (1 - std::cos(2 * kPi * time / 1.6)));
}

/// Simulates a motion that comes pose by pose, and one pose more than is asked for.
std::vector<character::State> FollowLive(const task::Course& course, double duration, const LiveOptions& live = {}) {
  simulation::World world(task::Human(), Plain());
  LiveController controller(task::Human(), world.options(), kFrame, {}, live);
  std::vector<simulation::JointCommand> commands(task::Human().joints.size());
  std::vector<character::State> states(1);
  int poses = 0;
  for (int step = 0; step * world.options().time_step < duration; ++step) {
    while (!controller.Suffices(step)) controller.Append(course(kFrame * poses++));
    if (step == 0) world.SetState(controller.StartState());
    if (controller.RestartsAt(step)) world.Restart(0);
    world.GetState(states.back());
    controller.Command({step, step * world.options().time_step, states.back(), world.layout()}, commands);
    EXPECT_TRUE(world.Step(commands));
    world.GetState(states.emplace_back());
  }
  return states;
}

TEST(LiveController, FollowsASquatThatIsMadeMeanwhile) {
  const auto squat = [](double time) { return DeepeningSquat(time, 100); };
  const std::vector<character::State> states = FollowLive(squat, 1.8);
  for (size_t i = 0; i < states.size(); i += 24) {
    const double time = static_cast<double>(i) / 240;
    EXPECT_NEAR(states[i][task::BodyIndex("pelvis")].position.y(), squat(time).root_position.y(), 0.05) << time;
  }
}

TEST(LiveController, TheFutureAfterThePreviewDoesNotChangeThePast) {
  constexpr double kChange = 0.83;
  for (const double preview : {0.4, 0.6}) {
    const LiveOptions live{.preview = preview};
    const auto same = [](double time) { return DeepeningSquat(time, 100); };
    const auto deeper = [&](double time) { return DeepeningSquat(time, kChange); };
    const std::vector<character::State> one = FollowLive(same, 0.7, live), other = FollowLive(deeper, 0.7, live);
    size_t equal = 0;
    while (equal < one.size() && control::Fingerprint(one[equal]) == control::Fingerprint(other[equal])) ++equal;
    const double until = static_cast<double>(equal) / 240;
    EXPECT_GE(until, kChange - preview) << preview;
    EXPECT_LT(until, kChange - preview + 0.15) << preview;  // it is looked at, once in each tenth of a second
  }
}

TEST(LiveController, MorePosesThanThePreviewChangeNothing) {
  const auto squat = [](double time) { return DeepeningSquat(time, 100); };
  const std::vector<character::State> states = FollowLive(squat, 0.5);
  simulation::World world(task::Human(), Plain());
  LiveController controller(task::Human(), world.options(), kFrame);
  for (int pose = 0; pose < 400; ++pose) controller.Append(squat(kFrame * pose));
  controller.Finish();
  character::Character const* const human = &task::Human();
  control::Controller* const one = &controller;
  const control::Trajectory known =
      control::Simulate({&human, 1}, world.options(), controller.StartState(), {&one, 1}, 0, 120);
  EXPECT_EQ(control::Fingerprint(known.states.back()), control::Fingerprint(states.back()));
  EXPECT_EQ(controller.TakeRecords().size(), 60u);
}

/// A simulator that takes torques alone, at the beginning of each step.
TEST(LiveController, TorquesDriveASimulatorWithoutServos) {
  simulation::WorldOptions options = Plain();
  options.solver = simulation::Solver::kStock;
  for (const double time_step : {1.0 / 240, 1.0 / 500}) {
    options.time_step = time_step;
    simulation::World world(task::Human(), options);
    LiveController controller(task::Human(), options, kFrame);
    for (int pose = 0; pose <= 144; ++pose) controller.Append(DeepeningSquat(kFrame * pose, 100));
    controller.Finish();
    world.SetState(controller.StartState());
    character::State state;
    std::vector<simulation::JointCommand> commands(task::Human().joints.size());
    for (simulation::JointCommand& command : commands) command.gain = 0;
    for (int step = 0; step * time_step < 1.2; ++step) {
      world.GetState(state);
      const std::span<const Vec3> torques = controller.Torques(step, state);
      for (size_t j = 0; j < commands.size(); ++j) {
        const character::Joint& joint = task::Human().joints[j];
        const Quat& parent = state[static_cast<size_t>(joint.parent)].orientation;
        commands[j].torque = joint.PerAxis(parent.conjugate() * torques[j]);
      }
      ASSERT_TRUE(world.Step(commands)) << time_step << " " << step;
    }
    EXPECT_NEAR(state[task::BodyIndex("pelvis")].position.y(), DeepeningSquat(1.2, 100).root_position.y(), 0.05)
        << time_step;
    EXPECT_GT(state[task::BodyIndex("head")].position.y(), 1.2) << time_step;
  }
}

TEST(LiveController, SaysWhatItLacks) {
  LiveController controller(task::Human(), Plain(), kFrame);
  for (int pose = 0; pose < 20; ++pose) controller.Append(task::Standing(0));
  EXPECT_FALSE(controller.Suffices(0));
  EXPECT_THROW(controller.StartState(), UsageError);
  EXPECT_THROW(controller.Append({}), UsageError);
  controller.Finish();
  EXPECT_TRUE(controller.Suffices(0));
  EXPECT_THROW(controller.Append(task::Standing(0)), UsageError);
  EXPECT_THROW(LiveController(task::Human(), Plain(), kFrame, {}, {.preview = 0.1}), UsageError);
  EXPECT_THROW(LiveController(task::Human(), Plain(), 0), UsageError);
  Options search;
  search.candidates = 8;
  EXPECT_THROW(LiveController(task::Human(), Plain(), kFrame, search), UsageError);
}

}  // namespace
}  // namespace retrace::tracking
