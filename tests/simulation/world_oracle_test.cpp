/// The world against mechanics: closed forms, conservation laws, and a second integrator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "retrace/simulation/solver_proof.h"
#include "retrace/simulation/world.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

using character::Character;
using character::State;

WorldOptions Explicit() {
  WorldOptions options;
  options.servo = Servo::kExplicit;
  options.time_step = 0.0005;
  return options;
}

const char* Name(Servo servo) {
  return servo == Servo::kImplicit ? "Implicit" : "Explicit";
}

class BothServos : public testing::TestWithParam<Servo> {
 protected:
  static WorldOptions Options() { return GetParam() == Servo::kImplicit ? WorldOptions() : Explicit(); }
};
INSTANTIATE_TEST_SUITE_P(World, BothServos, testing::Values(Servo::kImplicit, Servo::kExplicit),
                         [](const auto& test) { return Name(test.param); });

Vec3 SumOfGroundForces(const World& world) {
  Vec3 sum = Vec3::Zero();
  for (const Contact& contact : world.contacts()) {
    if (contact.other < 0) sum += contact.force;
  }
  return sum;
}

// ---- free flight

TEST_P(BothServos, FreeFallIsAParabola) {
  const Character block = Block();
  World world(block, Options());
  const double h = world.options().time_step;
  State state = StateOf(block, RestPose(block));
  state[0].position = Vec3(1, 50, -2);
  state[0].linear_velocity = Vec3(0.5, 2, -1);
  const State start = state;
  world.SetState(state);
  for (int n = 1; n <= 240; ++n) {
    ASSERT_TRUE(world.Step({}));
    world.GetState(state);
    // Symplectic Euler: the speed is exact, and the path is late by g h t / 2.
    const double t = n * h;
    const Vec3 position =
        start[0].position + t * start[0].linear_velocity - Vec3(0, 0.5 * kStandardGravity * t * (t + h), 0);
    ASSERT_LT((state[0].position - position).norm(), 1e-11);
    ASSERT_LT((state[0].linear_velocity - start[0].linear_velocity + Vec3(0, kStandardGravity * t, 0)).norm(), 1e-11);
  }
}

TEST_P(BothServos, CenterOfMassOfAFlyingHumanIsAParabolaWhateverTheMusclesDo) {
  const Character human = Human();
  World world(human, Options());
  const double h = world.options().time_step;
  State state = Scenes(human)[3].start;
  const Vec3 center = CenterOfMass(human, state);
  const Vec3 velocity = CenterOfMassVelocity(human, state);
  world.SetState(state);
  for (int n = 1; n * h <= 0.5; ++n) {
    const double t = n * h;
    ASSERT_TRUE(world.Step(SwayingTargets(human, t, 0.5)));
    world.GetState(state);
    ASSERT_LT(
        (CenterOfMass(human, state) - center - t * velocity + Vec3(0, 0.5 * kStandardGravity * t * (t + h), 0)).norm(),
        1e-9);
  }
}

TEST_P(BothServos, AForceFromOutsideChangesTheMomentumByForceTimesTime) {
  const Character human = Human();
  const Vec3 force(300, -40, 120);
  for (const Solver solver : {Solver::kReduced, Solver::kStock}) {
    WorldOptions options = Options();
    options.solver = solver;
    World world(human, options);
    const double h = options.time_step;
    State state = Scenes(human)[3].start;
    const Vec3 velocity = CenterOfMassVelocity(human, state);
    world.SetState(state);
    for (int n = 1; n <= 40; ++n) {
      if (n >= 11 && n < 31) world.ApplyForce(human.FindBody("left_hand"), force);
      ASSERT_TRUE(world.Step(SwayingTargets(human, n * h, 0.5)));
      world.GetState(state);
      const Vec3 impulse = std::clamp(n - 10, 0, 20) * h * force;
      const Vec3 expected = velocity - Vec3(0, kStandardGravity * n * h, 0) + impulse / human.total_mass();
      ASSERT_LT((CenterOfMassVelocity(human, state) - expected).norm(), 1e-8) << n;
    }
  }
}

