/// Worlds with more than a plain ground, held against closed forms; their files.
#include "retrace/simulation/environment.h"

#include <gtest/gtest.h>

#include <cstdarg>
#include <nlohmann/json.hpp>

#include "retrace/io/error.h"
#include "retrace/math/random.h"
#include "simulation/ode_of_library.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

constexpr double kBlockMass = 2;

Environment ReadText(const std::string& text) {
  const io::Json document = io::ParseJson(text, "world.json");
  return ReadEnvironment(io::JsonView(document, "world.json"));
}

WorldOptions With(const std::string& environment) {
  WorldOptions options;
  options.environment = ReadText(environment);
  return options;
}

/// Steps a world; the force on the character, summed over its contacts with everything.
Vec3 Step(World& world, int steps, size_t joints = 0) {
  const std::vector<JointCommand> targets(joints);
  for (int i = 0; i < steps; ++i) {
    if (!world.Step(targets)) ADD_FAILURE() << "diverged";
  }
  Vec3 force = Vec3::Zero();
  for (const Contact& contact : world.contacts()) force += contact.force;
  return force;
}

character::State Get(const World& world) {
  character::State state;
  world.GetState(state);
  return state;
}

/// A block far away, so that the free bodies are alone.
character::State BlockFarAway() {
  return {{Vec3(50, 0.1, 50), Quat::Identity(), Vec3::Zero(), Vec3::Zero()}};
}

// ---- files

TEST(EnvironmentFile, IsReadAsItWasWritten) {
  const Environment environment = ReadText(R"({
    "ground": {"height": -0.5, "material": {"friction": 0.1, "spring": {"erp": 0.8, "cfm": 0.007, "time_step": 0.0005}}},
    "boxes": [{"name": "a", "size": [1, 2, 3], "position": [0, 1, 2], "rotation": {"axis": "x", "degrees": 10},
               "course": {"velocity": [0, 0, 1], "amplitude": [0.1, 0, 0], "frequency": 2, "phase_degrees": 90}}],
    "height_field": {"name": "hills", "spacing": 0.5, "heights": [[0, 0.1, 0], [0.1, 0, 0.2]]},
    "bodies": [{"name": "ball", "sphere": 0.1, "density": 1000, "position": [1, 2, 3]},
               {"name": "log", "capsule": {"radius": 0.1, "length": 1, "axis": "x"}, "mass": 3, "position": [0, 0, 0],
                "linear_velocity": [1, 0, 0], "material": {"friction": 0.3}}]})");
  EXPECT_DOUBLE_EQ(environment.ground.material.spring->stiffness, 0.8 / (0.0005 * 0.007));
  EXPECT_DOUBLE_EQ(environment.ground.material.spring->damping, 0.2 / 0.007);
  EXPECT_NEAR(environment.bodies[0].mass, 1000 * 4.0 / 3 * kPi * 1e-3, 1e-9);
  EXPECT_EQ(environment.num_objects(), 4u);
  EXPECT_EQ(environment.ObjectName(1), "hills");
  EXPECT_EQ(environment.ObjectName(3), "log");
  WorldOptions options;
  options.environment = environment;
  const std::string text = options.ToJson().dump();
  const io::Json document = io::ParseJson(text, "control.json");
  EXPECT_EQ(ReadWorldOptions(io::JsonView(document, "control.json"), 0).ToJson().dump(), text);
}

TEST(EnvironmentFile, APlainGroundIsNotWritten) {
  EXPECT_FALSE(WorldOptions().ToJson().contains("environment"));
  EXPECT_TRUE(ReadText("{}").empty());
  EXPECT_TRUE(With(R"({"ground": {"material": {"friction": 0.1}}})").ToJson().contains("environment"));
}

