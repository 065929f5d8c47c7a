/// Worlds from files, placed where a motion is, and what they do to its reference.
#include "retrace/task/world_variation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/recordings/bvh.h"
#include "retrace/retargeting/reference.h"
#include "retrace/retargeting/reference_report.h"
#include "retrace/simulation/world.h"
#include "retrace/task/task.h"
#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

WorldVariation Read(const std::string& members, const std::string& name = "sample") {
  const io::Json document = io::ParseJson(R"({"format": "retrace-world", "version": 1)" + members + "}", "world.json");
  return ReadAlteredWorld(io::JsonView(document, "world.json"), name);
}

WorldVariation Shipped(const std::string& name) {
  const std::string path = std::string(RETRACE_SOURCE_DIR) + "/data/worlds/" + name + ".json";
  const io::Json document = io::ReadJson(path);
  return ReadAlteredWorld(io::JsonView(document, path), name);
}

constexpr double kWay = 0.7;  // direction of the sample motion, about y from z [rad]
const Vec3 kStart(3, 0, -2);

/// Glides upright at 1 m/s, facing 0.2 rad away from where it goes.
character::Pose Gliding(double time) {
  character::Pose pose = StandingPose();
  pose.root_orientation = AxisRotation(1, kWay + 0.2);
  pose.root_position += kStart + AxisRotation(1, kWay) * Vec3(0, 0, time);
  return pose;
}
Vec3 Along(double x, double z) {
  return kStart + AxisRotation(1, kWay) * Vec3(x, 0, z);
}

TEST(WorldVariation, ShippedOnesAreReadAndHoldAStandingCharacter) {
  const character::ReferenceMotion standing = Motion(Standing, 1);
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(RETRACE_SOURCE_DIR) + "/data/worlds")) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().stem();
    const WorldVariation world = Shipped(name);
    EXPECT_FALSE(world.description.empty()) << name;
    const PlacedWorld placed = PlaceWorld(world, standing);
    EXPECT_FALSE(placed.notes.empty()) << name;
    ++count;
    if (name == "armchair" || name == "stool") continue;  // they hold somebody who sits: tests/runs/idling_test.cpp
    EXPECT_THAT(placed.warnings, IsEmpty()) << name;
    EXPECT_NEAR(placed.environment.HeightAt(0, 0, 1), 0, 1e-9) << name;
  }
  EXPECT_GE(count, 15);
}

TEST(WorldVariation, SaysWhatIsWrongAndWhere) {
  const auto expect = [](const std::string& members, const std::string& what) {
    try {
      Read(members);
      ADD_FAILURE() << members;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("world.json: " + what));
    }
  };
  expect(R"(, "enviroment": {})", "/");
  expect(R"(, "environment": {"ground": {"height": "low"}})", "/environment/ground/height: found \"low\"");
  expect(R"(, "reference": {"follow_ground": 1})", "/reference/follow_ground: found 1");
  expect(R"(, "loads": [{"body": "trunk", "mass": -1}])", "/loads/0/mass: found -1");
  expect(R"(, "scatter": [{"name": "p", "per_square_metre": 1, "half_width": 1, "from": 0, "beyond": 0,
              "width": [2, 1], "height": [1, 1], "density": 1, "seed": 1}])",
         "/scatter/0/width");
}

TEST(WorldVariation, ThoseThatGoTogetherAreOne) {
  WorldVariation world = Shipped("ice");
  Combine(world, Shipped("step"));
  Combine(world, Shipped("moon"));
  Combine(world, Shipped("mat"));
  EXPECT_THAT(world.names, ElementsAre("ice", "step", "moon", "mat"));
  EXPECT_EQ(*world.environment.ground.material.friction, 0.1);
  EXPECT_TRUE(world.environment.ground.material.spring);
  EXPECT_EQ(world.environment.boxes.size(), 1u);
  EXPECT_EQ(*world.gravity, 1.62);
  EXPECT_TRUE(world.follow_ground);
  for (const char* again : {"ice", "step", "moon"}) EXPECT_THROW(Combine(world, Shipped(again)), UsageError) << again;
  WorldVariation beam = Shipped("beam10");
  EXPECT_THROW(Combine(beam, Shipped("drop50")), UsageError);
}

TEST(WorldVariation, NoneLeavesTheReference) {
  const character::ReferenceMotion motion = Motion(Gliding, 1);
  const PlacedWorld placed = PlaceWorld({}, motion);
  EXPECT_TRUE(placed.environment.empty());
  EXPECT_EQ(placed.reference.poses().back().root_position, motion.poses().back().root_position);
  EXPECT_THAT(placed.notes, IsEmpty());
}