TEST_P(BothServos, AForceFromOutsideActsAtTheCenterOfMassAndAgainstFriction) {
  const Character block = Block();
  World world(block, Options());
  const double h = world.options().time_step;
  State state = StateOf(block, RestPose(block));
  world.SetState(state);
  const double friction = world.options().friction * 2 * kStandardGravity;
  const Vec3 weak(0.9 * friction, 0, 0);
  for (int n = 0; n < 50; ++n) {
    world.ApplyForce(0, weak);
    ASSERT_TRUE(world.Step({}));
  }
  world.GetState(state);
  EXPECT_LT(state[0].linear_velocity.norm(), 1e-3) << "held by friction";
  // In the air the same force gives no spin.
  state = StateOf(block, RestPose(block));
  state[0].position.y() = 5;
  world.SetState(state);
  for (int n = 0; n < 50; ++n) {
    world.ApplyForce(0, weak);
    ASSERT_TRUE(world.Step({}));
  }
  world.GetState(state);
  EXPECT_NEAR(state[0].linear_velocity.x(), 50 * h * 0.9 * friction / 2, 1e-9);
  EXPECT_LT(state[0].angular_velocity.norm(), 1e-12);
}

TEST(World, RefusesAForceOnABodyThatItDoesNotHave) {
  const Character human = Human();
  World world(human, {});
  for (const int body : {-1, static_cast<int>(human.bodies.size())}) {
    EXPECT_THROW(world.ApplyForce(body, Vec3(1, 0, 0)), std::invalid_argument);
  }
}

/// Change of the angular momentum of the flying human over 0.25 s, as a share of it.
double AngularMomentumDrift(WorldOptions options) {
  const Character human = Human();
  options.self_collision = false;  // the scene must be the same for every step
  World world(human, options);
  State state = Scenes(human)[3].start;
  const Vec3 before = AngularMomentum(human, state);
  world.SetState(state);
  const int steps = static_cast<int>(std::lround(0.25 / options.time_step));
  for (int n = 1; n <= steps; ++n) {
    EXPECT_TRUE(world.Step(SwayingTargets(human, n * options.time_step, 0.5)));
  }
  world.GetState(state);
  return (AngularMomentum(human, state) - before).norm() / before.norm();
}

TEST(World, AngularMomentumInFlightIsConservedToTheOrderOfTheIntegrator) {
  std::vector<double> drifts;
  for (const double steps_per_second : {240, 480, 960}) {
    WorldOptions options;
    options.time_step = 1 / steps_per_second;
    drifts.push_back(AngularMomentumDrift(options));
  }
  EXPECT_LT(drifts[0], 0.02);
  // First order: half the step, half the error.
  EXPECT_NEAR(drifts[0] / drifts[1], 2, 0.4);
  EXPECT_NEAR(drifts[1] / drifts[2], 2, 0.4);
}

// ---- one joint

double ArmAngle(const Character& character, const State& state) {
  return RotationVector(character::JointRotation(character.joints[0], state)).z();
}

TEST_P(BothServos, FreeArmSwingsWithThePeriodOfAPendulum) {
  const Character character = ArmOnPost("hinge", 1e-7, 1e-7);
  World world(character, Options());
  const double h = world.options().time_step;
  constexpr double kAmplitude = 0.2;
  character::Pose pose = RestPose(character);
  pose.joint_rotations[0] = AxisRotation(2, -kPi / 2 + kAmplitude);
  State state = StateOf(character, pose);
  world.SetState(state);
  const std::vector<JointCommand> targets = RestTargets(character);
  std::vector<double> crossings;  // of the vertical, downwards from the side where it was let go
  double before = kAmplitude;
  for (int n = 1; crossings.size() < 4; ++n) {
    ASSERT_LT(n, 20000);
    ASSERT_TRUE(world.Step(targets));
    world.GetState(state);
    const double angle = ArmAngle(character, state) + kPi / 2;
    if (before > 0 && angle <= 0) crossings.push_back(h * (n - angle / (angle - before)));
    before = angle;
  }
  const double inertia = kArmInertia + kArmMass * kArmDistance * kArmDistance;
  const double small = 2 * kPi * std::sqrt(inertia / (kArmMass * kStandardGravity * kArmDistance));
  const double a2 = kAmplitude * kAmplitude;
  const double period = small * (1 + a2 / 16 + 11 * a2 * a2 / 3072);
  EXPECT_NEAR((crossings[3] - crossings[0]) / 3, period, 5e-4 * period);
}

class Arm : public testing::TestWithParam<std::tuple<const char*, Servo>> {};
INSTANTIATE_TEST_SUITE_P(
    World, Arm, testing::Combine(testing::Values("hinge", "ball"), testing::Values(Servo::kImplicit, Servo::kExplicit)),
    [](const auto& test) { return std::string(std::get<0>(test.param)) + Name(std::get<1>(test.param)); });

