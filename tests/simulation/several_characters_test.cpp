/// Worlds of several characters, and forces and torques on all of their bodies.
#include <gtest/gtest.h>

#include <array>

#include "retrace/simulation/world.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

using character::Character;
using character::State;

State Moved(State state, const Vec3& offset) {
  for (character::BodyState& body : state) body.position += offset;
  return state;
}

State Joined(const State& a, const State& b) {
  State both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

std::vector<JointCommand> Joined(const std::vector<JointCommand>& a, const std::vector<JointCommand>& b) {
  std::vector<JointCommand> both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

class BothSolvers : public testing::TestWithParam<Solver> {};
INSTANTIATE_TEST_SUITE_P(World, BothSolvers, testing::Values(Solver::kReduced, Solver::kStock),
                         [](const auto& test) { return test.param == Solver::kReduced ? "Reduced" : "Stock"; });

/// A crate of 4 kg, three meters beside the origin.
FreeBody Crate(double height) {
  FreeBody crate;
  crate.name = "crate";
  crate.shape.size = Vec3::Constant(0.3);
  crate.mass = 4;
  crate.position = Vec3(3, height, 0);
  return crate;
}

/// All combinations of the solvers and the servos.
struct Variant {
  Solver solver;
  Servo servo;
  double time_step;
};
constexpr std::array<Variant, 4> kVariants = {{{Solver::kReduced, Servo::kImplicit, 1.0 / 240},
                                               {Solver::kReduced, Servo::kExplicit, 0.0005},
                                               {Solver::kStock, Servo::kImplicit, 1.0 / 240},
                                               {Solver::kStock, Servo::kExplicit, 0.0005}}};

WorldOptions OptionsOf(const Variant& variant) {
  WorldOptions options;
  options.solver = variant.solver;
  options.servo = variant.servo;
  options.time_step = variant.time_step;
  return options;
}

TEST(Layout, CountsCharactersThenFreeBodies) {
  const Character human = Human();
  const Character block = Block();
  Environment environment;
  environment.bodies.resize(2);
  const std::vector<const Character*> characters = {&human, &block, &human};
  const Layout layout(characters, environment);
  const int bodies = static_cast<int>(human.bodies.size());
  const int joints = static_cast<int>(human.joints.size());
  EXPECT_EQ(layout.num_bodies(), 2 * human.bodies.size() + 3);
  EXPECT_EQ(layout.num_joints(), 2 * human.joints.size());
  EXPECT_EQ(layout.BodyOf(1, 0), bodies);
  EXPECT_EQ(layout.BodyOf(2, 3), bodies + 4);
  EXPECT_EQ(layout.JointOf(2, 1), joints + 1);
  EXPECT_EQ(layout.FreeBody(1), 2 * bodies + 2);
  for (const size_t c : {0u, 1u, 2u}) {
    const int body = layout.BodyOf(c, 0);
    EXPECT_EQ(layout.CharacterOf(body), c);
    EXPECT_EQ(layout.LocalBody(body), 0);
    EXPECT_FALSE(layout.IsFree(body));
  }
  EXPECT_TRUE(layout.IsFree(layout.FreeBody(0)));
  EXPECT_EQ(layout.FreeIndexOf(layout.FreeBody(1)), 1u);
}

/// Two humans who fall, curl up and lie, five meters apart.
TEST_P(BothSolvers, CharactersThatDoNotTouchMoveWithTheBytesOfEachAlone) {
  const Character human = Human();
  WorldOptions options;
  options.solver = GetParam();
  const State first = Scenes(human)[1].start;
  const State second = Moved(Scenes(human)[2].start, Vec3(5, 0, 1));
  const std::vector<const Character*> both = {&human, &human};
  World together(both, options), alone(human, options), alone_too(human, options);
  together.SetState(Joined(first, second));
  alone.SetState(first);
  alone_too.SetState(second);
  State state;
  State expected;
  const int steps = GetParam() == Solver::kReduced ? 240 : 60;
  for (int n = 0; n < steps; ++n) {
    const double time = n * options.time_step;
    if (n % 24 == 12) {  // each in its own rhythm
      together.Restart(0);
      alone.Restart(0);
    }
    if (n % 24 == 20) {
      together.Restart(1);
      alone_too.Restart(0);
    }
    const std::vector<JointCommand> a = SwayingTargets(human, time, 0.4);
    const std::vector<JointCommand> b = SwayingTargets(human, time + 0.7, 0.3);
    ASSERT_TRUE(together.Step(Joined(a, b)));
    ASSERT_TRUE(alone.Step(a));
    ASSERT_TRUE(alone_too.Step(b));
    together.GetState(state);
    alone.GetState(expected);
    ASSERT_TRUE(SameBits(together.layout().StateOf(state, 0), expected)) << n;
    alone_too.GetState(expected);
    ASSERT_TRUE(SameBits(together.layout().StateOf(state, 1), expected)) << n;
    EXPECT_EQ(together.contacts().size(), alone.contacts().size() + alone_too.contacts().size());
  }
}

TEST(World, RestartIsTheSameAsRestoringTheState) {
  const Character human = Human();
  World world(human, {}), other(human, {});
  State state = Scenes(human)[2].start;
  world.SetState(state);
  other.SetState(state);
  for (int n = 0; n < 120; ++n) {
    if (n % 20 == 10) {
      world.Restart(0);
      other.GetState(state);
      other.SetState(state, n);
    }
    const std::vector<JointCommand> commands = SwayingTargets(human, n / 240.0, 0.5);
    ASSERT_TRUE(world.Step(commands));
    ASSERT_TRUE(other.Step(commands));
    State a, b;
    world.GetState(a);
    other.GetState(b);
    ASSERT_TRUE(SameBits(a, b)) << n;
  }
}

/// Two blocks that fly into one another: momentum is kept, they do not pass through, and the force is named.
TEST_P(BothSolvers, CharactersCollide) {
  const Character block = Block();
  WorldOptions options;
  options.solver = GetParam();
  options.gravity = 0;
  const std::vector<const Character*> both = {&block, &block};
  World world(both, options);
  world.set_recording(true);
  State state = Joined(StateOf(block, RestPose(block)), StateOf(block, RestPose(block)));
  state[0].position = Vec3(-0.5, 3, 0);
  state[1].position = Vec3(0.5, 3, 0);
  state[0].linear_velocity = Vec3(2, 0, 0);
  state[1].linear_velocity = Vec3(-1, 0, 0);
  world.SetState(state);
  bool touched = false;
  for (int n = 0; n < 120; ++n) {
    ASSERT_TRUE(world.Step({}));
    world.GetState(state);
    EXPECT_NEAR((state[0].linear_velocity + state[1].linear_velocity).x(), 1, 1e-9);
    EXPECT_GT(state[1].position.x() - state[0].position.x(), 0.38) << "deep in one another";
    for (const Contact& contact : world.contacts()) {
      touched = true;
      EXPECT_EQ(contact.body, 0);
      EXPECT_EQ(contact.other, 1);
      EXPECT_EQ(contact.object, -1);
    }
  }
  EXPECT_TRUE(touched);
  EXPECT_LE(state[0].linear_velocity.x(), state[1].linear_velocity.x() + 1e-9) << "they still approach";
}

TEST_P(BothSolvers, AFreeBodyIsPushedByForceTimesTime) {
  const Character block = Block();
  WorldOptions options;
  options.solver = GetParam();
  options.gravity = 0;
  const FreeBody crate = Crate(2);
  options.environment.bodies = {crate};
  World world(block, options);
  State state = StateOf(block, RestPose(block));
  world.SetState(state);
  const Vec3 force(10, -3, 4);
  for (int n = 0; n < 60; ++n) {
    if (n < 24) world.ApplyForce(world.layout().FreeBody(0), force);
    ASSERT_TRUE(world.Step({}));
  }
  world.GetState(state);
  EXPECT_LT((state[1].linear_velocity - 24 * options.time_step / crate.mass * force).norm(), 1e-12);
  EXPECT_LT(state[0].linear_velocity.norm(), 1e-9) << "the block is pushed by nobody";
}

TEST_P(BothSolvers, AForceWakesABodyAtRest) {
  const Character block = Block();
  WorldOptions options;
  options.solver = GetParam();
  const FreeBody crate = Crate(0.15);
  options.environment.bodies = {crate};
  World world(block, options);
  State state = StateOf(block, RestPose(block));
  world.SetState(state);
  for (int n = 0; n < 10; ++n) ASSERT_TRUE(world.Step({}));
  world.GetState(state);
  ASSERT_EQ(state[1].position, crate.position) << "it rests";
  for (int n = 0; n < 60; ++n) {
    world.ApplyForce(world.layout().FreeBody(0), Vec3(80, 0, 0));  // friction holds 31 N
    ASSERT_TRUE(world.Step({}));
  }
  world.GetState(state);
  const double expected = (80 - options.friction * 4 * 9.81) / 4 * 60 * options.time_step;
  EXPECT_NEAR(state[1].linear_velocity.x(), expected, 0.05 * expected);
}

// ---- torques

/// The servo is off: the arm turns under the torque of the command alone.
TEST(World, AFeedforwardTorqueTurnsAnArmByTorqueTimesTimeOverInertia) {
  for (const Variant& variant : kVariants) {
    for (const char* type : {"hinge", "ball"}) {
      const Character arm = ArmOnPost(type, 100, 10);
      WorldOptions options = OptionsOf(variant);
      options.gravity = 0;
      World world(arm, options);
      State state = StateOf(arm, RestPose(arm));
      world.SetState(state);
      JointCommand command;
      command.gain = 0;
      command.torque = Vec3(type[0] == 'h' ? 5 : 0, type[0] == 'h' ? -7 : 0, 3);  // a hinge takes z alone
      const double inertia = kArmInertia + kArmMass * kArmDistance * kArmDistance;
      const int steps = static_cast<int>(std::lround(0.05 / options.time_step));
      for (int n = 0; n < steps; ++n) ASSERT_TRUE(world.Step({&command, 1}));
      world.GetState(state);
      const double expected = 3 / inertia * steps * options.time_step;
      EXPECT_NEAR(state[1].angular_velocity.z(), expected, 2e-3 * expected) << type;
      EXPECT_LT(state[1].angular_velocity.head<2>().norm(), 1e-3) << type;
    }
  }
}

/// In equilibrium the servo gives what the feedforward torque does not.
TEST(World, AFeedforwardTorqueTakesTheLoadOffTheServo) {
  for (const Variant& variant : kVariants) {
    const Character arm = ArmOnPost("hinge", 400, 40);
    const WorldOptions options = OptionsOf(variant);
    World world(arm, options);
    world.set_recording(true);
    const double weight = kArmMass * 9.81 * kArmDistance;
    for (const double share : {0.0, 0.5, 1.0}) {
      State state = StateOf(arm, RestPose(arm));
      world.SetState(state);
      JointCommand command;
      command.torque = Vec3(0, 0, share * weight);
      const int steps = static_cast<int>(std::lround(3 / options.time_step));
      for (int n = 0; n < steps; ++n) ASSERT_TRUE(world.Step({&command, 1}));
      world.GetState(state);
      const double sag = RotationVector(character::JointRotation(arm.joints[0], state)).z();
      // kp sag = -(weight cos sag - feedforward)
      EXPECT_NEAR(400 * sag, -(weight * std::cos(sag) - share * weight), 1e-3) << share;
      EXPECT_NEAR(world.torques()[0].z(), weight * std::cos(sag), 2e-2) << "servo and feedforward together";
    }
  }
}

TEST(World, TheGainOfACommandScalesTheServo) {
  for (const Variant& variant : kVariants) {
    const WorldOptions options = OptionsOf(variant);
    const Character weak = ArmOnPost("ball", 100, 2);
    const Character strong = ArmOnPost("ball", 250, 5);
    World scaled(weak, options), other(strong, options);
    const State start = StateOf(weak, RestPose(weak));
    scaled.SetState(start);
    other.SetState(start);
    JointCommand command;
    command.target = FromRotationVector(Vec3(0.2, -0.3, 0.4));
    State a, b;
    const int steps = static_cast<int>(std::lround(0.25 / options.time_step));
    for (int n = 0; n < steps; ++n) {
      command.gain = 2.5;
      ASSERT_TRUE(scaled.Step({&command, 1}));
      command.gain = 1;
      ASSERT_TRUE(other.Step({&command, 1}));
    }
    scaled.GetState(a);
    other.GetState(b);
    EXPECT_LT((a[1].angular_velocity - b[1].angular_velocity).norm(), 1e-9);
    EXPECT_LT((a[1].position - b[1].position).norm(), 1e-9);
  }
}

/// Random torques in all joints of a human that falls onto the floor: the two solvers agree.
TEST(World, TorquesActAlikeInBothSolvers) {
  const Character human = Human();
  for (const Servo servo : {Servo::kImplicit, Servo::kExplicit}) {
    WorldOptions options;
    options.servo = servo;
    if (servo == Servo::kExplicit) options.time_step = 0.0005;
    WorldOptions stock_options = options;
    stock_options.solver = Solver::kStock;
    World reduced(human, options), stock(human, stock_options);
    ASSERT_EQ(reduced.solver(), Solver::kReduced);
    State state = Scenes(human)[2].start;
    for (int n = 0; n < 40; ++n) {
      std::vector<JointCommand> commands = SwayingTargets(human, n * options.time_step, 0.3);
      for (size_t j = 0; j < commands.size(); ++j) {
        commands[j].torque = 8 * Vec3(std::sin(n + 1.0 * static_cast<double>(j)), std::cos(2.0 * n), 0.5);
        commands[j].gain = j % 3 == 0 ? 0.5 : 1;
      }
      reduced.SetState(state);
      stock.SetState(state);
      ASSERT_TRUE(reduced.Step(commands));
      ASSERT_TRUE(stock.Step(commands));
      State expected;
      reduced.GetState(state);
      stock.GetState(expected);
      for (size_t b = 0; b < state.size(); ++b) {
        EXPECT_LT((state[b].linear_velocity - expected[b].linear_velocity).norm(), 1e-6) << n << " " << b;
        EXPECT_LT((state[b].angular_velocity - expected[b].angular_velocity).norm(), 1e-5) << n << " " << b;
      }
    }
  }
}

}  // namespace
}  // namespace retrace::simulation
