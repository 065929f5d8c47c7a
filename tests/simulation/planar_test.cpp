/// Planar characters: what holds them in their plane, in both solvers, and that it does no work.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/math/random.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

using character::BodyState;
using character::State;

const character::Character& PlanarHuman() {
  static const character::Character planar =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/planar_human.json");
  return planar;
}

/// The planar human bent at all joints, different ones on both sides, with the pelvis so high, moving and turning.
State Bent(double height, const Quat& heading = Quat::Identity()) {
  character::Pose pose = RestPose(PlanarHuman());
  pose.root_position = Vec3(0, height, 0);
  pose.root_orientation = heading * AxisRotation(0, 0.3);
  for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
    pose.joint_rotations[j] = AxisRotation(0, 0.5 * std::sin(1.7 * static_cast<double>(j)));
  }
  State state = StateOf(PlanarHuman(), pose);
  SetRigidMotion(PlanarHuman(), heading * Vec3(0, 0.5, 1), heading * Vec3(2, 0, 0), state);
  return state;
}

WorldOptions With(Solver solver) {
  WorldOptions options;
  options.solver = solver;
  return options;
}

/// A fall onto the ground with all joints driven. @return the states after each step
std::vector<State> Fall(Solver solver, const State& start, int steps, const Vec3& force = Vec3::Zero()) {
  World world(PlanarHuman(), With(solver));
  world.SetState(start);
  std::vector<State> states(static_cast<size_t>(steps));
  for (int i = 0; i < steps; ++i) {
    world.ApplyForce(0, force);
    EXPECT_TRUE(world.Step(SwayingTargets(PlanarHuman(), i / 240.0, 0.5)));
    world.GetState(states[static_cast<size_t>(i)]);
  }
  return states;
}

/// What of a body's motion is not in the plane whose normal is along x, beside where it was.
double OutOfPlane(const BodyState& body, double x) {
  return std::max({std::abs(body.position.x() - x), std::abs(body.linear_velocity.x()),
                   std::abs(body.angular_velocity.y()), std::abs(body.angular_velocity.z()),
                   std::abs(body.orientation.y()), std::abs(body.orientation.z())});
}

TEST(Planar, TheRootKeepsToItsPlaneToTheBit) {
  const State start = Bent(1);
  const std::vector<State> states = Fall(Solver::kReduced, start, 480);
  const auto root = static_cast<size_t>(PlanarHuman().root);
  double most = 0;
  for (const State& state : states) {
    EXPECT_EQ(OutOfPlane(state[root], 0), 0);
    for (size_t b = 0; b < state.size(); ++b) most = std::max(most, OutOfPlane(state[b], start[b].position.x()));
  }
  EXPECT_LT(most, 1e-12) << "the other bodies";
  EXPECT_LT(states.back()[root].position.y(), 0.6) << "it fell, so that contacts acted";
}

TEST(Planar, OdeKeepsItToRounding) {
  const State start = Bent(1);
  double most = 0;
  for (const State& state : Fall(Solver::kStock, start, 240)) {
    for (size_t b = 0; b < state.size(); ++b) most = std::max(most, OutOfPlane(state[b], start[b].position.x()));
  }
  EXPECT_LT(most, 1e-9);
}

TEST(Planar, APlaneOfAnyHeadingIsAsGood) {
  const Quat heading = AxisRotation(1, 0.7);
  const std::vector<State> turned = Fall(Solver::kReduced, Bent(1, heading), 240);
  const std::vector<State> straight = Fall(Solver::kReduced, Bent(1), 240);
  const auto root = static_cast<size_t>(PlanarHuman().root);
  for (const State& state : turned) {
    BodyState back = state[root];
    back.position = heading.conjugate() * back.position;
    back.orientation = heading.conjugate() * back.orientation;
    back.linear_velocity = heading.conjugate() * back.linear_velocity;
    back.angular_velocity = heading.conjugate() * back.angular_velocity;
    EXPECT_LT(OutOfPlane(back, 0), 1e-12);
  }
  // In the air, before friction acts along its own axes, the motion is the same.
  EXPECT_LT((heading.conjugate() * turned[20][root].position - straight[20][root].position).norm(), 1e-12);
}

TEST(Planar, ForcesAcrossThePlaneDoNothing) {
  const State start = Bent(3);
  const State left = Fall(Solver::kReduced, start, 60, Vec3(500, 0, 0)).back();
  const State without = Fall(Solver::kReduced, start, 60).back();
  for (size_t b = 0; b < left.size(); ++b) {
    EXPECT_LT((left[b].position - without[b].position).norm(), 1e-12);
    EXPECT_LT((left[b].linear_velocity - without[b].linear_velocity).norm(), 1e-11);
  }
}