TEST(EnvironmentFile, SaysWhatIsWrongAndWhere) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      ReadText(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  const auto expect = [&](const std::string& text, const std::string& pointer, const std::string& what) {
    const std::string message = complaint(text);
    EXPECT_NE(message.find("world.json: " + pointer), std::string::npos) << message;
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  expect(R"({"box": []})", "/", "box");
  expect(R"({"ground": {"material": {"friction": -1}}})", "/ground/material/friction", "-1");
  expect(R"({"boxes": [{"name": "a", "size": [1, 0, 1], "position": [0, 0, 0]}]})", "/boxes/0/size", "0");
  expect(R"({"boxes": [{"name": "ground", "size": [1, 1, 1], "position": [0, 0, 0]}]})", "/boxes/0/name", "ground");
  expect(R"({"bodies": [{"name": "a", "sphere": 1, "position": [0, 0, 0]}]})", "/bodies/0", "mass");
  expect(R"({"bodies": [{"name": "a", "sphere": 1, "box": [1, 1, 1], "mass": 1, "position": [0, 0, 0]}]})", "/bodies/0",
         "2 shapes");
  expect(R"({"bodies": [{"name": "a", "sphere": 1, "mass": 1, "position": [0, 0, 0]},
                        {"name": "a", "sphere": 1, "mass": 1, "position": [0, 3, 0]}]})",
         "/bodies/1/name", "nothing else has");
  expect(R"({"height_field": {"name": "f", "spacing": 1, "heights": [[0, 0], [0]]}})", "/height_field/heights/1",
         "2 numbers");
  // Found by scripts/check/attack: the second row said how many columns there are, and heights were read that are not
  // there.
  expect(R"({"height_field": {"name": "f", "spacing": 1, "heights": [[], [0, 0], [0, 0]]}})", "/height_field/heights/1",
         "0 numbers");
  expect(R"({"ground": {"material": {"spring": {"erp": 0.8, "cfm": 0.007}}}})", "/ground/material/spring", "time_step");
  // Rows 12 and 13 of the list of defects: these gave runs that could not be read again.
  expect(R"({"ground": {"material": {"spring": {"erp": 0.8, "cfm": 1e-308, "time_step": 0.001}}}})",
         "/ground/material/spring/cfm", "expected a number from 1e-12 to 1");
  expect(R"({"ground": {"material": {"spring": {"erp": 1, "cfm": 1e-12, "time_step": 0.00001}}}})",
         "/ground/material/spring", "expected a stiffness of 0.001 to 1e+12 and a damping of 0 to 1e+10");
  expect(R"({"ground": {"height": 1e9}})", "/ground/height", "expected a number from -10000 to 10000");
  expect(R"({"boxes": [{"name": "a", "size": [1, 1, 1], "position": [0, 1e9, 0]}]})", "/boxes/0/position/1",
         "expected a number from -10000 to 10000");
  expect(R"({"boxes": [{"name": "a\nb", "size": [1, 1, 1], "position": [0, 0, 0]}]})", "/boxes/0/name",
         "expected a name of 1 to 100 bytes");
  expect(R"({"bodies": [{"name": "a", "sphere": 1e4, "density": 1e5, "position": [0, 0, 0]}]})", "/bodies/0/density",
         "expected one of 1e-09 to 1e+06 kg");
  expect(R"({"bodies": [{"name": "a", "sphere": 1, "mass": 1e300, "position": [0, 0, 0]}]})", "/bodies/0/mass",
         "expected a number from");
  std::string rows = "[0, 0]";
  for (int i = 0; i < 1000; ++i) rows += ", [0, 0]";
  expect(R"({"height_field": {"name": "f", "spacing": 1, "heights": [)" + rows + "]}}", "/height_field/heights",
         "expected an array of at most 1000");
}

TEST(Environment, InertiaOfACapsuleTendsToThatOfABallAndOfARod) {
  FreeBody body;
  body.shape.kind = character::Shape::Kind::kCapsule;
  body.shape.radius = 0.2;
  body.mass = 3;
  EXPECT_LT((body.Inertia() - Vec3::Constant(0.4 * 3 * 0.04)).norm(), 1e-12);
  body.shape.radius = 0.001;
  body.shape.length = 2;
  EXPECT_NEAR(body.Inertia().x(), 3 * 4.0 / 12, 0.01);
}