TEST_P(Arm, IsHeldWithTheErrorThatTheServoNeedsToCarryIt) {
  const auto& [type, servo] = GetParam();
  constexpr double kStiffness = 50;
  const Character character = ArmOnPost(type, kStiffness, 8);
  World world(character, servo == Servo::kImplicit ? WorldOptions() : Explicit());
  world.set_recording(true);
  State state = StateOf(character, RestPose(character));
  world.SetState(state);
  const std::vector<JointCommand> targets = RestTargets(character);
  for (int n = 0; n * world.options().time_step < 6; ++n) ASSERT_TRUE(world.Step(targets));
  world.GetState(state);
  EXPECT_LT(state[1].angular_velocity.norm(), 1e-6);
  const Vec3 arm = state[1].position - character::JointPosition(character, character.joints[0], state);
  const double gravity_torque = kArmMass * kStandardGravity * arm.x();
  EXPECT_NEAR(gravity_torque, kArmMass * kStandardGravity * kArmDistance, 0.1);
  const double error = -ArmAngle(character, state);
  EXPECT_NEAR(error, gravity_torque / kStiffness, 1e-5);
  EXPECT_NEAR(world.torques()[0].z(), gravity_torque, 1e-4 * gravity_torque);
  EXPECT_LT(std::hypot(world.torques()[0].x(), world.torques()[0].y()), 1e-4);
}

TEST_P(Arm, ReportsTheTorqueOfTheServoLawWhileItMoves) {
  const auto& [type, servo] = GetParam();
  const Character character = ArmOnPost(type, 50, 8);
  const character::Joint& joint = character.joints[0];
  World world(character, servo == Servo::kImplicit ? WorldOptions() : Explicit());
  const double h = world.options().time_step;
  world.set_recording(true);
  State state = StateOf(character, RestPose(character));
  world.SetState(state);
  const std::vector<JointCommand> targets = {{AxisRotation(2, 0.6)}};
  const auto rate = [&](const State& s) {
    return s[0].orientation.conjugate() * Vec3(s[1].angular_velocity - s[0].angular_velocity);
  };
  for (int n = 0; n * h < 0.4; ++n) {
    State after;
    ASSERT_TRUE(world.Step(targets));
    world.GetState(after);
    const Vec3 error = RotationVector(targets[0].target * character::JointRotation(joint, state).conjugate());
    // Implicit: the torque that the error and the rate at the end of the step would give, the error in first order.
    const Vec3 torque = servo == Servo::kImplicit ? Vec3(joint.kp * (error - h * rate(after)) - joint.kd * rate(after))
                                                  : Vec3(joint.kp * error - joint.kd * rate(state));
    ASSERT_NEAR(world.torques()[0].z(), torque.z(), 1e-3) << "step " << n;
    state = after;
  }
}

// ---- ground contact

TEST_P(BothServos, ABlockComesToRestOnTheGroundWhichCarriesIt) {
  const Character block = Block();
  World world(block, Options());
  world.set_recording(true);
  State state = StateOf(block, RestPose(block));
  state[0].position.y() += 0.05;
  world.SetState(state);
  for (int n = 0; n * world.options().time_step < 1; ++n) ASSERT_TRUE(world.Step({}));
  world.GetState(state);
  EXPECT_NEAR(state[0].position.y(), 0.1, 1e-5);
  EXPECT_LT(state[0].linear_velocity.norm(), 1e-6);
  EXPECT_EQ(world.contacts().size(), 4u);
  EXPECT_LT((SumOfGroundForces(world) - Vec3(0, 2 * kStandardGravity, 0)).norm(), 1e-4);
}

TEST_P(BothServos, ASlidingBlockStopsAfterTheDistanceOfCoulombsLaw) {
  const Character block = Block();
  for (const double friction : {0.8, 0.05}) {
    WorldOptions options = Options();
    options.friction = friction;
    World world(block, options);
    State state = StateOf(block, RestPose(block));
    constexpr double kSpeed = 1;
    state[0].linear_velocity = Vec3(kSpeed, 0, 0);
    world.SetState(state);
    for (int n = 0; n * options.time_step < 2.5; ++n) ASSERT_TRUE(world.Step({}));
    world.GetState(state);
    EXPECT_NEAR(state[0].position.x(), kSpeed * kSpeed / (2 * friction * kStandardGravity),
                0.5 * kSpeed * options.time_step + 1e-3);
    EXPECT_LT(state[0].linear_velocity.norm(), 1e-6);
  }
}