/// One body in flight has a closed form for the steps that the simulation takes.
TEST(Planar, AFreeBodyFliesAlongAParabola) {
  const std::string text = R"({"format": "retrace-character", "version": 1, "name": "block", "height": 1,
      "planar": true, "bodies": [{"name": "block", "mass": 2, "inertia": [0.03, 0.05, 0.04], "position": [0, 9, 0],
      "shapes": [{"box": [0.4, 0.2, 0.4]}]}], "joints": [], "end_effectors": [], "no_self_collision": [],
      "contact_presets": {"none": {}}})";
  const character::Character block = character::ParseCharacter(io::ParseJson(text, "block.json"), "block.json");
  for (const Solver solver : {Solver::kReduced, Solver::kStock}) {
    World world(block, With(solver));
    State state = StateOf(block, RestPose(block));
    state[0].linear_velocity = Vec3(0.7, 2, 3);  // what is across the plane is stopped
    state[0].angular_velocity = Vec3(4, 0, 0);
    world.SetState(state);
    const int steps = 120;
    for (int i = 0; i < steps; ++i) ASSERT_TRUE(world.Step({}));
    world.GetState(state);
    const double h = 1.0 / 240, time = steps * h, gravity = world.options().gravity;
    EXPECT_NEAR(state[0].position.x(), 0, 1e-12);
    EXPECT_NEAR(state[0].position.y(), 9 + 2 * time - 0.5 * gravity * time * (time + h), 1e-10);
    EXPECT_NEAR(state[0].position.z(), 3 * time, 1e-10);
    EXPECT_LT((state[0].angular_velocity - Vec3(4, 0, 0)).norm(), 1e-10);
    EXPECT_LT(AngleBetween(state[0].orientation, AxisRotation(0, 2 * steps * std::atan(0.5 * h * 4))), 1e-9);
  }
}

TEST(Planar, InFlightTheMomentumInThePlaneIsThatOfClosedForm) {
  const State start = Bent(9);
  const int steps = 120;
  const State end = Fall(Solver::kReduced, start, steps).back();
  const double mass = PlanarHuman().total_mass(), time = steps / 240.0;
  const Vec3 before = mass * character::CenterOfMassVelocity(PlanarHuman(), start);
  const Vec3 after = mass * character::CenterOfMassVelocity(PlanarHuman(), end);
  EXPECT_NEAR(after.y() - before.y(), -mass * WorldOptions().gravity * time, 1e-9);
  EXPECT_NEAR(after.z(), before.z(), 1e-9);
  // Servos at the joints turn its parts against one another and not the whole, but for the joints' errors of position.
  const double turn = character::AngularMomentum(PlanarHuman(), start).x();
  EXPECT_GT(std::abs(turn), 5);
  EXPECT_NEAR(character::AngularMomentum(PlanarHuman(), end).x(), turn, 1e-3 * std::abs(turn));
}

/// A free twin that moves alike on both sides needs nothing to keep it in its plane, and moves in the same way.
TEST(Planar, WhatNeedsNoConstraintIsNotChangedByIt) {
  io::Json document = *PlanarHuman().json;
  document["planar"] = false;
  const character::Character free = character::ParseCharacter(document, "twin.json");
  const auto run = [](const character::Character& character) {
    World world(character, With(Solver::kReduced));
    character::Pose pose = RestPose(character);
    pose.root_position.y() = 2;
    State state = StateOf(character, pose);
    SetRigidMotion(character, Vec3(0, 0, 1), Vec3(1, 0, 0), state);
    world.SetState(state);
    std::vector<JointCommand> commands(character.joints.size());
    for (size_t j = 0; j < commands.size(); ++j) {
      const std::string& name = character.joints[j].name;
      commands[j].target = AxisRotation(0, name.ends_with("hip") ? -0.8 : name.ends_with("knee") ? 0.9 : 0.2);
    }
    for (int i = 0; i < 60; ++i) EXPECT_TRUE(world.Step(commands));
    world.GetState(state);
    return state;
  };
  const State held = run(PlanarHuman()), loose = run(free);
  for (size_t b = 0; b < held.size(); ++b) {
    EXPECT_LT((held[b].position - loose[b].position).norm(), 1e-10);
    EXPECT_LT((held[b].angular_velocity - loose[b].angular_velocity).norm(), 1e-9);
  }
}

}  // namespace
}  // namespace retrace::simulation