TEST(Environment, HeightsAreThoseOfWhatIsThere) {
  Environment environment = ReadText(R"({
    "boxes": [{"name": "ramp", "size": [2, 2, 20], "position": [0, 0, 0], "rotation": {"axis": "x", "degrees": -10}}],
    "height_field": {"name": "f", "position": [10, 0, 0], "spacing": 1, "heights": [[0, 1], [2, 4]]}})");
  const double slope = std::tan(Radians(10));
  EXPECT_NEAR(environment.HeightAt(0.5, 3, 100), 1 / std::cos(Radians(10)) + 3 * slope, 1e-12);
  EXPECT_EQ(environment.HeightAt(1.5, 3, 100), 0);
  EXPECT_NEAR(environment.HeightAt(10.25, -0.25, 100), 0 + 0.75 * 1 + 0.25 * 3, 1e-12);
  EXPECT_NEAR(environment.HeightAt(9.75, 0.25, 100), 0.75 * 2 + 0.25 * 2, 1e-12);
}

TEST(Environment, WhatIsHigherThanALimitHoldsNothing) {
  const Environment seat = ReadText(R"({"boxes": [{"name": "seat", "size": [1, 0.5, 1], "position": [0, 0.25, 0]}]})");
  EXPECT_EQ(seat.TopBelow(0, 0, 0.55), 0.5);
  EXPECT_EQ(seat.TopBelow(0, 0, 0.5), 0.5);
  EXPECT_EQ(seat.TopBelow(0, 0, 0.1), 0);  // feet under it
  EXPECT_EQ(seat.TopBelow(0, 0, -1), 0);   // the ground counts always
  EXPECT_EQ(seat.TopBelow(2, 0, 0.55), 0);
}

// ---- physics

/// A block on a slope of `degrees` with the given friction; its speed down the slope after a second.
double SpeedOnSlope(double degrees, double friction, Solver solver, bool as_character) {
  const std::string angle = io::Number(degrees);
  std::string text =
      R"({"ground": {"present": false}, "boxes": [{"name": "slope", "size": [10, 1, 100], "position": [0, 0, 0],
     "rotation": {"axis": "x", "degrees": )" +
      angle;
  text += R"(}, "material": {"friction": )" + io::Number(friction);
  text += "}}]";
  const Quat turn = AxisRotation(0, Radians(degrees));
  const Vec3 place = turn * Vec3(0, 0.6, 0);
  if (!as_character) {
    text +=
        R"(, "bodies": [{"name": "block", "box": [0.4, 0.2, 0.4], "mass": 2, "position": [0, )" + io::Number(place.y());
    text += ", " + io::Number(place.z());
    text += R"(], "rotation": {"axis": "x", "degrees": )" + angle;
    text += "}}]";
  }
  WorldOptions options = With(text + "}");
  options.solver = solver;
  const character::Character block = Block();
  World world(block, options);
  character::State state = BlockFarAway();
  if (as_character) state[0] = {place, turn, Vec3::Zero(), Vec3::Zero()};
  world.SetState(state);
  Step(world, 240);
  return (turn.conjugate() * Get(world).back().linear_velocity).z();
}

TEST(Slope, ABlockSlidesAsFrictionLetsIt) {
  for (const Solver solver : {Solver::kReduced, Solver::kStock}) {
    for (const bool as_character : {true, false}) {
      EXPECT_NEAR(SpeedOnSlope(20, 0.4, solver, as_character), 0, 1e-4);  // atan(0.4) = 21.8 degrees
      // Friction acts along the pyramid's edges, of which one points down the slope.
      const double expected = kStandardGravity * (std::sin(Radians(20)) - 0.2 * std::cos(Radians(20)));
      EXPECT_NEAR(SpeedOnSlope(20, 0.2, solver, as_character), expected, 0.01 * expected);
      EXPECT_NEAR(SpeedOnSlope(10, 0, solver, as_character), kStandardGravity * std::sin(Radians(10)), 0.01);
    }
  }
}

TEST(Ground, FrictionIsThatOfItsMaterial) {
  const character::Character block = Block();
  for (const double friction : {0.1, 0.5}) {
    World world(block, With(R"({"ground": {"material": {"friction": )" + io::Number(friction) + "}}}"));
    character::State state = {{Vec3(0, 0.1, 0), Quat::Identity(), Vec3(2, 0, 0), Vec3::Zero()}};
    world.SetState(state);
    Step(world, 60);
    EXPECT_NEAR(Get(world)[0].linear_velocity.x(), 2 - friction * kStandardGravity * 0.25, 0.01);
  }
}

