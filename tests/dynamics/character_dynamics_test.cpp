/// Dynamics in generalized coordinates against closed forms, against the laws of motion of each body with derivatives
/// by differences, and against itself along other ways.
#include "retrace/dynamics/character_dynamics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Dense>

#include "dynamics/sample_motion.h"
#include "math/any_stream.h"
#include "simulation/sample_characters.h"

namespace retrace::dynamics {
namespace {

using character::Character;
using character::Pose;
using character::State;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double Largest(const Eigen::Ref<const MatrixXd>& matrix) {
  return matrix.cwiseAbs().maxCoeff();
}

MatrixXd MassMatrixOf(const CharacterDynamics& dynamics) {
  MatrixXd mass(dynamics.size(), dynamics.size());
  dynamics.MassMatrix(mass);
  return mass;
}

VectorXd BiasForcesOf(const CharacterDynamics& dynamics) {
  VectorXd forces(dynamics.size());
  dynamics.BiasForces(forces);
  return forces;
}

std::vector<Wrench> AnyWrenches(const Character& character, RandomStream& random) {
  std::vector<Wrench> wrenches(character.bodies.size());
  for (Wrench& wrench : wrenches) {
    wrench = {character::RandomVector(random, 50), character::RandomVector(random, 5)};
  }
  return wrenches;
}

/// Angular momentum of a body about its center of mass.
Vec3 SpinOf(const character::Body& body, const character::BodyState& state) {
  const Mat3 rotation = state.orientation.toRotationMatrix();
  return rotation * body.InertiaTensor() * rotation.transpose() * state.angular_velocity;
}

/// Velocities of all bodies, linear and angular, for a velocity of the coordinates: the columns of their Jacobians,
/// from the kinematics of bodies. (6 bodies x n)
MatrixXd JacobianOfBodies(const Coordinates& coordinates, const Pose& pose) {
  const auto bodies = static_cast<Eigen::Index>(coordinates.character().bodies.size());
  MatrixXd jacobian(6 * bodies, coordinates.size());
  State state;
  for (int k = 0; k < coordinates.size(); ++k) {
    coordinates.StateOf(pose, VectorXd::Unit(coordinates.size(), k), state);
    for (Eigen::Index b = 0; b < bodies; ++b) {
      jacobian.col(k).segment<3>(6 * b) = state[static_cast<size_t>(b)].linear_velocity;
      jacobian.col(k).segment<3>(6 * b + 3) = state[static_cast<size_t>(b)].angular_velocity;
    }
  }
  return jacobian;
}

// ---- closed forms

TEST(CharacterDynamics, ABoxSpinsByEulersEquations) {
  const Character block = simulation::Parse(
      R"({"name": "block", "mass": 2, "inertia": [0.03, 0.05, 0.04], "position": [0, 0, 0], "shapes": []})", "");
  CharacterDynamics dynamics(block, 0);
  Pose pose;
  pose.root_orientation = FromRotationVector(Vec3(0.3, -1, 0.5));
  const Mat3 rotation = pose.root_orientation.toRotationMatrix();
  const Vec3 rate(1, -2, 3), inertia(0.03, 0.05, 0.04);  // in the body's axes
  VectorXd velocity(6), acceleration(6);
  velocity << 4, 5, 6, rotation * rate;
  dynamics.SetMotion(pose, velocity);
  dynamics.ForwardDynamics(VectorXd::Zero(6), {}, acceleration);
  const Vec3 expected(-(0.04 - 0.05) * rate.y() * rate.z() / 0.03, -(0.03 - 0.04) * rate.z() * rate.x() / 0.05,
                      -(0.05 - 0.03) * rate.x() * rate.y() / 0.04);
  EXPECT_LT(acceleration.head<3>().norm(), 1e-13);
  EXPECT_LT((acceleration.tail<3>() - rotation * expected).norm(), 1e-13);
  EXPECT_NEAR(dynamics.KineticEnergy(), 0.5 * 2 * 77 + 0.5 * rate.dot(inertia.cwiseProduct(rate)), 1e-12);
}

TEST(CharacterDynamics, APendulumNeedsTheTorqueOfItsClosedForm) {
  using simulation::kArmDistance;
  using simulation::kArmInertia;
  using simulation::kArmMass;
  for (const char* type : {"hinge", "ball"}) {
    const Character arm = simulation::ArmOnPost(type, 1, 1);
    CharacterDynamics dynamics(arm, kStandardGravity);
    const double angle = 0.4, rate = 1.7, change = -3;
    Pose pose = character::RestPose(arm);
    pose.joint_rotations[0] = AxisRotation(2, angle);
    const int n = dynamics.size(), z = n - 1;
    const VectorXd velocity = rate * VectorXd::Unit(n, z), acceleration = change * VectorXd::Unit(n, z);
    VectorXd forces(n);
    dynamics.SetMotion(pose, velocity);
    dynamics.InverseDynamics(acceleration, {}, forces);
    EXPECT_NEAR(forces[z],
                (kArmInertia + kArmMass * kArmDistance * kArmDistance) * change +
                    kArmMass * kStandardGravity * kArmDistance * std::cos(angle),
                1e-12);
    // The post is held by what carries both, pulls the arm round, and turns it.
    const Vec3 along(std::cos(angle), std::sin(angle), 0), across(-std::sin(angle), std::cos(angle), 0);
    const Vec3 expected = Vec3(0, (2000 + kArmMass) * kStandardGravity, 0) +
                          kArmMass * kArmDistance * (change * across - rate * rate * along);
    EXPECT_LT((forces.head<3>() - expected).norm(), 1e-9);
  }
}

TEST(CharacterDynamics, ATwoLinkArmHasTheEquationsOfTheTextbooks) {
  // Two links in the x-y plane on a base at the origin, each 0.5 m long at rest along x.
  const std::string bodies =
      R"({"name": "base", "mass": 1, "inertia": [1, 1, 1], "position": [0, 0, 0], "shapes": []},
         {"name": "upper", "mass": 3, "inertia": [0.01, 0.2, 0.2], "position": [0.2, 0, 0], "shapes": []},
         {"name": "lower", "mass": 2, "inertia": [0.01, 0.1, 0.1], "position": [0.8, 0, 0], "shapes": []})";
  const std::string servo = R"("kp": 1, "kd": 1, "type": "hinge", "axis": "z", "strength_scale": 1, "window": 0})";
  const Character arm = simulation::Parse(
      bodies, R"({"name": "shoulder", "parent": "base", "child": "upper", "anchor": [0, 0, 0], )" + servo +
                  R"(, {"name": "elbow", "parent": "upper", "child": "lower", "anchor": [0.5, 0, 0], )" + servo);
  const double m1 = 3, m2 = 2, c1 = 0.2, c2 = 0.3, l1 = 0.5, i1 = 0.2, i2 = 0.1;
  const double q1 = 0.6, q2 = -1.1, w1 = 1.3, w2 = -2.1;
  CharacterDynamics dynamics(arm, kStandardGravity);
  Pose pose = character::RestPose(arm);
  pose.joint_rotations = {AxisRotation(2, q1), AxisRotation(2, q2)};
  VectorXd velocity = VectorXd::Zero(8);
  velocity.tail<2>() << w1, w2;
  dynamics.SetMotion(pose, velocity);
  Eigen::Matrix2d mass;
  mass(0, 0) = i1 + i2 + m1 * c1 * c1 + m2 * (l1 * l1 + c2 * c2 + 2 * l1 * c2 * std::cos(q2));
  mass(0, 1) = mass(1, 0) = i2 + m2 * (c2 * c2 + l1 * c2 * std::cos(q2));
  mass(1, 1) = i2 + m2 * c2 * c2;
  EXPECT_LT(Largest(MassMatrixOf(dynamics).bottomRightCorner(2, 2) - mass), 1e-14);
  const double coupling = m2 * l1 * c2 * std::sin(q2);
  Eigen::Vector2d bias(-coupling * (2 * w1 * w2 + w2 * w2), coupling * w1 * w1);
  bias[0] += kStandardGravity * ((m1 * c1 + m2 * l1) * std::cos(q1) + m2 * c2 * std::cos(q1 + q2));
  bias[1] += kStandardGravity * m2 * c2 * std::cos(q1 + q2);
  EXPECT_LT(Largest(BiasForcesOf(dynamics).tail(2) - bias), 1e-13);
}

TEST(CharacterDynamics, StandingStillNeedsTheWeightAtTheCenterOfMass) {
  for (const char* name : kCharacters) {
    const Character& character = Bundled(name);
    CharacterDynamics dynamics(character, kStandardGravity);
    RandomStream random(4, RandomStage::kTest, 0, 0);
    const Pose pose = character::RandomPose(character, random);
    dynamics.SetMotion(pose, VectorXd::Zero(dynamics.size()));
    const Vec3 weight(0, character.total_mass() * kStandardGravity, 0);
    const VectorXd bias = BiasForcesOf(dynamics);
    EXPECT_LT((bias.head<3>() - weight).norm(), 1e-10) << name;
    EXPECT_LT((bias.segment<3>(3) - (dynamics.CenterOfMass() - pose.root_position).cross(weight)).norm(), 1e-10);
  }
}

// ---- equations of motion

/// What acts on each body follows from its accelerations, which differences give; generalized forces are the power of
/// that for each coordinate (d'Alembert's principle).
RC_GTEST_PROP(CharacterDynamicsProperty, InverseDynamicsFollowsFromTheMotionOfEachBody, ()) {
  RandomStream random = AnyStream();
  const double h = 1e-5;
  for (const char* name : kCharacters) {
    const Character& character = Bundled(name);
    CharacterDynamics dynamics(character, kStandardGravity);
    const Coordinates& coordinates = dynamics.coordinates();
    const Motion motion = AnyMotion(coordinates, random);
    const VectorXd acceleration = AnyVector(random, dynamics.size(), 20);
    const std::vector<Wrench> wrenches = AnyWrenches(character, random);
    const State before = StateAfter(coordinates, motion, acceleration, -h);
    const State after = StateAfter(coordinates, motion, acceleration, h);
    VectorXd needed(6 * before.size());
    for (size_t b = 0; b < before.size(); ++b) {
      const character::Body& body = character.bodies[b];
      const Vec3 change = (after[b].linear_velocity - before[b].linear_velocity) / (2 * h);
      const auto place = static_cast<Eigen::Index>(6 * b);
      needed.segment<3>(place) = body.mass * (change + kStandardGravity * Vec3::UnitY()) - wrenches[b].force;
      needed.segment<3>(place + 3) = (SpinOf(body, after[b]) - SpinOf(body, before[b])) / (2 * h) - wrenches[b].torque;
    }
    const VectorXd expected = JacobianOfBodies(coordinates, motion.pose).transpose() * needed;
    VectorXd forces(dynamics.size());
    dynamics.SetMotion(motion.pose, motion.velocity);
    dynamics.InverseDynamics(acceleration, wrenches, forces);
    RC_ASSERT(Largest(forces - expected) < 1e-6 * (1 + Largest(expected)));
  }
}

RC_GTEST_PROP(CharacterDynamicsProperty, MassMatrixIsThatOfTheBodies, ()) {
  RandomStream random = AnyStream();
  for (const char* name : kCharacters) {
    const Character& character = Bundled(name);
    CharacterDynamics dynamics(character, kStandardGravity);
    const Motion motion = AnyMotion(dynamics.coordinates(), random);
    dynamics.SetMotion(motion.pose, motion.velocity);
    const MatrixXd jacobian = JacobianOfBodies(dynamics.coordinates(), motion.pose);
    MatrixXd expected = MatrixXd::Zero(dynamics.size(), dynamics.size());
    for (size_t b = 0; b < character.bodies.size(); ++b) {
      const auto place = static_cast<Eigen::Index>(6 * b);
      const MatrixXd linear = jacobian.middleRows(place, 3), angular = jacobian.middleRows(place + 3, 3);
      const Mat3 rotation = motion.state[b].orientation.toRotationMatrix();
      expected += character.bodies[b].mass * linear.transpose() * linear;
      expected += angular.transpose() * rotation * character.bodies[b].InertiaTensor() * rotation.transpose() * angular;
    }
    const MatrixXd mass = MassMatrixOf(dynamics);
    RC_ASSERT(Largest(mass - expected) < 1e-11 * Largest(expected));
    RC_ASSERT(mass == mass.transpose());
    RC_ASSERT(mass.llt().info() == Eigen::Success);
    RC_ASSERT(std::abs(0.5 * motion.velocity.dot(mass * motion.velocity) - dynamics.KineticEnergy()) <
              1e-11 * dynamics.KineticEnergy());
  }
}

/// A rotor turns with its joint alone: it adds its inertia to the diagonal, and no force of a motion without
/// acceleration.
RC_GTEST_PROP(CharacterDynamicsProperty, RotorsAddToTheDiagonalOfTheMassMatrix, ()) {
  RandomStream random = AnyStream();
  CharacterDynamics with(Bundled("rotors"), kStandardGravity), without(Bundled("oblique"), kStandardGravity);
  const Motion motion = AnyMotion(with.coordinates(), random);
  with.SetMotion(motion.pose, motion.velocity);
  without.SetMotion(motion.pose, motion.velocity);
  MatrixXd rotors = MatrixXd::Zero(with.size(), with.size());
  const Character& character = Bundled("rotors");
  for (size_t j = 0; j < character.joints.size(); ++j) {
    const int first = with.coordinates().FirstOf(static_cast<int>(j));
    rotors(first, first) = character.joints[j].armature;
  }
  RC_ASSERT(rotors.diagonal().maxCoeff() > 0);
  RC_ASSERT(Largest(MassMatrixOf(with) - MassMatrixOf(without) - rotors) < 1e-15 * Largest(MassMatrixOf(with)));
  RC_ASSERT(BiasForcesOf(with) == BiasForcesOf(without));
}

RC_GTEST_PROP(CharacterDynamicsProperty, TheThreeAlgorithmsAgree, ()) {
  RandomStream random = AnyStream();
  for (const char* name : {"human", "quadruped", "asimo", "oblique", "rotors"}) {
    const Character& character = Bundled(name);
    CharacterDynamics dynamics(character, kStandardGravity);
    const int n = dynamics.size();
    const Motion motion = AnyMotion(dynamics.coordinates(), random);
    dynamics.SetMotion(motion.pose, motion.velocity);
    const MatrixXd mass = MassMatrixOf(dynamics);
    const VectorXd bias = BiasForcesOf(dynamics), acceleration = AnyVector(random, n, 20);
    VectorXd forces(n), back(n);
    dynamics.InverseDynamics(acceleration, {}, forces);
    RC_ASSERT(Largest(forces - (mass * acceleration + bias)) < 1e-10 * (1 + Largest(forces)));
    dynamics.ForwardDynamics(forces, {}, back);
    RC_ASSERT(Largest(back - acceleration) < 1e-8 * (1 + Largest(acceleration)));
    const std::vector<Wrench> wrenches = AnyWrenches(character, random);
    dynamics.InverseDynamics(acceleration, wrenches, forces);
    dynamics.ForwardDynamics(forces, wrenches, back);
    RC_ASSERT(Largest(back - acceleration) < 1e-8 * (1 + Largest(acceleration)));
    // Through M, with the wrenches through Jacobians.
    VectorXd right = forces - bias;
    MatrixXd jacobian(3, n);
    for (size_t b = 0; b < wrenches.size(); ++b) {
      const int body = static_cast<int>(b);
      dynamics.PointJacobian(body, dynamics.CenterOf(body), jacobian);
      right += jacobian.transpose() * wrenches[b].force;
      dynamics.AngularJacobian(body, jacobian);
      right += jacobian.transpose() * wrenches[b].torque;
    }
    RC_ASSERT(Largest(mass.llt().solve(right) - acceleration) < 1e-8 * (1 + Largest(acceleration)));
  }
}

RC_GTEST_PROP(CharacterDynamicsProperty, ForcesDoTheWorkThatEnergyGains, ()) {
  RandomStream random = AnyStream();
  const double h = 1e-5;
  for (const char* name : kCharacters) {
    CharacterDynamics dynamics(Bundled(name), kStandardGravity);
    const Motion motion = AnyMotion(dynamics.coordinates(), random);
    const VectorXd acceleration = AnyVector(random, dynamics.size(), 10);
    VectorXd forces(dynamics.size());
    dynamics.SetMotion(motion.pose, motion.velocity);
    dynamics.InverseDynamics(acceleration, {}, forces);
    const auto energy = [&](double time) {
      dynamics.SetMotion(StateAfter(dynamics.coordinates(), motion, acceleration, time));
      return dynamics.KineticEnergy() + dynamics.PotentialEnergy();
    };
    const double power = forces.dot(motion.velocity);
    RC_ASSERT(std::abs((energy(h) - energy(-h)) / (2 * h) - power) < 1e-5 * (1 + std::abs(power)));
  }
}

RC_GTEST_PROP(CharacterDynamicsProperty, AForceAtAPointIsAWrench, ()) {
  RandomStream random = AnyStream();
  const Character& human = Bundled("human");
  CharacterDynamics dynamics(human, kStandardGravity);
  const Motion motion = AnyMotion(dynamics.coordinates(), random);
  dynamics.SetMotion(motion.pose, motion.velocity);
  const int hand = human.FindBody("left_hand");
  const Vec3 point = dynamics.CenterOf(hand) + character::RandomVector(random, 0.2);
  const Vec3 force = character::RandomVector(random, 100);
  std::vector<Wrench> wrenches(human.bodies.size());
  dynamics.AddForce(hand, point, force, wrenches);
  VectorXd without(dynamics.size()), with(dynamics.size());
  MatrixXd jacobian(3, dynamics.size());
  dynamics.InverseDynamics(VectorXd::Zero(dynamics.size()), {}, without);
  dynamics.InverseDynamics(VectorXd::Zero(dynamics.size()), wrenches, with);
  dynamics.PointJacobian(hand, point, jacobian);
  RC_ASSERT(Largest(without - with - jacobian.transpose() * force) < 1e-10);
  RC_ASSERT(Largest(without - BiasForcesOf(dynamics)) < 1e-9);
}

// ---- Jacobians

RC_GTEST_PROP(CharacterDynamicsProperty, JacobiansAreTheVelocitiesOfPointsAndBodies, ()) {
  RandomStream random = AnyStream();
  const double h = 1e-5;
  for (const char* name : kCharacters) {
    const Character& character = Bundled(name);
    CharacterDynamics dynamics(character, kStandardGravity);
    const Coordinates& coordinates = dynamics.coordinates();
    const Motion motion = AnyMotion(coordinates, random);
    dynamics.SetMotion(motion.pose, motion.velocity);
    const VectorXd none = VectorXd::Zero(dynamics.size());
    const State before = StateAfter(coordinates, motion, none, -h), after = StateAfter(coordinates, motion, none, h);
    MatrixXd jacobian(3, dynamics.size());
    for (size_t b = 0; b < character.bodies.size(); ++b) {
      const int body = static_cast<int>(b);
      const character::BodyState& state = motion.state[b];
      const Vec3 local = character::RandomVector(random, 0.3);
      const Vec3 point = PlaceOf(state, local);
      RC_ASSERT((dynamics.CenterOf(body) - state.position).norm() < 1e-12);
      RC_ASSERT((dynamics.RotationOf(body) - state.orientation.toRotationMatrix()).norm() < 1e-12);
      RC_ASSERT((dynamics.AngularVelocityOf(body) - state.angular_velocity).norm() < 1e-11);
      RC_ASSERT((dynamics.VelocityOf(body, point) - VelocityOf(state, local)).norm() < 1e-11);
      dynamics.PointJacobian(body, point, jacobian);
      RC_ASSERT((jacobian * motion.velocity - VelocityOf(state, local)).norm() < 1e-11);
      const Vec3 point_bias = (VelocityOf(after[b], local) - VelocityOf(before[b], local)) / (2 * h);
      RC_ASSERT((dynamics.PointBias(body, point) - point_bias).norm() < 1e-5);
      dynamics.AngularJacobian(body, jacobian);
      RC_ASSERT((jacobian * motion.velocity - state.angular_velocity).norm() < 1e-11);
      const Vec3 angular_bias = (after[b].angular_velocity - before[b].angular_velocity) / (2 * h);
      RC_ASSERT((dynamics.AngularBias(body) - angular_bias).norm() < 1e-5);
    }
  }
}

RC_GTEST_PROP(CharacterDynamicsProperty, MomentumIsThatOfAllBodies, ()) {
  RandomStream random = AnyStream();
  const double h = 1e-5;
  for (const char* name : kCharacters) {
    const Character& character = Bundled(name);
    CharacterDynamics dynamics(character, kStandardGravity);
    const Coordinates& coordinates = dynamics.coordinates();
    const int n = dynamics.size();
    const Motion motion = AnyMotion(coordinates, random);
    dynamics.SetMotion(motion.pose, motion.velocity);
    const Vec3 velocity = character::CenterOfMassVelocity(character, motion.state);
    const Vec3 spin = character::AngularMomentum(character, motion.state);
    RC_ASSERT((dynamics.CenterOfMass() - character::CenterOfMass(character, motion.state)).norm() < 1e-12);
    RC_ASSERT((dynamics.CenterOfMassVelocity() - velocity).norm() < 1e-11);
    RC_ASSERT((dynamics.LinearMomentum() - character.total_mass() * velocity).norm() < 1e-9);
    RC_ASSERT((dynamics.AngularMomentum() - spin).norm() < 1e-10 * (1 + spin.norm()));
    MatrixXd jacobian(3, n), momentum(6, n);
    dynamics.CenterOfMassJacobian(jacobian);
    RC_ASSERT((jacobian * motion.velocity - velocity).norm() < 1e-11);
    dynamics.MomentumMatrix(momentum);
    RC_ASSERT((momentum.topRows(3) * motion.velocity - spin).norm() < 1e-10 * (1 + spin.norm()));
    RC_ASSERT(Largest(momentum.bottomRows(3) - character.total_mass() * jacobian) < 1e-10);
    const VectorXd none = VectorXd::Zero(n);
    const State before = StateAfter(coordinates, motion, none, -h), after = StateAfter(coordinates, motion, none, h);
    const Vec3 bias =
        (character::CenterOfMassVelocity(character, after) - character::CenterOfMassVelocity(character, before)) /
        (2 * h);
    const Vec3 spin_bias =
        (character::AngularMomentum(character, after) - character::AngularMomentum(character, before)) / (2 * h);
    RC_ASSERT((dynamics.CenterOfMassBias() - bias).norm() < 1e-5);
    RC_ASSERT((dynamics.MomentumBias().tail<3>() - character.total_mass() * bias).norm() < 1e-3);
    RC_ASSERT((dynamics.MomentumBias().head<3>() - spin_bias).norm() < 1e-5 * (1 + spin_bias.norm()));
  }
}

RC_GTEST_PROP(CharacterDynamicsProperty, CompositeInertiaIsThatOfTheBodiesThatHangOnIt, ()) {
  RandomStream random = AnyStream();
  for (const char* name : kCharacters) {
    const Character& character = Bundled(name);
    CharacterDynamics dynamics(character, kStandardGravity);
    const Motion motion = AnyMotion(dynamics.coordinates(), random);
    dynamics.SetMotion(motion.state);
    for (size_t top = 0; top < character.bodies.size(); ++top) {
      const auto hangs = [&](size_t body) {
        for (int b = static_cast<int>(body); b != static_cast<int>(top);) {
          if (character.JointOf(b) < 0) return false;
          b = character.joints[static_cast<size_t>(character.JointOf(b))].parent;
        }
        return true;
      };
      Inertia expected;
      for (size_t b = 0; b < character.bodies.size(); ++b) {
        if (!hangs(b)) continue;
        expected.mass += character.bodies[b].mass;
        expected.center += character.bodies[b].mass * motion.state[b].position;
      }
      expected.center /= expected.mass;
      for (size_t b = 0; b < character.bodies.size(); ++b) {
        if (!hangs(b)) continue;
        const Mat3 rotation = motion.state[b].orientation.toRotationMatrix();
        const Vec3 away = motion.state[b].position - expected.center;
        expected.tensor += rotation * character.bodies[b].InertiaTensor() * rotation.transpose() +
                           character.bodies[b].mass * (away.squaredNorm() * Mat3::Identity() - away * away.transpose());
      }
      const Inertia inertia = dynamics.CompositeInertia(static_cast<int>(top));
      RC_ASSERT(std::abs(inertia.mass - expected.mass) < 1e-12 * expected.mass);
      RC_ASSERT((inertia.center - expected.center).norm() < 1e-11);
      RC_ASSERT((inertia.tensor - expected.tensor).norm() < 1e-11 * (1 + expected.tensor.norm()));
    }
  }
}

/// Coordinates about the root lose no digits far from the origin.
TEST(CharacterDynamics, IsTheSameAnywhereInTheWorld) {
  const Character& human = Bundled("human");
  RandomStream random(6, RandomStage::kTest, 0, 0);
  CharacterDynamics dynamics(human, kStandardGravity);
  Motion motion = AnyMotion(dynamics.coordinates(), random);
  dynamics.SetMotion(motion.pose, motion.velocity);
  const MatrixXd mass = MassMatrixOf(dynamics);
  const VectorXd bias = BiasForcesOf(dynamics);
  motion.pose.root_position += Vec3(900, -500, 700);
  dynamics.SetMotion(motion.pose, motion.velocity);
  EXPECT_EQ(MassMatrixOf(dynamics), mass);
  EXPECT_EQ(BiasForcesOf(dynamics), bias);
}

/// With the forces that hold the root as unknowns beside the accelerations.
TEST(CharacterDynamics, ForwardDynamicsHoldAPlanarRoot) {
  const character::Character& planar = Bundled("planar_human");
  CharacterDynamics dynamics(planar);
  const int n = dynamics.size();
  ASSERT_EQ(n, 18);
  ASSERT_EQ(dynamics.num_held(), 3);
  RandomStream random(3, RandomStage::kTest, 0, 0);
  for (int k = 0; k < 20; ++k) {
    const Motion motion = AnyMotion(dynamics.coordinates(), random);
    dynamics.SetMotion(motion.pose, motion.velocity);
    const Mat6 axes = dynamics.RootAxes();
    EXPECT_LT((axes.transpose() * axes - Mat6::Identity()).cwiseAbs().maxCoeff(), 1e-12);
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n + 3, n + 3), mass(n, n);
    Eigen::VectorXd forces = AnyVector(random, n, 50), bias(n), values = Eigen::VectorXd::Zero(n + 3), found(n);
    dynamics.MassMatrix(mass);
    dynamics.BiasForces(bias);
    matrix.topLeftCorner(n, n) = mass;
    matrix.block(0, n, 6, 3) = axes.rightCols<3>();
    matrix.block(n, 0, 3, 6) = axes.rightCols<3>().transpose();
    values.head(n) = forces - bias;
    const Eigen::VectorXd expected = matrix.fullPivLu().solve(values).head(n);
    dynamics.ForwardDynamics(forces, {}, found);
    EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-8 * (1 + expected.cwiseAbs().maxCoeff())) << k;
  }
}

}  // namespace
}  // namespace retrace::dynamics