TEST(WorldVariation, IsWhereTheMotionGoes) {
  const PlacedWorld placed = PlaceWorld(Shipped("step"), Motion(Gliding, 2));
  const auto height = [&](double x, double z) {
    const Vec3 at = Along(x, z);
    return placed.environment.HeightAt(at.x(), at.z(), 1);
  };
  for (const double x : {-1.0, 0.0, 1.0}) {
    EXPECT_NEAR(height(x, 0.59), 0, 1e-12);
    EXPECT_NEAR(height(x, 0.61), 0.1, 1e-12);
  }
}

TEST(WorldVariation, OfAMotionThatStaysIsInFrontOfIt) {
  const auto turned = [](double) {
    character::Pose pose = StandingPose();
    pose.root_orientation = AxisRotation(1, 1);
    return pose;
  };
  const PlacedWorld placed = PlaceWorld(Shipped("step"), Motion(turned, 1));
  const Vec3 ahead = AxisRotation(1, 1) * Vec3(0, 0, 0.61);
  EXPECT_NEAR(placed.environment.HeightAt(ahead.x(), ahead.z(), 1), 0.1, 1e-12);
  EXPECT_NEAR(placed.environment.HeightAt(-ahead.x(), -ahead.z(), 1), 0, 1e-12);
}

TEST(FollowGround, RisesWithTheStepAndFallsNoFasterThanAFall) {
  const character::ReferenceMotion motion = Motion(Gliding, 2);
  const double level = motion.poses().front().root_position.y();
  const PlacedWorld step = PlaceWorld(Shipped("step"), motion);
  EXPECT_NEAR(step.reference.poses().front().root_position.y(), level, 1e-9);
  EXPECT_NEAR(step.reference.poses().back().root_position.y(), level + 0.1, 1e-9);
  EXPECT_THAT(step.notes, Contains(HasSubstr("0.10 m at the end")));
  const PlacedWorld drop = PlaceWorld(Shipped("drop100"), motion);
  const auto& poses = drop.reference.poses();
  EXPECT_NEAR(poses.back().root_position.y(), level - 1, 1e-6);
  const double h = drop.reference.frame_time();
  for (size_t i = 2; i < poses.size(); ++i) {
    const double before = poses[i - 1].root_position.y() - poses[i - 2].root_position.y();
    const double now = poses[i].root_position.y() - poses[i - 1].root_position.y();
    EXPECT_GT((now - before) / (h * h), -9.82);
  }
  for (size_t i = 0; i < poses.size(); ++i) {
    EXPECT_EQ(poses[i].joint_rotations.front().coeffs(), motion.poses()[i].joint_rotations.front().coeffs());
  }
}

/// A recorded walk up a ramp: soles keep their heights over the ground, now along its slope, and shins their knees'
/// side.
TEST(FeetOnGround, AWalkPutsItsFeetOnTheRampAsItDidOnTheFloor) {
  const std::string file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
  character::ReferenceReport report;
  const character::ReferenceMotion motion = character::MakeReference(Human(), motion::ReadBvh(file), file, {}, report);
  const PlacedWorld placed = PlaceWorld(Shipped("ramp"), motion);
  EXPECT_THAT(placed.notes.back(), HasSubstr("feet follow the ground"));
  const double slope = 10 * kPi / 180;
  int on_ramp = 0;
  for (size_t i = 0; i < motion.poses().size(); ++i) {
    character::State before, after;
    character::ForwardKinematics(Human(), motion.poses()[i], before);
    character::ForwardKinematics(Human(), placed.reference.poses()[i], after);
    for (const std::string side : {"left", "right"}) {
      const size_t foot = BodyIndex(side + "_foot");
      const auto over_ground = [&](const character::State& state, bool world) {
        double least = 1;
        for (const character::Shape& shape : Human().bodies[foot].shapes) {
          const Vec3 half = shape.HalfExtents();
          for (int corner = 0; corner < 8; ++corner) {
            const Vec3 sign(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1);
            const Vec3 at =
                state[foot].position + state[foot].orientation * Vec3(shape.offset + sign.cwiseProduct(half));
            least = std::min(least, at.y() - (world ? placed.environment.HeightAt(at.x(), at.z(), 3) : 0));
          }
        }
        return least;
      };
      const Vec3 place = after[foot].position;
      const auto height = [&](double z) {
        const Vec3 at = place + Heading(after[0].orientation) * Vec3(0, 0, z);
        return placed.environment.HeightAt(at.x(), at.z(), 3);
      };
      if (height(-0.3) <= 0) continue;  // of the floor, and of its edge
      ++on_ramp;
      EXPECT_NEAR(over_ground(after, true), over_ground(before, false), 0.012) << i << " " << side;
      EXPECT_NEAR(AngleBetween(after[foot].orientation, before[foot].orientation), slope, 0.02) << i << " " << side;
      const size_t knee = JointIndex(side + "_knee");
      const double bend = RotationVector(placed.reference.poses()[i].joint_rotations[knee]).x();
      EXPECT_GT(bend, -1e-9);
      EXPECT_LT(std::abs(bend - RotationVector(motion.poses()[i].joint_rotations[knee]).x()), 0.7) << i << " " << side;
    }
  }
  EXPECT_GT(on_ramp, 100);
  // On level ground nothing is to be done.
  const PlacedWorld level =
      PlaceWorld(Read(R"(, "reference": {"follow_ground": true, "feet_on_ground": true})"), motion);
  for (size_t i = 0; i < motion.poses().size(); ++i) {
    for (size_t j = 0; j < motion.poses()[i].joint_rotations.size(); ++j) {
      EXPECT_LT(AngleBetween(level.reference.poses()[i].joint_rotations[j], motion.poses()[i].joint_rotations[j]),
                1e-6);
    }
  }
}

