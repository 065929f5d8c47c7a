#include "retrace/planning/segments/falling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "control/sample_control.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::runs {
namespace {

using character::Human;
using character::Joint;
using character::State;

constexpr double kFallingStep = 1.0 / 120;  // [s]

/// A state in a random pose in which all bodies have the same velocity.
State MovingAt(const Vec3& velocity, uint64_t seed = 1) {
  RandomStream random(seed, RandomStage::kTest, 0, 0);
  State state = character::StateOf(Human(), character::RandomPose(Human(), random));
  for (character::BodyState& body : state) body.linear_velocity = velocity;
  return state;
}

/// The fragments of a fall during which the body stays as it is.
std::vector<control::Fragment> FallOf(const State& state, double gain, int first_step = 0) {
  std::vector<control::Fragment> played;
  EXPECT_TRUE(FallUntilStill(
      Human(), gain, first_step, kFallingStep, [&] { return state; },
      [&](control::Fragment fragment) {
        played.push_back(std::move(fragment));
        return true;
      }));
  return played;
}

TEST(Falling, HoldingCommandsTheRotationsOfTheState) {
  const State state = MovingAt(Vec3::Zero());
  const std::vector<simulation::JointCommand> commands = HoldingWith(0.3, Human(), state);
  ASSERT_EQ(commands.size(), Human().joints.size());
  for (size_t j = 0; j < commands.size(); ++j) {
    EXPECT_LT(AngleBetween(commands[j].target, character::JointRotation(Human().joints[j], state)), 1e-9);
    EXPECT_EQ(commands[j].gain, 0.3);
    EXPECT_EQ(commands[j].torque, Vec3(Vec3::Zero()));
  }
}

TEST(Falling, AFallAtRestEndsAfterHalfASecond) {
  const std::vector<control::Fragment> played = FallOf(MovingAt(Vec3::Zero()), 0.2, 30);
  ASSERT_FALSE(played.empty());
  int step = 30;
  for (const control::Fragment& fragment : played) {
    EXPECT_EQ(fragment.first_step, step);
    ASSERT_EQ(fragment.commands.size(), static_cast<size_t>(fragment.num_steps));
    step = fragment.end_step();
  }
  EXPECT_EQ(step, 30 + 60);
}

TEST(Falling, AFallEndsAfterFourSecondsWhereTheBodyNeverLiesStill) {
  EXPECT_EQ(FallOf(MovingAt(Vec3(0.06, 0, 0)), 0.2).back().end_step(), 480);
  State waving = MovingAt(Vec3::Zero());
  for (character::BodyState& body : waving) body.angular_velocity = Vec3(0, 1, 0);
  EXPECT_EQ(FallOf(waving, 0.2).back().end_step(), 60);  // no joint moves where the whole body turns
  for (size_t b = 0; b < waving.size(); b += 2) waving[b].angular_velocity = Vec3::Zero();
  EXPECT_EQ(FallOf(waving, 0.2).back().end_step(), 480);
}

TEST(Falling, ASimulationThatDivergesEndsTheFall) {
  int played = 0;
  EXPECT_FALSE(FallUntilStill(
      Human(), 0.2, 0, kFallingStep, [] { return MovingAt(Vec3::Zero()); },
      [&](const control::Fragment&) { return ++played < 3; }));
  EXPECT_EQ(played, 3);
}

/// Unit direction of the upper arm that commands ask for, in the world.
Vec3 WantedArm(const State& state, const std::vector<simulation::JointCommand>& commands, const std::string& side) {
  const auto s = static_cast<size_t>(Human().FindJoint(side + "_shoulder"));
  const Joint &shoulder = Human().joints[s], &elbow = character::JointOf(Human(), side + "_elbow");
  return state[static_cast<size_t>(shoulder.parent)].orientation *
         (commands[s].target * Vec3(elbow.anchor - shoulder.anchor)).normalized();
}

/// The center of mass is far faster than the lean of the body counts for.
TEST(Falling, ArmsAreStretchedToWhereTheBodyFalls) {
  const State state = MovingAt(Vec3(300, 0, 400));
  const std::vector<simulation::JointCommand> commands = FallOf(state, 0.2).front().commands.front();
  for (const std::string side : {"left", "right"}) {
    // 53 degrees from hanging down.
    EXPECT_LT((WantedArm(state, commands, side) - Vec3(0.6 * 0.8, -0.6, 0.8 * 0.8)).norm(), 0.02) << side;
    const auto elbow = static_cast<size_t>(Human().FindJoint(side + "_elbow"));
    EXPECT_LT(AngleBetween(commands[elbow].target, Quat::Identity()), 1e-9);
    EXPECT_EQ(commands[elbow].gain, 0.6);
  }
  const std::vector<simulation::JointCommand> held = HoldingWith(0.2, Human(), state);
  for (const char* joint : {"waist", "neck", "left_hip", "right_ankle"}) {
    const auto j = static_cast<size_t>(Human().FindJoint(joint));
    EXPECT_EQ(commands[j].gain, 0.2) << joint;
    EXPECT_LT(AngleBetween(commands[j].target, held[j].target), 1e-12) << joint;
  }
}

TEST(Falling, ArmsOfASlowBodyHoldThePose) {
  const State state = MovingAt(Vec3(0.3, 0, 0));
  const std::vector<simulation::JointCommand> commands = FallOf(state, 0.2).front().commands.front(),
                                              held = HoldingWith(0.2, Human(), state);
  for (size_t j = 0; j < commands.size(); ++j) {
    EXPECT_EQ(commands[j].gain, 0.2);
    EXPECT_LT(AngleBetween(commands[j].target, held[j].target), 1e-12);
  }
}

TEST(Falling, CommandsDoNotDependOnWhereTheBodyStandsAndLooks) {
  const State state = MovingAt(Vec3(1, -2, 0.5), 7);
  State placed = state;
  character::Place(AxisRotation(1, 2.1), Vec3(3, 0, -5), placed);
  const std::vector<simulation::JointCommand> here = FallOf(state, 0.1).front().commands.front(),
                                              there = FallOf(placed, 0.1).front().commands.front();
  for (size_t j = 0; j < here.size(); ++j) {
    EXPECT_LT(AngleBetween(here[j].target, there[j].target), 1e-6) << Human().joints[j].name;
    EXPECT_EQ(here[j].gain, there[j].gain);
  }
}

TEST(Falling, AStandingBodyComesToLie) {
  const character::Character& human = Human();
  State state = character::StateOf(human, character::RestPose(human));
  for (character::BodyState& body : state) body.linear_velocity = Vec3(0, 0, 1);
  int last = 0;
  ASSERT_TRUE(FallUntilStill(
      human, 0.1, 0, kFallingStep, [&] { return state; },
      [&](control::Fragment fragment) {
        control::OpenLoopControl control;
        control.world.time_step = kFallingStep;
        control.start = state;
        last = fragment.end_step();
        fragment.first_step = 0;
        control.fragments = {fragment};
        const control::Trajectory played = control::Replay(human, control);
        state = played.states.back();
        return !played.diverged;
      }));
  EXPECT_GE(last, 60);
  const auto root = static_cast<size_t>(human.root);
  EXPECT_LT(state[root].position.y(), 0.35 * human.bodies[root].rest_position.y());
}

TEST(Driving, GoesByTheShortestWayAndGainsStrength) {
  const State from = MovingAt(Vec3::Zero(), 3), to = MovingAt(Vec3::Zero(), 4);
  const control::Fragment fragment = DriveTo(Human(), from, to, 50, 100);
  EXPECT_EQ(fragment.first_step, 50);
  EXPECT_EQ(fragment.num_steps, 100);
  ASSERT_EQ(fragment.commands.size(), 100u);
  for (size_t j = 0; j < Human().joints.size(); ++j) {
    const Quat a = character::JointRotation(Human().joints[j], from),
               b = character::JointRotation(Human().joints[j], to);
    const double whole = AngleBetween(a, b);
    double before = 0, gain = 0.2;
    for (size_t step = 0; step < 100; ++step) {
      const simulation::JointCommand& command = fragment.commands[step][j];
      const double gone = AngleBetween(a, command.target);
      EXPECT_NEAR(gone + AngleBetween(command.target, b), whole, 1e-6);
      EXPECT_GE(gone, before - 1e-6);
      EXPECT_GE(command.gain, gain);
      before = gone;
      gain = command.gain;
      if (step + 1 < 70) continue;  // from then on the goal alone
      EXPECT_LT(AngleBetween(command.target, b), 1e-6);
      EXPECT_NEAR(command.gain, 1, 1e-12);
    }
    EXPECT_NEAR(AngleBetween(a, fragment.commands[34][j].target), whole / 2, 1e-6);  // after half of these
    EXPECT_NEAR(fragment.commands[34][j].gain, 0.6, 1e-9);
  }
}

}  // namespace
}  // namespace retrace::runs