/// How far a post of 3 kg moves when it swings its hanging arm of 2 kg forward and back.
double PushedAside(double friction) {
  const Character character = ArmOnPost("hinge", 40, 4, 3);
  WorldOptions options;
  options.friction = friction;
  World world(character, options);
  character::Pose pose = RestPose(character);
  pose.joint_rotations[0] = AxisRotation(2, -kPi / 2);
  State state = StateOf(character, pose);
  world.SetState(state);
  double farthest = 0;
  for (int n = 0; n < 240; ++n) {
    const std::vector<JointCommand> targets = {{AxisRotation(2, -kPi / 2 + (n < 60 ? 0.2 : 0))}};
    EXPECT_TRUE(world.Step(targets));
    world.GetState(state);
    farthest = std::max(farthest, std::abs(state[0].position.x()));
  }
  return farthest;
}

TEST(World, FrictionHoldsAPostThatIceDoesNot) {
  EXPECT_LT(PushedAside(0.8), 1e-4);
  EXPECT_GT(PushedAside(0.05), 0.01);
}

/// Straight legs, ankles as strong as for a run: the human stands of itself.
WorldOptions Standing(const Character& human) {
  WorldOptions options;
  options.contact_scale = human.contact_presets.at("flight");
  return options;
}

TEST(World, TheGroundCarriesAStandingHuman) {
  const Character human = Human();
  World world(human, Standing(human));
  world.set_recording(true);
  world.SetState(Scenes(human)[0].start);
  const std::vector<JointCommand> targets = RestTargets(human);
  const double weight = human.total_mass() * kStandardGravity;
  Vec3 mean = Vec3::Zero();
  constexpr int kSettling = 480;
  constexpr int kMeasured = 240;
  for (int n = 0; n < kSettling + kMeasured; ++n) {
    ASSERT_TRUE(world.Step(targets));
    if (n >= kSettling) mean += SumOfGroundForces(world) / kMeasured;
  }
  EXPECT_NEAR(mean.y(), weight, 0.01 * weight);
  EXPECT_LT(std::hypot(mean.x(), mean.z()), 0.01 * weight);
}

class EveryScene : public testing::TestWithParam<std::tuple<int, Servo>> {
 protected:
  EveryScene() : human_(Human()), scene_(Scenes(human_)[static_cast<size_t>(std::get<0>(GetParam()))]) {
    if (std::get<1>(GetParam()) == Servo::kExplicit) options_ = Explicit();
  }
  Character human_;
  Scene scene_;
  WorldOptions options_;
};
INSTANTIATE_TEST_SUITE_P(World, EveryScene,
                         testing::Combine(testing::Range(0, 4), testing::Values(Servo::kImplicit, Servo::kExplicit)),
                         [](const auto& test) {
                           return Scenes(Human())[static_cast<size_t>(std::get<0>(test.param))].name +
                                  Name(std::get<1>(test.param));
                         });

TEST_P(EveryScene, ForcesAreWhatChangesTheMomentum) {
  World world(human_, options_);
  world.set_recording(true);
  State state = scene_.start;
  world.SetState(state);
  const double h = options_.time_step;
  const double mass = human_.total_mass();
  for (int n = 1; n * h <= 0.5; ++n) {
    const Vec3 before = CenterOfMassVelocity(human_, state);
    ASSERT_TRUE(world.Step(SwayingTargets(human_, n * h, 0.3)));
    world.GetState(state);
    const Vec3 acceleration = (CenterOfMassVelocity(human_, state) - before) / h;
    const Vec3 expected = mass * (acceleration + Vec3(0, kStandardGravity, 0));
    ASSERT_LT((SumOfGroundForces(world) - expected).norm(), 1e-6 * mass * kStandardGravity) << "step " << n;
  }
}

/// How much of the ground's friction is more than Coulomb's law allows.
struct Friction {
  size_t forces = 0;
  size_t steps = 0;
  size_t steps_outside = 0;  // the sum of all forces is outside the pyramid
  double normal = 0;         // sums of forces [N]
  double excess = 0;
  double worst = 0;  // of one force [N]

  void Add(const World& world) {
    const double mu = world.options().friction;
    Vec3 sum = Vec3::Zero();
    for (const Contact& contact : world.contacts()) {
      if (contact.other >= 0) continue;
      const Vec3& f = contact.force;
      EXPECT_GE(f.y(), -1e-9);
      const double above = std::max(std::abs(f.x()), std::abs(f.z())) - mu * f.y();
      worst = std::max(worst, above);
      excess += std::max(0.0, above);
      normal += f.y();
      sum += f;
      ++forces;
    }
    ++steps;
    steps_outside += std::hypot(sum.x(), sum.z()) > mu * std::sqrt(2.0) * sum.y() + 1e-6;
  }
};