TEST(Mat, SinksAsItsSpringSays) {
  const character::Character block = Block();
  const std::string spring = R"({"material": {"spring": {"stiffness": 5000, "damping": 200}})";
  const std::string mats[] = {
      R"({"ground": )" + spring + "}}",
      R"({"boxes": [{"name": "mat", "size": [4, 1, 4], "position": [0, -0.499, 0], )" + spring.substr(1) + "}]}"};
  for (const std::string& mat : mats) {
    for (const Solver solver : {Solver::kReduced, Solver::kStock}) {
      WorldOptions options = With(mat);
      options.solver = solver;
      World world(block, options);
      world.set_recording(true);
      world.SetState({{Vec3(0, 0.12, 0), Quat::Identity(), Vec3::Zero(), Vec3::Zero()}});
      const Vec3 force = Step(world, 1000);
      const double top = options.environment.boxes.empty() ? 0 : 0.001;
      const double depth = kBlockMass * kStandardGravity / (4 * 5000);  // on four corners
      EXPECT_NEAR(Get(world)[0].position.y(), top + 0.1 - depth, 1e-6) << mat;
      EXPECT_NEAR(force.y(), kBlockMass * kStandardGravity, 1e-6);
      // Each point's: k depth, or in terms of the step, cfm f = erp depth / h.
      const double h = options.time_step;
      const double erp = h * 5000 / (h * 5000 + 200), cfm = 1 / (h * 5000 + 200);
      size_t held = 0;
      for (const Contact& contact : world.contacts()) {
        if (contact.force.y() == 0) continue;  // the ground under the mat, just out of reach
        EXPECT_NEAR(contact.force.y(), erp * depth / h / cfm, 1e-6);
        ++held;
      }
      EXPECT_EQ(held, 4u);
    }
  }
}

TEST(Mat, OfThePaperHasItsErrorReductionAndForceMixingAtItsStep) {
  WorldOptions options =
      With(R"({"ground": {"material": {"spring": {"erp": 0.8, "cfm": 0.007, "time_step": 0.0005}}}})");
  const Material::Spring spring = *options.environment.ground.material.spring;
  const double h = 0.0005;
  EXPECT_NEAR(h * spring.stiffness / (h * spring.stiffness + spring.damping), 0.8, 1e-12);
  EXPECT_NEAR(1 / (h * spring.stiffness + spring.damping), 0.007, 1e-12);
}

TEST(Fall, OfABallTakesTheTimeThatItTakes) {
  const character::Character block = Block();
  WorldOptions options = With(R"({"bodies": [{"name": "ball", "sphere": 0.1, "mass": 1, "position": [0, 0.6, 0]}]})");
  options.time_step = 1.0 / 1000;
  World world(block, options);
  world.SetState(BlockFarAway());
  int steps = 0;
  while (Get(world).back().position.y() > 0.1 + 1e-4 && steps < 2000) {
    Step(world, 1);
    ++steps;
  }
  EXPECT_NEAR(steps * options.time_step, std::sqrt(2 * 0.5 / kStandardGravity), 2e-3);
  Step(world, 2000);
  EXPECT_NEAR(Get(world).back().position.y(), 0.1, 1e-4);
}

TEST(Platform, CarriesWhatStandsOnItAlong) {
  const character::Character block = Block();
  for (const Solver solver : {Solver::kReduced, Solver::kStock}) {
    WorldOptions options = With(R"({"ground": {"height": -1}, "boxes": [{"name": "platform", "size": [4, 0.2, 4],
      "position": [0, -0.1, 0], "course": {"amplitude": [0.3, 0, 0], "frequency": 0.5, "phase_degrees": 90}}],
      "bodies": [{"name": "crate", "box": [0.2, 0.2, 0.2], "mass": 1, "position": [1, 0.1, 1]}]})");
    options.solver = solver;
    World world(block, options);
    world.SetState({{Vec3(0, 0.1, 0), Quat::Identity(), Vec3::Zero(), Vec3::Zero()}});
    const Course course = *options.environment.boxes[0].course;
    for (int i = 1; i <= 480; ++i) {
      Step(world, 1);
      if (i % 60 != 0) continue;
      const double x = course.At(i * options.time_step).x();
      EXPECT_NEAR(Get(world)[0].position.x(), x, 2e-3) << i;
      EXPECT_NEAR(Get(world)[1].position.x(), 1 + x, 2e-3) << i;
      EXPECT_NEAR(Get(world)[0].position.y(), 0.1, 1e-3) << i;
    }
  }
}