TEST(LegsOnLine, FeetThatStandAreOnTheLineAndStayFlat) {
  // Both feet stand: both go to the line.
  const auto shifted = [](double) {
    character::Pose pose = StandingPose();
    pose.root_orientation = AxisRotation(1, 0.3);
    return pose;
  };
  const character::ReferenceMotion motion = Motion(shifted, 1);
  const PlacedWorld placed = PlaceWorld(Shipped("beam5"), motion);
  character::State before, after;
  character::ForwardKinematics(Human(), motion.poses()[60], before);
  character::ForwardKinematics(Human(), placed.reference.poses()[60], after);
  for (const char* side : {"left", "right"}) {
    const auto& ankle = Human().joints[JointIndex(std::string(side) + "_ankle")];
    const Vec3 now = AxisRotation(1, -0.3) * character::JointPosition(Human(), ankle, after);
    EXPECT_NEAR(now.x(), 0, 1e-9);
    EXPECT_NEAR(now.y(), character::JointPosition(Human(), ankle, before).y(), 1e-9);
    const size_t foot = BodyIndex(std::string(side) + "_foot");
    EXPECT_LT(AngleBetween(before[foot].orientation, after[foot].orientation), 1e-9);
    const size_t knee = JointIndex(std::string(side) + "_knee");
    EXPECT_EQ(placed.reference.poses()[60].joint_rotations[knee].coeffs(),
              motion.poses()[60].joint_rotations[knee].coeffs());
  }
  EXPECT_THAT(placed.notes.back(), HasSubstr("on a line"));
}

/// A recorded walk: nothing of a foot that is near the ground may be beside a narrow beam, also where it comes down.
TEST(LegsOnLine, AWalkComesDownOnTheLineAndFeetPassBesideIt) {
  const std::string file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
  character::ReferenceReport report;
  const character::ReferenceMotion motion = character::MakeReference(Human(), motion::ReadBvh(file), file, {}, report);
  const character::ReferenceMotion walk = PlaceWorld(Shipped("beam5"), motion).reference;
  const Vec3 start = motion.poses().front().root_position;
  Vec3 way = motion.poses().back().root_position - start;
  way.y() = 0;
  const Vec3 left = Vec3::UnitY().cross(way.normalized());
  int near_ground = 0;
  double widest_before = 0;
  double passing[2] = {0, 0};  // widest, to the left and to the right
  for (size_t i = 0; i < walk.poses().size(); ++i) {
    character::State before, state;
    character::ForwardKinematics(Human(), motion.poses()[i], before);
    character::ForwardKinematics(Human(), walk.poses()[i], state);
    EXPECT_LT(std::abs((character::CenterOfMass(Human(), state) - start).dot(left)), 0.03);
    double across[2], along[2];
    for (const int k : {0, 1}) {
      const std::string side = k == 0 ? "left" : "right";
      const auto& ankle = Human().joints[JointIndex(side + "_ankle")];
      const Vec3 now = character::JointPosition(Human(), ankle, state) - start;
      across[k] = now.dot(left);
      along[k] = now.dot(way.normalized());
      widest_before =
          std::max(widest_before, std::abs((character::JointPosition(Human(), ankle, before) - start).dot(left)));
    }
    const double apart = std::abs(along[0] - along[1]);
    for (const int k : {0, 1}) {
      const size_t foot = BodyIndex(k == 0 ? "left_foot" : "right_foot");
      if (apart < 0.42 || character::LowestPoint(Human().bodies[foot], state[foot]) > 0.02) continue;
      ++near_ground;
      EXPECT_LT(std::abs(across[k]), 0.025) << i << " " << k;
    }
    if (apart > 0.1) continue;
    EXPECT_GT(across[0] - across[1], 0.09) << i;
    passing[0] = std::max(passing[0], across[0]);
    passing[1] = std::min(passing[1], across[1]);
  }
  EXPECT_GT(near_ground, 100);
  EXPECT_GT(widest_before, 0.06);  // or there was nothing to do
  EXPECT_GT(passing[0], 0.09);
  EXPECT_LT(passing[1], -0.09);
}

