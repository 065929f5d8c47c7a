/// Torques that are limited: never beyond the limit, that of the servo wherever it is within, and the same whichever
/// solver takes the step.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "math/any_stream.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/simulation/world.h"
#include "simulation/sample_characters.h"
#include "simulation/world_stepper.h"

namespace retrace::simulation {
namespace {

using character::Character;
using character::Joint;
using character::State;

/// The human with a largest torque about most axes, between two limits, and about the others any.
Character LimitedHuman(uint32_t number, double least, double most) {
  Character human = Human();
  RandomStream random(21, RandomStage::kTest, number, 0);
  for (Joint& joint : human.joints) {
    for (int a = 0; a < 3; ++a) {
      if (joint.UsesAxis(a) && random.Uniform() < 0.8) joint.effort[a] = random.Uniform(least, most);
    }
  }
  return human;
}

/// A human that lies, stands or falls, with servos that drive elsewhere.
struct Attempt {
  Attempt(const Character& character, uint32_t number) {
    RandomStream random(22, RandomStage::kTest, number, 0);
    character::Pose pose = RestPose(character);
    for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
      const bool hinge = character.joints[j].type == character::JointType::kHinge;
      const auto turned = [&](double by) {
        const Vec3 turn = AnyVector(random, by);
        return hinge ? AxisRotation(character.joints[j].axis, turn.x()) : FromRotationVector(turn);
      };
      pose.joint_rotations[j] = turned(0.3);
      JointCommand& command = commands.emplace_back();
      command.target = pose.joint_rotations[j] * turned(0.5);
      if (random.Uniform() < 0.1) command.gain = 0;
      if (random.Uniform() < 0.3) command.torque = AnyVector(random, 40);
    }
    pose.root_orientation = FromRotationVector(AnyVector(random, number % 2 == 0 ? 3 : 0.1));
    pose.root_position = Vec3(0, 1, 0);
    state = StateOf(character, pose);
    double lowest = 1e9;
    for (size_t b = 0; b < state.size(); ++b) {
      lowest = std::min(lowest, character::LowestPoint(character.bodies[b], state[b]));
    }
    const double height = number % 4 == 3 ? 1 : 0;
    for (auto& body : state) body.position.y() += height - lowest;
    SetRigidMotion(character, AnyVector(random, 0.5), AnyVector(random, 1), state);
  }
  State state;
  std::vector<JointCommand> commands;
};

/// What servo and command together ask for about each axis at the end of an implicit step.
Vec3 WantedTorque(const Joint& joint, const JointCommand& command, const State& before, const State& after, double h) {
  const auto& parent = before[static_cast<size_t>(joint.parent)];
  const Vec3 rate = parent.orientation.conjugate() * Vec3(after[static_cast<size_t>(joint.child)].angular_velocity -
                                                          after[static_cast<size_t>(joint.parent)].angular_velocity);
  const Vec3 error = RotationVector(command.target * character::JointRotation(joint, before).conjugate());
  Vec3 wanted = Vec3::Zero();
  for (int a = 0; a < 3; ++a) {
    if (!joint.UsesAxis(a)) continue;
    wanted[a] = command.gain * joint.strength_scale[a] * (joint.kp * (error[a] - h * rate[a]) - joint.kd * rate[a]) +
                command.torque[a];
  }
  return wanted;
}

struct Counted {
  size_t within = 0, at_limit = 0;
  size_t others = 0;  // neither the torque of the servo nor at a limit that this is beyond
};

/// Steps a limited human, and holds each torque against its limit and against what the servo asks for.
Counted ExpectLimitedServos(const WorldOptions& options, uint32_t number, double least, double most, int steps,
                            double tolerance) {
  const Character human = LimitedHuman(number, least, most);
  const Attempt attempt(human, number);
  World world(human, options);
  world.set_recording(true);
  world.SetState(attempt.state);
  State before = attempt.state, after;
  Counted counted;
  for (int n = 0; n < steps; ++n) {
    if (!world.Step(attempt.commands)) break;
    world.GetState(after);
    for (size_t j = 0; j < human.joints.size(); ++j) {
      const Joint& joint = human.joints[j];
      const Vec3& torque = world.torques()[j];
      const Vec3 wanted = WantedTorque(joint, attempt.commands[j], before, after, options.time_step);
      for (int a = 0; a < 3; ++a) {
        if (joint.effort[a] > 0) {
          EXPECT_LE(std::abs(torque[a]), joint.effort[a]) << joint.name << " step " << n;
        }
        if (options.servo == Servo::kExplicit || !joint.UsesAxis(a)) continue;
        const double expected = joint.Limited(wanted[a], a);
        counted.others += std::abs(torque[a] - expected) > tolerance * (1 + std::abs(wanted[a])) ? 1 : 0;
        if (joint.effort[a] > 0) ++(std::abs(torque[a]) == joint.effort[a] ? counted.at_limit : counted.within);
      }
    }
    before = after;
  }
  return counted;
}

WorldOptions WithSolver(Solver solver) {
  WorldOptions options;
  options.solver = solver;
  return options;
}

class LimitedTorques : public testing::TestWithParam<Solver> {};
INSTANTIATE_TEST_SUITE_P(World, LimitedTorques, testing::Values(Solver::kReduced, Solver::kStock),
                         [](const auto& test) { return test.param == Solver::kReduced ? "Reduced" : "Stock"; });

TEST_P(LimitedTorques, AreThoseOfTheServoAsFarAsTheLimitAllows) {
  Counted all;
  for (uint32_t number = 0; number < 24; ++number) {
    const Counted counted = ExpectLimitedServos(WithSolver(GetParam()), number, 5, 80, 20, 1e-6);
    all.within += counted.within;
    all.at_limit += counted.at_limit;
    all.others += counted.others;
  }
  // The test means nothing where limits are never or always met.
  EXPECT_GT(all.at_limit, 1000u);
  EXPECT_GT(all.within, 1000u);
  // Bounds of friction follow from contact forces: with these and servos that yield there may be no solution.
  EXPECT_LT(all.others, (all.at_limit + all.within) / 500);
}

TEST(LimitedTorquesOfExplicitServos, AreNeverBeyondTheLimit) {
  WorldOptions options;
  options.servo = Servo::kExplicit;
  options.time_step = 0.0005;
  for (uint32_t number = 0; number < 8; ++number) ExpectLimitedServos(options, number, 2, 40, 50, 1e-6);
}

RC_GTEST_PROP(LimitedTorquesOfAnySize, AreNeverBeyondTheLimit, ()) {
  const auto number = *rc::gen::inRange<uint32_t>(0, 1'000'000);
  const double least = std::exp(*rc::gen::inRange(-30, 50) * 0.1);
  ExpectLimitedServos(WorldOptions(), number, least, 4 * least, 6, 1e-5);
}

/// Without friction, which ODE bounds by the forces that contacts would have without it: there is one solution.
TEST(LimitsOfTorques, BothSolversTakeTheSameStep) {
  size_t compared = 0, with_contacts = 0;
  for (uint32_t number = 0; number < 32; ++number) {
    const Character human = LimitedHuman(number, 5, 60);
    const Attempt attempt(human, number);
    WorldOptions options = WithSolver(Solver::kReduced);
    options.friction = 0;
    World reduced(human, options);
    options.solver = Solver::kStock;
    World stock(human, options);
    State ends[2];
    const auto step = [&](World& world, State& end) {
      world.SetState(attempt.state);
      const bool moving = world.Step(attempt.commands);
      world.GetState(end);
      return moving;
    };
    const bool moving = step(reduced, ends[0]);
    ASSERT_EQ(step(stock, ends[1]), moving) << number;
    if (!moving) continue;  // limbs that begin deep in one another fly apart
    ++compared;
    double difference = 0;  // [m/s], [rad/s]
    for (size_t b = 0; b < ends[0].size(); ++b) {
      difference = std::max({difference, (ends[0][b].linear_velocity - ends[1][b].linear_velocity).norm(),
                             (ends[0][b].angular_velocity - ends[1][b].angular_velocity).norm()});
    }
    EXPECT_LT(difference, 1e-5) << number;
    with_contacts += reduced.contacts().empty() ? 0 : 1;
  }
  EXPECT_GT(compared, 24u);
  EXPECT_GT(with_contacts, 16u);
}

TEST(LimitsOfTorques, ThatAreNotReachedChangeNoByte) {
  Character limited = Human();
  for (Joint& joint : limited.joints) {
    for (int a = 0; a < 3; ++a) joint.effort[a] = joint.UsesAxis(a) ? 1e8 : 0;
  }
  const Character human = Human();
  for (uint32_t number = 0; number < 8; ++number) {
    Attempt attempt(human, number);
    for (JointCommand& command : attempt.commands) command.torque.setZero();  // which go by another path to the joint
    State ends[2];
    for (const Character* const character : {&human, static_cast<const Character*>(&limited)}) {
      World world(*character, WorldOptions());
      world.SetState(attempt.state);
      for (int n = 0; n < 20; ++n) ASSERT_TRUE(world.Step(attempt.commands));
      world.GetState(ends[character == &limited ? 1 : 0]);
    }
    EXPECT_EQ(std::memcmp(ends[0].data(), ends[1].data(), ends[0].size() * sizeof(ends[0][0])), 0) << number;
  }
}

TEST(LimitsOfTorques, RestartForgetsWhatWasHeld) {
  const Character human = LimitedHuman(3, 5, 40);
  const Attempt attempt(human, 3);
  World through(human, WorldOptions()), again(human, WorldOptions());
  through.SetState(attempt.state);
  for (int n = 0; n < 10; ++n) ASSERT_TRUE(through.Step(attempt.commands));
  State middle, ends[2];
  through.GetState(middle);
  through.Restart(0);
  again.SetState(middle, 10);
  World* const worlds[] = {&through, &again};
  for (int w = 0; w < 2; ++w) {
    for (int n = 0; n < 10; ++n) ASSERT_TRUE(worlds[w]->Step(attempt.commands));
    worlds[w]->GetState(ends[w]);
  }
  EXPECT_EQ(std::memcmp(ends[0].data(), ends[1].data(), ends[0].size() * sizeof(ends[0][0])), 0);
}

/// An arm whose motor is weaker than its weight falls with the torque that the motor has.
TEST(LimitsOfTorques, AWeakMotorLetsTheArmFallAsItsTorqueAllows) {
  for (const char* const type : {"hinge", "ball"}) {
    for (const Servo servo : {Servo::kImplicit, Servo::kExplicit}) {
      Character character = ArmOnPost(type, 5000, 50);
      constexpr double kTorque = 3;  // the weight's is 5.9
      character.joints[0].effort.z() = kTorque;
      WorldOptions options;
      options.servo = servo;
      options.time_step = 1e-4;
      World world(character, options);
      world.set_recording(true);
      world.SetState(StateOf(character, RestPose(character)));
      State state;
      double rate = 0, angle = 0;
      const std::vector<JointCommand> targets(1);
      const double inertia = kArmInertia + kArmMass * kArmDistance * kArmDistance;
      for (int n = 0; n < 1000; ++n) {
        ASSERT_TRUE(world.Step(targets));
        if (n < 100) {  // its error grows until the motor is at its limit
          world.GetState(state);
          rate = -state[1].angular_velocity.z();
          const Vec3 along = state[0].orientation.conjugate() * (state[1].orientation * Vec3::UnitX());
          angle = -std::atan2(along.y(), along.x());
          continue;
        }
        rate += options.time_step * (kArmMass * kStandardGravity * kArmDistance * std::cos(angle) - kTorque) / inertia;
        angle += options.time_step * rate;
        ASSERT_EQ(world.torques()[0].z(), kTorque) << type;
      }
      world.GetState(state);
      EXPECT_NEAR(-state[1].angular_velocity.z(), rate, 0.02 * rate) << type;
    }
  }
}

TEST(LimitsOfTorques, AServoThatIsOffHasNoTorqueAndItsCommandIsLimited) {
  Character character = ArmOnPost("ball", 50, 5);
  character.joints[0].effort = Vec3(0, 2, 3);
  for (const Solver solver : {Solver::kReduced, Solver::kStock}) {
    World world(character, WithSolver(solver));
    world.set_recording(true);
    world.SetState(StateOf(character, RestPose(character)));
    std::vector<JointCommand> commands(1);
    commands[0].gain = 0;
    commands[0].torque = Vec3(0.5, -9, 7);
    ASSERT_TRUE(world.Step(commands));
    EXPECT_EQ(world.torques()[0], Vec3(0.5, -2, 3));
  }
}

}  // namespace
}  // namespace retrace::simulation