TEST(Platform, IsWhereTheStepSaysThatItIs) {
  const character::Character block = Block();
  const WorldOptions options = With(R"({"ground": {"height": -1}, "boxes": [{"name": "lift", "size": [4, 0.2, 4],
      "position": [0, -0.1, 0], "course": {"velocity": [0, 0.2, 0]}}]})");
  World world(block, options);
  world.SetState({{Vec3(0, 0.1, 0), Quat::Identity(), Vec3(0, 0.2, 0), Vec3::Zero()}});
  Step(world, 100);
  const character::State middle = Get(world);
  world.SetState(middle, 100);
  Step(world, 100);
  const character::State end = Get(world);
  EXPECT_NEAR(end[0].position.y(), 0.1 + 200 * options.time_step * 0.2, 1e-3);
  World other(block, options);
  other.SetState(middle, 100);
  Step(other, 100);
  EXPECT_TRUE(SameBits(Get(other), end));
}

TEST(Beam, HoldsWhatIsWiderThanIt) {
  const character::Character block = Block();
  WorldOptions options = With(R"({"ground": {"height": -0.3}, "boxes": [{"name": "beam", "size": [0.05, 0.3, 4],
                                  "position": [0, -0.15, 0]}]})");
  World world(block, options);
  world.set_recording(true);
  world.SetState({{Vec3(0.01, 0.1, 0), Quat::Identity(), Vec3::Zero(), Vec3::Zero()}});
  EXPECT_NEAR(Step(world, 480).y(), kBlockMass * kStandardGravity, 1e-3);
  EXPECT_NEAR(Get(world)[0].position.y(), 0.1, 1e-3);
  EXPECT_EQ(world.contacts().front().object, 0);
  // With its center of mass beyond the edge it falls.
  world.SetState({{Vec3(0.03, 0.1, 0), Quat::Identity(), Vec3::Zero(), Vec3::Zero()}});
  Step(world, 480);
  EXPECT_LT(Get(world)[0].position.y(), -0.05);
}

TEST(Edge, HoldsACapsuleThatLiesAcrossIt) {
  const character::Character block = Block();
  WorldOptions options = With(R"({"ground": {"height": -0.5},
      "boxes": [{"name": "rail", "size": [4, 0.5, 0.04], "position": [0, -0.25, 0]}],
      "bodies": [{"name": "log", "capsule": {"radius": 0.05, "length": 1, "axis": "z"}, "mass": 2, "position": [0, 0.05, 0]}]})");
  World world(block, options);
  world.SetState(BlockFarAway());
  Step(world, 60);
  EXPECT_NEAR(Get(world).back().position.y(), 0.05, 2e-3);
}

TEST(Field, HoldsABlockOnItsSlopeAndOnItsPeaks) {
  const character::Character block = Block();
  WorldOptions options = With(R"({"ground": {"present": false}, "height_field": {"name": "f", "spacing": 2,
     "heights": [[0, 0.2, 0.4], [0, 0.2, 0.4], [0, 0.2, 0.4]]}})");
  World world(block, options);
  const Quat turn = FromRotationVector(Vec3(0, 0, std::atan(0.1)));
  const Vec3 start = Vec3(0, 0.2, 0) + turn * Vec3(0, 0.1, 0);
  world.SetState({{start, turn, Vec3::Zero(), Vec3::Zero()}});
  Step(world, 240);
  EXPECT_LT((Get(world)[0].position - start).norm(), 2e-3);
  // A single peak under the middle of a block of 2 kg.
  WorldOptions peak = With(R"({"ground": {"height": -1}, "height_field": {"name": "f", "spacing": 1,
     "heights": [[-1, -1, -1], [-1, 0, -1], [-1, -1, -1]]}})");
  World high(block, peak);
  high.set_recording(true);
  high.SetState({{Vec3(0, 0.1, 0), Quat::Identity(), Vec3::Zero(), Vec3::Zero()}});
  EXPECT_NEAR(Step(high, 5).y(), kBlockMass * kStandardGravity, 0.5);
}