/// What is said of a world's file.
std::string RefusalOf(const std::string& more) {
  const io::Json document =
      io::ParseJson(std::string(R"({"format": "retrace-world", "version": 1, )").append(more).append("}"), "w.json");
  try {
    ReadAlteredWorld(io::JsonView(document, "w.json"), "w");
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

std::string ScatterText(const std::string& name) {
  return std::string(R"({"name": ")")
      .append(name)
      .append(
          R"(", "per_square_metre": 10, "half_width": 1, "from": 0, "beyond": 1, "width": [0.1, 0.2], "height": [0.1, 0.2],
         "density": 100, "seed": 1})");
}

// Row 12 of the list of defects: bodies of the same name made a run that could not be replayed.
TEST(Scatter, Row12NamesOfBodiesAreDistinct) {
  const auto scatters = [](const std::string& a, const std::string& b) {
    return std::string(R"("scatter": [)").append(ScatterText(a)).append(", ").append(ScatterText(b)).append("]");
  };
  EXPECT_EQ(RefusalOf(scatters("stone", "crate")), "not refused");
  EXPECT_EQ(
      RefusalOf(scatters("stone", "stone")),
      "w.json: /scatter/1/name: found the name \"stone\" of what there is already, expected a name that nothing else "
      "has");
  EXPECT_EQ(RefusalOf(scatters("stone", "stone_1")), "not refused");  // stone_2 and stone_1_2 are two names
  const std::string box =
      R"("environment": {"boxes": [{"name": "stone_7", "size": [1, 1, 1], "position": [0, 0, 9]}]}, )";
  EXPECT_THAT(RefusalOf(box + R"("scatter": [)" + ScatterText("stone") + "]"), HasSubstr("the name \"stone_7\""));
  EXPECT_EQ(RefusalOf(box + R"("scatter": [)" + ScatterText("stones") + "]"), "not refused");
  EXPECT_THAT(RefusalOf(R"("scatter": [)" + ScatterText("a\\nb") + "]"),
              HasSubstr("/scatter/0/name: found \"a\\nb\", expected a name of 1 to 100 bytes"));
}

TEST(Scatter, HasABoundedNumberOfBodies) {
  const character::ReferenceMotion motion = Motion(Gliding, 2);
  WorldVariation world = Shipped("pebbles");
  world.scatters[0].per_square_metre = 1000;
  world.scatters[0].half_width = 100;
  try {
    PlaceWorld(world, motion);
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected at most 10000"));
  }
}

TEST(Scatter, IsTheSameForASeedAndNothingLiesOnAnother) {
  const character::ReferenceMotion motion = Motion(Gliding, 2);
  WorldVariation world = Shipped("pebbles");
  const auto place = [&] { return PlaceWorld(world, motion).environment; };
  const simulation::Environment once = place();
  EXPECT_EQ(once.ToJson(), place().ToJson());
  world.scatters[0].seed = 2;
  EXPECT_NE(once.ToJson(), place().ToJson());
  EXPECT_GT(once.bodies.size(), 40u);
  const Scatter& scatter = world.scatters[0];
  for (size_t i = 0; i < once.bodies.size(); ++i) {
    const simulation::FreeBody& body = once.bodies[i];
    EXPECT_GE(body.shape.size.y(), scatter.height[0]);
    EXPECT_LE(body.shape.size.y(), scatter.height[1]);
    EXPECT_DOUBLE_EQ(body.position.y(), 0.5 * body.shape.size.y());
    EXPECT_NEAR(body.mass, scatter.density * body.shape.size.prod(), 1e-12);
    for (size_t k = 0; k < i; ++k) {
      const Vec3 apart = body.position - once.bodies[k].position;
      EXPECT_GT(std::hypot(apart.x(), apart.z()), 0.5 * (body.shape.size.x() + once.bodies[k].shape.size.x()));
    }
  }
  // Simulated, they are at rest from the start.
  simulation::WorldOptions options;
  options.environment = once;
  simulation::World simulated(Human(), options);
  character::State state;
  character::Pose high = StandingPose();
  high.root_position.y() += 1;
  character::ForwardKinematics(Human(), high, state);
  once.AppendStart(state);
  simulated.SetState(state);
  ASSERT_TRUE(simulated.Step(std::vector<simulation::JointCommand>(Human().joints.size())));
  character::State after;
  simulated.GetState(after);
  for (size_t b = Human().bodies.size(); b < state.size(); ++b) EXPECT_EQ(after[b].position, state[b].position);
}

TEST(Loads, AreWeightInTheContactForces) {
  WorldVariation world = Shipped("vest");
  const character::Character loaded = WithLoads(Human(), world);
  EXPECT_NEAR(loaded.total_mass(), Human().total_mass() + 10, 1e-9);
  const size_t trunk = BodyIndex("trunk");
  EXPECT_NEAR(loaded.bodies[trunk].inertia.x() - Human().bodies[trunk].inertia.x(), 0.4 * 10 * 0.15 * 0.15, 1e-12);
  EXPECT_NEAR(character::ParseCharacter(loaded.json, "again").total_mass(), loaded.total_mass(), 1e-9);
  const auto weight = [](const character::Character& character) {
    simulation::WorldOptions options;
    simulation::World simulated(character, options);
    simulated.set_recording(true);
    character::State state;
    character::ForwardKinematics(character, OnTheFloor(StandingPose()), state);
    simulated.SetState(state);
    double sum = 0;
    std::vector<simulation::JointCommand> commands;
    for (const Quat& target : StandingPose().joint_rotations) commands.push_back({target});
    for (int step = 0; step < 60; ++step) {
      EXPECT_TRUE(simulated.Step(commands));
      if (step < 30) continue;
      for (const auto& contact : simulated.contacts()) {
        if (contact.other < 0) sum += contact.force.y() / 30;
      }
    }
    return sum;
  };
  EXPECT_NEAR(weight(loaded) - weight(Human()), 10 * 9.81, 0.05 * 98.1);
  world.loads[0].body = "tail";
  EXPECT_THROW(WithLoads(Human(), world), InputError);
}

TEST(PlaceWorld, WarnsOfWhatCannotHoldTheMotion) {
  const character::ReferenceMotion motion = Motion(Gliding, 2);
  const PlacedWorld nothing = PlaceWorld(Read(R"(, "environment": {"ground": {"present": false},
      "boxes": [{"name": "ledge", "size": [2, 1, 2], "position": [0, -0.5, 0]}]})"),
                                         motion);
  ASSERT_EQ(nothing.warnings.size(), 1u);
  EXPECT_THAT(nothing.warnings[0], HasSubstr("nothing under the reference's root from 1.0"));
  const PlacedWorld wall = PlaceWorld(Read(R"(, "environment": {
      "boxes": [{"name": "wall", "size": [2, 2, 0.5], "position": [0, 1, 1.5]}],
      "bodies": [{"name": "crate", "box": [0.4, 0.4, 0.4], "mass": 1, "position": [0, 1, 0]}]})"),
                                      motion);
  ASSERT_EQ(wall.warnings.size(), 2u);
  EXPECT_THAT(wall.warnings[0], HasSubstr("inside wall from"));
  EXPECT_THAT(wall.warnings[1], HasSubstr("inside crate from 0.00 s"));
}

TEST(Prepare, KindAndScheduleAreThoseOfTheRecordedMotion) {
  // What is dropped by a meter is not thrown into the air.
  const character::ReferenceMotion motion = Motion(Gliding, 2);
  const PlacedWorld placed = PlaceWorld(Shipped("drop100"), motion);
  Options options;
  options.world.environment = placed.environment;
  const Preparation there = Prepare(options, placed.reference, &motion);
  const Preparation plain = Prepare({}, motion);
  EXPECT_EQ(there.kind.kind, plain.kind.kind);
  EXPECT_EQ(there.task.schedule.steps, plain.task.schedule.steps);
  EXPECT_NE(Prepare(options, placed.reference).kind.kind, plain.kind.kind);
}

}  // namespace
}  // namespace retrace::task