TEST_P(BothServos, EveryForceUnderAStandingHumanIsInTheFrictionPyramid) {
  const Character human = Human();
  World world(human, Options());
  world.set_recording(true);
  world.SetState(Scenes(human)[0].start);
  Friction friction;
  const std::vector<JointCommand> targets = RestTargets(human);
  for (int n = 0; n * world.options().time_step < 0.5; ++n) {
    ASSERT_TRUE(world.Step(targets));
    friction.Add(world);
  }
  EXPECT_GE(friction.forces, friction.steps * 8);
  EXPECT_LT(friction.worst, 1e-6);
}

// ODE takes the limits of friction from the normal forces of a first pass without friction and keeps them, also where
// the second pass then finds smaller normal forces (dContactApprox1): in violent steps single points exceed the
// pyramid.
TEST_P(EveryScene, FrictionAsAWholeKeepsToCoulombsLaw) {
  World world(human_, options_);
  world.set_recording(true);
  world.SetState(scene_.start);
  Friction friction;
  for (int n = 1; n * options_.time_step <= 0.5; ++n) {
    ASSERT_TRUE(world.Step(SwayingTargets(human_, n * options_.time_step, 0.3)));
    friction.Add(world);
  }
  EXPECT_EQ(friction.forces == 0, scene_.name == "air");
  EXPECT_LE(friction.excess, 0.1 * friction.normal);
  EXPECT_LE(static_cast<double>(friction.steps_outside), 0.05 * static_cast<double>(friction.steps));
}

// ---- two integrators

TEST(World, ImplicitAndExplicitServosAgree) {
  const Character human = Human();
  for (const Scene& scene : Scenes(human)) {
    std::vector<State> ends;
    WorldOptions fine = Explicit();
    fine.time_step = 1e-4;
    for (const WorldOptions& options : {WorldOptions(), fine}) {
      World world(human, options);
      world.SetState(scene.start);
      const int steps = static_cast<int>(std::lround(0.1 / options.time_step));
      for (int n = 1; n <= steps; ++n) {
        ASSERT_TRUE(world.Step(SwayingTargets(human, n * options.time_step, 0.3)));
      }
      world.GetState(ends.emplace_back());
    }
    double squares = 0;
    for (const auto& joint : human.joints) {
      const double angle = AngleBetween(JointRotation(joint, ends[0]), JointRotation(joint, ends[1]));
      squares += angle * angle / static_cast<double>(human.joints.size());
    }
    // Steps of a walk differ by 0.003 rad and 0.3 mm, rolls by 0.01 rad and 1 mm; these scenes are more violent.
    EXPECT_LT(std::sqrt(squares), 0.04) << scene.name;
    EXPECT_LT((CenterOfMass(human, ends[0]) - CenterOfMass(human, ends[1])).norm(), 0.01) << scene.name;
  }
}

TEST_P(EveryScene, TheReducedSolverDoesWhatTheStockSolverDoes) {
  World reduced(human_, options_);
  ASSERT_EQ(reduced.solver(), Solver::kReduced) << WhyStockSolver();
  WorldOptions stock_options = options_;
  stock_options.solver = Solver::kStock;
  World stock(human_, stock_options);
  ASSERT_EQ(stock.solver(), Solver::kStock);
  const double h = options_.time_step;
  State state = scene_.start;
  State other;
  for (int n = 1; n <= 150; ++n) {
    const std::vector<JointCommand> targets = SwayingTargets(human_, n * h, 0.3);
    reduced.SetState(state);
    stock.SetState(state);
    ASSERT_TRUE(reduced.Step(targets));
    ASSERT_TRUE(stock.Step(targets));
    reduced.GetState(state);
    stock.GetState(other);
    for (size_t b = 0; b < state.size(); ++b) {
      ASSERT_LT((state[b].position - other[b].position).norm(), 1e-9) << scene_.name << " step " << n;
      ASSERT_LT(AngleBetween(state[b].orientation, other[b].orientation), 1e-7) << scene_.name << " step " << n;
      ASSERT_LT((state[b].linear_velocity - other[b].linear_velocity).norm() * h, 1e-9) << scene_.name << " step " << n;
      ASSERT_LT((state[b].angular_velocity - other[b].angular_velocity).norm() * h, 1e-9)
          << scene_.name << " step " << n;
    }
  }
}

}  // namespace
}  // namespace retrace::simulation