// ---- bodies

std::string Pebbles(int count) {
  std::string text = R"({"bodies": [)";
  RandomStream random(3, RandomStage::kTest, 0, 0);
  for (int i = 0; i < count; ++i) {
    const double height = random.Uniform(0.01, 0.03);
    text += i == 0 ? "" : ",";
    text += R"({"name": "pebble_)" + std::to_string(i);
    text += R"(", "box": [)" + io::Number(random.Uniform(0.02, 0.05));
    text += ", " + io::Number(height);
    text += ", " + io::Number(random.Uniform(0.02, 0.05));
    text += R"(], "density": 2600, "rotation": {"axis": "y", "degrees": )" + io::Number(random.Uniform(0, 360));
    text += R"(}, "position": [)" + io::Number(0.08 * (i % 8 - 3.5));
    text += ", " + io::Number(0.5 * height);
    text += ", " + io::Number(0.08 * (i / 8 - 3.5));
    text += "]}";
  }
  return text + "]}";
}

TEST(FreeBodies, AtRestStayToTheBitUntilTheyAreTouched) {
  const character::Character human = Human();
  const WorldOptions options = With(Pebbles(64));
  World world(human, options);
  character::State state = StateOf(human, RestPose(human));
  character::Translate(state, Vec3(0, 1, 0));
  options.environment.AppendStart(state);
  const size_t n = human.bodies.size();
  world.SetState(state);
  Step(world, 60, human.joints.size());
  const character::State falling = Get(world);
  for (size_t f = n; f < state.size(); ++f) {
    EXPECT_EQ(std::memcmp(&falling[f], &state[f], sizeof(character::BodyState)), 0) << f;
  }
  Step(world, 300, human.joints.size());
  const character::State fallen = Get(world);
  size_t moved = 0;
  for (size_t f = n; f < state.size(); ++f) {
    moved += std::memcmp(&fallen[f].position, &state[f].position, sizeof(Vec3)) != 0;
    EXPECT_GT(fallen[f].position.y(), 0.003);
  }
  EXPECT_GT(moved, 3u);
  EXPECT_LT(moved, state.size() - n);
  // A body that came to rest again is exactly at rest.
  Step(world, 480, human.joints.size());
  size_t still = 0;
  for (const auto& body : Get(world)) still += body.linear_velocity == Vec3::Zero();
  EXPECT_GT(still, 30u);
}

TEST(FreeBodies, WithoutSupportDoNotHang) {
  const character::Character block = Block();
  const WorldOptions options = With(R"({"boxes": [{"name": "table", "size": [1, 0.1, 1], "position": [0, 0.95, 0]}],
    "bodies": [{"name": "in_the_air", "box": [0.1, 0.1, 0.1], "mass": 1, "position": [3, 1, 0]},
               {"name": "over_the_edge", "box": [0.4, 0.1, 0.1], "mass": 1, "position": [0.55, 1.05, 0]},
               {"name": "on_the_table", "box": [0.4, 0.1, 0.1], "mass": 1, "position": [-0.2, 1.05, 0]},
               {"name": "on_the_other", "box": [0.1, 0.1, 0.1], "mass": 1, "position": [-0.2, 1.15, 0]}]})");
  World world(block, options);
  world.SetState(BlockFarAway());
  Step(world, 240);
  const character::State state = Get(world);
  EXPECT_LT(state[1].position.y(), 0.06);
  EXPECT_LT(state[2].position.y(), 0.9);
  EXPECT_EQ(state[3].position, Vec3(-0.2, 1.05, 0));
  EXPECT_EQ(state[4].position, Vec3(-0.2, 1.15, 0));
}

