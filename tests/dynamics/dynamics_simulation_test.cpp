/// Dynamics in generalized coordinates against the simulator, which steps the bodies themselves: in flight, pushed, and
/// in contact. The simulator changes velocities by what acts at the start of a step; the velocities before it belong to
/// the joints as they were a step earlier. Accelerations from two of its states therefore differ from those of the
/// equations of motion by the order of the step.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "dynamics/sample_motion.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/simulation/world.h"
#include "simulation/sample_characters.h"

namespace retrace::dynamics {
namespace {

using character::Character;
using character::State;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using simulation::JointCommand;
using simulation::World;
using simulation::WorldOptions;

/// Joints that correct nothing: then forces alone change velocities.
WorldOptions Options(double time_step) {
  WorldOptions options;
  options.time_step = time_step;
  options.joint_correction = 0;
  return options;
}

/// A pose that a body can have, and a motion of it.
Motion ModerateMotion(const Coordinates& coordinates, uint32_t number) {
  const Character& character = coordinates.character();
  RandomStream random(5, RandomStage::kTest, number, 0);
  Motion motion;
  motion.pose = character::RestPose(character);
  motion.pose.root_position.y() += 3;
  motion.velocity = AnyVector(random, coordinates.size(), 2);
  VectorXd turn = AnyVector(random, coordinates.size(), 0.4);
  coordinates.Advance(turn, motion.pose);
  coordinates.StateOf(motion.pose, motion.velocity, motion.state);
  return motion;
}

/// Torques alone, or servos that pull at the rest pose beside them.
std::vector<JointCommand> Commands(const Character& character, RandomStream& random, double gain) {
  std::vector<JointCommand> commands(character.joints.size());
  for (JointCommand& command : commands) {
    command.torque = character::RandomVector(random, 1);
    command.gain = gain;
  }
  return commands;
}

/// Generalized forces of joint torques, as a world has them.
VectorXd ForcesOf(const Coordinates& coordinates, const std::vector<Vec3>& torques) {
  VectorXd forces = VectorXd::Zero(coordinates.size());
  for (size_t j = 0; j < torques.size(); ++j) {
    const character::Joint& joint = coordinates.character().joints[j];
    int place = coordinates.FirstOf(static_cast<int>(j));
    for (int a = 0; a < 3; ++a) {
      if (joint.UsesAxis(a)) forces[place++] = torques[j][a];
    }
  }
  return forces;
}

/// Of one comparison of accelerations.
struct Comparison {
  double error = 0;     // the largest difference, beside the largest acceleration
  size_t contacts = 0;  // points that carried force
};

/// The acceleration in the second of two steps, from two states of the world and from forward dynamics with the torques
/// and contact forces that the world says have acted.
Comparison Compare(CharacterDynamics& dynamics, const State& start, const WorldOptions& options, double gain) {
  const Character& character = dynamics.coordinates().character();
  RandomStream random(8, RandomStage::kTest, 0, 0);
  const std::vector<JointCommand> commands = Commands(character, random, gain);
  World world(character, options);
  world.set_recording(true);
  world.SetState(start);
  State state;
  EXPECT_TRUE(world.Step(commands));
  world.GetState(state);
  dynamics.SetMotion(state);
  const int n = dynamics.size();
  VectorXd before(n), after(n), expected(n);
  dynamics.coordinates().VelocityOf(state, before);
  EXPECT_TRUE(world.Step(commands));
  world.GetState(state);
  dynamics.coordinates().VelocityOf(state, after);
  std::vector<Wrench> wrenches(character.bodies.size());
  Comparison comparison;
  for (const simulation::Contact& contact : world.contacts()) {
    comparison.contacts += contact.force.norm() > 0;
    dynamics.AddForce(contact.body, contact.point, contact.force, wrenches);
    if (contact.other >= 0) dynamics.AddForce(contact.other, contact.point, -contact.force, wrenches);
  }
  dynamics.ForwardDynamics(ForcesOf(dynamics.coordinates(), world.torques()), wrenches, expected);
  comparison.error =
      ((after - before) / options.time_step - expected).cwiseAbs().maxCoeff() / (1 + expected.cwiseAbs().maxCoeff());
  return comparison;
}

TEST(DynamicsOfTheSimulator, FlightHasTheAccelerationsOfForwardDynamics) {
  for (const char* name : {"human", "quadruped", "asimo", "oblique", "rotors"}) {
    CharacterDynamics dynamics(Bundled(name), WorldOptions().gravity);
    for (uint32_t number = 0; number < 3; ++number) {
      const State start = ModerateMotion(dynamics.coordinates(), number).state;
      double errors[3];
      for (int k = 0; k < 3; ++k) {
        WorldOptions options = Options(1e-4 / (1 << k));
        options.self_collision = false;
        const Comparison comparison = Compare(dynamics, start, options, 0);
        EXPECT_EQ(comparison.contacts, 0u);
        errors[k] = comparison.error;
      }
      EXPECT_LT(errors[0], 3e-3) << name;
      EXPECT_NEAR(errors[0] / errors[1], 2, 0.2) << name;  // half the step, half the error
      EXPECT_NEAR(errors[1] / errors[2], 2, 0.1) << name;
    }
  }
}

/// What a motion required is found from its states alone: no joint had more than its largest torque.
TEST(DynamicsOfTheSimulator, InverseDynamicsFindsNoTorqueBeyondALimit) {
  Character human = Bundled("human");
  for (size_t j = 0; j < human.joints.size(); ++j) human.joints[j].effort = Vec3::Constant(j % 2 == 0 ? 8 : 30);
  CharacterDynamics dynamics(human, WorldOptions().gravity);
  const int n = dynamics.size();
  VectorXd before(n), after(n), forces(n);
  size_t at_limit = 0, within = 0;
  for (uint32_t number = 0; number < 3; ++number) {
    WorldOptions options = Options(4e-6);
    options.self_collision = false;
    World world(human, options);
    world.set_recording(true);
    world.SetState(ModerateMotion(dynamics.coordinates(), number).state);
    const std::vector<JointCommand> commands(human.joints.size());  // servos that pull at the rest pose
    State state;
    for (int step = 0; step < 2; ++step) {
      world.GetState(state);
      dynamics.SetMotion(state);
      dynamics.coordinates().VelocityOf(state, before);
      ASSERT_TRUE(world.Step(commands));
    }
    world.GetState(state);
    dynamics.coordinates().VelocityOf(state, after);
    dynamics.InverseDynamics((after - before) / options.time_step, {}, forces);
    const VectorXd told = ForcesOf(dynamics.coordinates(), world.torques());
    EXPECT_LT((forces - told).cwiseAbs().maxCoeff(), 0.15) << "of torques up to 30 N m";
    for (size_t j = 0; j < human.joints.size(); ++j) {
      int place = dynamics.coordinates().FirstOf(static_cast<int>(j));
      for (int a = 0; a < 3; ++a) {
        if (!human.joints[j].UsesAxis(a)) continue;
        const double limit = human.joints[j].effort[a], found = std::abs(forces[place++]);
        EXPECT_LT(found, limit + 0.15) << human.joints[j].name;
        ++(found > limit - 0.15 ? at_limit : within);
      }
    }
  }
  EXPECT_GT(at_limit, 30u);
  EXPECT_GT(within, 30u);
}

TEST(DynamicsOfTheSimulator, ServosAndContactsActAsTheTorquesAndForcesThatItReports) {
  const Character& human = Bundled("human");
  CharacterDynamics dynamics(human, WorldOptions().gravity);
  size_t contacts = 0;
  for (const simulation::Scene& scene : simulation::Scenes(human)) {
    if (scene.name == "air") continue;
    State start = scene.start;
    double lowest = 1e9;
    for (size_t b = 0; b < start.size(); ++b) {
      lowest = std::min(lowest, character::LowestPoint(human.bodies[b], start[b]));
    }
    character::Translate(start, Vec3(0, -0.002 - lowest, 0));
    RandomStream random(2, RandomStage::kTest, 0, 0);
    VectorXd velocity(dynamics.size());
    character::Pose pose;
    dynamics.coordinates().PoseOf(start, pose);
    dynamics.coordinates().VelocityOf(start, velocity);
    velocity += AnyVector(random, dynamics.size(), 1);
    dynamics.coordinates().StateOf(pose, velocity, start);
    const Comparison coarse = Compare(dynamics, start, Options(1e-3), 1);
    const Comparison fine = Compare(dynamics, start, Options(1e-3 / 8), 1);
    EXPECT_LT(coarse.error, 0.02) << scene.name;
    // What the contacts have made of the speeds depends on the step, too.
    EXPECT_LT(fine.error, coarse.error / 4) << scene.name;
    contacts += coarse.contacts + fine.contacts;
    std::printf("%s: error %.2g, of an eighth of the step %.2g; %zu and %zu contacts\n", scene.name.c_str(),
                coarse.error, fine.error, coarse.contacts, fine.contacts);
  }
  EXPECT_GT(contacts, 10u);
}

TEST(DynamicsOfTheSimulator, BodiesRespondToAForceByTheInverseOfTheMassMatrix) {
  for (const char* name : kCharacters) {
    const Character& character = Bundled(name);
    const WorldOptions options = Options(1.0 / 240);
    CharacterDynamics dynamics(character, options.gravity);
    const int n = dynamics.size();
    const Motion motion = ModerateMotion(dynamics.coordinates(), 1);
    std::vector<JointCommand> commands(character.joints.size());
    for (JointCommand& command : commands) command.gain = 0;
    dynamics.SetMotion(motion.pose, motion.velocity);
    MatrixXd mass(n, n), jacobian(3, n);
    dynamics.MassMatrix(mass);
    const Eigen::LLT<MatrixXd> factor(mass);
    World world(character, options);
    State without, with;
    world.SetState(motion.state);
    ASSERT_TRUE(world.Step(commands));
    world.GetState(without);
    const Vec3 force(30, -20, 10);
    for (size_t pushed = 0; pushed < character.bodies.size(); ++pushed) {
      world.SetState(motion.state);
      world.ApplyForce(static_cast<int>(pushed), force);
      ASSERT_TRUE(world.Step(commands));
      world.GetState(with);
      dynamics.PointJacobian(static_cast<int>(pushed), motion.state[pushed].position, jacobian);
      const VectorXd response = factor.solve(jacobian.transpose() * force) * options.time_step;
      for (size_t b = 0; b < character.bodies.size(); ++b) {
        dynamics.PointJacobian(static_cast<int>(b), motion.state[b].position, jacobian);
        const Vec3 linear = with[b].linear_velocity - without[b].linear_velocity;
        EXPECT_LT((linear - jacobian * response).norm(), 1e-9 * (1 + linear.norm())) << name << pushed << " " << b;
        dynamics.AngularJacobian(static_cast<int>(b), jacobian);
        const Vec3 angular = with[b].angular_velocity - without[b].angular_velocity;
        EXPECT_LT((angular - jacobian * response).norm(), 1e-9 * (1 + angular.norm())) << name << pushed << " " << b;
      }
    }
  }
}

}  // namespace
}  // namespace retrace::dynamics