TEST(FreeBodies, APushedStackIsPushedAlong) {
  const character::Character block = Block();
  const WorldOptions options = With(R"({"ground": {"material": {"friction": 0}},
    "bodies": [{"name": "crate", "box": [0.4, 0.2, 0.4], "mass": 2, "position": [0.5, 0.1, 0]}]})");
  World world(block, options);
  world.SetState({{Vec3(0, 0.1, 0), Quat::Identity(), Vec3(1, 0, 0), Vec3::Zero()}});
  Step(world, 120);
  // Contacts do not bounce: both move on together, with the momentum that there was.
  EXPECT_NEAR(Get(world)[0].linear_velocity.x(), 0.5, 0.02);
  EXPECT_NEAR(Get(world)[1].linear_velocity.x(), 0.5, 0.02);
}

TEST(Determinism, AStateWithBodiesIsAllThatThereIs) {
  const character::Character human = Human();
  const WorldOptions options = With(Pebbles(64));
  World world(human, options);
  character::State state = StateOf(human, RestPose(human));
  character::Translate(state, Vec3(0, 0.02, 0));
  options.environment.AppendStart(state);
  world.SetState(state);
  Step(world, 100, human.joints.size());
  const character::State middle = Get(world);
  world.SetState(middle);
  Step(world, 50, human.joints.size());
  const character::State end = Get(world);
  World other(human, options);
  other.SetState(middle);
  Step(other, 50, human.joints.size());
  EXPECT_TRUE(SameBits(Get(other), end));
}

int ode_complaints = 0;  // "LCP internal error, s <= 0": then ODE's solver has given up

TEST(Solvers, AgreeInAWorldOfManyThings) {
  const character::Character human = Human();
  WorldOptions options = With(R"({"ground": {"material": {"friction": 0.5}},
    "boxes": [{"name": "step", "size": [3, 0.1, 0.4], "position": [0, 0.05, 0.1], "material": {"spring": {"stiffness": 20000, "damping": 300}}},
              {"name": "platform", "size": [0.3, 0.1, 3], "position": [0.4, 0.05, 0], "course": {"amplitude": [0, 0, 0.2], "frequency": 1}}],
    "height_field": {"name": "f", "position": [-1, 0.02, 0], "spacing": 0.4, "heights": [[0, 0.02, 0], [0.03, 0, 0.04], [0, 0.02, 0]]},
    "bodies": [{"name": "a", "box": [0.2, 0.1, 0.3], "mass": 3, "position": [0.1, 0.3, 0.1], "rotation": {"axis": "z", "degrees": 20}},
               {"name": "b", "sphere": 0.08, "mass": 1, "position": [-0.3, 0.3, 0]},
               {"name": "c", "capsule": {"radius": 0.05, "length": 0.3, "axis": "x"}, "mass": 2, "position": [0, 0.5, 0.2]}]})");
  options.solver = Solver::kStock;
  World stock(human, options);
  options.solver = Solver::kReduced;
  World own(human, options);
  character::State state = Scenes(human)[1].start;  // a fall
  options.environment.AppendStart(state);
  retrace_dSetMessageHandler([](int, const char*, va_list) { ++ode_complaints; });
  int with_contacts = 0, gave_up = 0;
  for (int step = 0; step < 300; ++step) {
    const int complaints = ode_complaints;
    stock.SetState(state, step);
    own.SetState(state, step);
    const std::vector<JointCommand> targets = SwayingTargets(human, step * options.time_step, 0.3);
    ASSERT_TRUE(stock.Step(targets));
    ASSERT_TRUE(own.Step(targets));
    const character::State a = Get(stock), b = Get(own);
    double fastest = 1, difference = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      fastest = std::max({fastest, a[i].linear_velocity.norm(), a[i].angular_velocity.norm()});
      difference = std::max({difference, (a[i].linear_velocity - b[i].linear_velocity).norm(),
                             (a[i].angular_velocity - b[i].angular_velocity).norm()});
    }
    if (ode_complaints == complaints) {
      EXPECT_LT(difference, 1e-5 * fastest) << step;
    } else {
      ++gave_up;
    }
    for (const Contact& contact : own.contacts()) with_contacts += contact.object >= 0;
    state = b;
  }
  EXPECT_GT(with_contacts, 300);
  EXPECT_LE(gave_up, 3);
}

}  // namespace
}  // namespace retrace::simulation
