/// The world that a recording shows.
#include "retrace/task/recorded_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

/// On the floor, on a step 0.2 m high, on one 0.4 m high, each 0.3 m ahead of the other.
character::Pose ClimbingSteps(double time) {
  const int step = std::min(2, static_cast<int>(time));
  character::Pose pose = OnTheFloor(StandingPose());
  pose.root_position += Vec3(0, 0.2 * step, 0.3 * step);
  return pose;
}

WorldVariation WorldOf(const character::ReferenceMotion& motion) {
  return MakeRecordedWorld(metrics::FindRecordedGround(motion, motion.StatesOfPoses()), motion);
}

TEST(RecordedWorld, StepsAreBoxesWithTheirTopsUnderTheFeet) {
  const character::ReferenceMotion motion = Motion(ClimbingSteps, 2.9);
  const WorldVariation world = WorldOf(motion);
  ASSERT_EQ(world.environment.boxes.size(), 2u);
  EXPECT_TRUE(IsRecorded(world));
  EXPECT_TRUE(ShapesGround(world));
  EXPECT_EQ(world.environment.boxes[0].name, "step_1");
  const PlacedWorld placed = PlaceWorld(world, motion);
  for (const double time : {0.5, 1.5, 2.5}) {
    const Vec3 root = ClimbingSteps(time).root_position;
    EXPECT_NEAR(placed.environment.HeightAt(root.x(), root.z(), root.y()), 0.2 * std::floor(time), 0.02) << time;
  }
  EXPECT_EQ(placed.reference.poses().size(), motion.poses().size());
  EXPECT_TRUE(placed.warnings.empty()) << placed.warnings.front();
}

/// The edge of a step is midway between soles on it and soles before it.
TEST(RecordedWorld, NobodyStandsInsideAStep) {
  const character::ReferenceMotion motion = Motion(ClimbingSteps, 2.9);
  const PlacedWorld placed = PlaceWorld(WorldOf(motion), motion);
  character::State state;
  for (const double time : {0.5, 1.5}) {
    character::ForwardKinematics(Human(), ClimbingSteps(time), state);
    const Vec3 toes = state[BodyIndex("left_foot")].position + Vec3(0, 0, 0.12);
    EXPECT_LT(placed.environment.HeightAt(toes.x(), toes.z(), 2), 0.2 * std::floor(time) + 0.02) << time;
  }
}

/// Heels are beyond the edge of a stair by as much as the toes before it reach under them.
TEST(RecordedWorld, HeelsHangOverTheEdgeOfAStair) {
  const auto stairs = [](double time) {
    const int step = std::min(2, static_cast<int>(time));
    character::Pose pose = OnTheFloor(StandingPose());
    pose.root_position += Vec3(0, 0.2 * step, 0.16 * step);
    return pose;
  };
  const character::ReferenceMotion motion = Motion(stairs, 2.9);
  const PlacedWorld placed = PlaceWorld(WorldOf(motion), motion);
  ASSERT_EQ(placed.environment.boxes.size(), 2u);
  for (const simulation::Box& box : placed.environment.boxes) {
    EXPECT_NEAR(box.position.y() - 0.5 * box.size.y(), 0, 1e-6) << box.name << " is no board over the toes";
  }
  character::State state;
  for (const double time : {0.5, 1.5, 2.5}) {
    character::ForwardKinematics(Human(), stairs(time), state);
    const Vec3 foot = state[BodyIndex("left_foot")].position;
    EXPECT_NEAR(placed.environment.HeightAt(foot.x(), foot.z() + 0.1, 2), 0.2 * std::floor(time), 0.02) << time;
  }
}

TEST(RecordedWorld, APlainFloorIsNoWorld) {
  EXPECT_TRUE(WorldOf(Motion(Squatting, 3.2)).empty());
  EXPECT_FALSE(ShapesGround(WorldVariation()));
}

TEST(RecordedWorld, AWorldContradictsItWhereItsGroundIsAtAnotherHeight) {
  const character::ReferenceMotion motion = Motion(ClimbingSteps, 2.9);
  const metrics::RecordedGround ground = metrics::FindRecordedGround(motion, motion.StatesOfPoses());
  simulation::Environment environment = PlaceWorld(MakeRecordedWorld(ground, motion), motion).environment;
  EXPECT_TRUE(Contradictions(ground, environment).empty());
  environment.boxes[1].position.y() += 0.1;
  std::vector<std::string> found = Contradictions(ground, environment);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], testing::MatchesRegex("the recording shows a step at 0.4. m above x = .*, z = .* m, where the "
                                              "world has its ground at 0.5. m"));
  environment.boxes.clear();
  environment.ground.present = false;
  found = Contradictions(ground, environment);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0], testing::EndsWith("where the world has nothing"));
}

TEST(RecordedWorld, AFileOfItIsReadAgain) {
  const WorldVariation world = WorldOf(Motion(ClimbingSteps, 2.9));
  const io::Json document = WorldDocument(world);
  const WorldVariation read = ReadAlteredWorld(io::JsonView(document, "steps.json"), "steps");
  ASSERT_EQ(read.environment.boxes.size(), world.environment.boxes.size());
  for (size_t i = 0; i < read.environment.boxes.size(); ++i) {
    EXPECT_EQ(read.environment.boxes[i].size, world.environment.boxes[i].size);
    EXPECT_EQ(read.environment.boxes[i].position, world.environment.boxes[i].position);
  }
}

TEST(RecordedWorld, WhoSitsHasASeatThatLeavesRoomForTheLegs) {
  const auto sitting = [](double) {
    character::Pose pose = StandingPose();
    for (const std::string side : {"left", "right"}) {
      pose.joint_rotations[JointIndex(side + "_hip")] = AxisRotation(0, -kPi / 2);
      pose.joint_rotations[JointIndex(side + "_knee")] = AxisRotation(0, 1.8);  // feet are drawn back under the seat
    }
    return OnTheFloor(pose);
  };
  const character::ReferenceMotion motion = Motion(sitting, 2);
  const WorldVariation world = WorldOf(motion);
  ASSERT_EQ(world.environment.boxes.size(), 1u);
  EXPECT_EQ(world.environment.boxes[0].name, "seat_1");
  const PlacedWorld placed = PlaceWorld(world, motion);
  const Vec3 root = motion.poses().front().root_position;
  const double top = placed.environment.HeightAt(root.x(), root.z(), root.y());
  EXPECT_NEAR(top, Lowest(sitting(0), {"thigh"}), 0.03);
  EXPECT_TRUE(placed.warnings.empty()) << placed.warnings.front();
}

TEST(RecordedWorld, WhoLeansOnHandsHasATableThatLeavesRoomForTheBody) {
  const auto leaning = [](double) { return LeaningPose(0.4); };
  const character::ReferenceMotion motion = Motion(leaning, 2);
  const WorldVariation world = WorldOf(motion);
  ASSERT_EQ(world.environment.boxes.size(), 1u);
  EXPECT_EQ(world.environment.boxes[0].name, "table_1");
  const PlacedWorld placed = PlaceWorld(world, motion);
  const simulation::Box& table = placed.environment.boxes[0];
  EXPECT_NEAR(table.position.y() + 0.5 * table.size.y(), Lowest(leaning(0), {"hand"}), 0.03);
  EXPECT_GT(table.position.y() - 0.5 * table.size.y(), 0.4) << "a board, with room for the legs";
  character::State state;
  character::ForwardKinematics(Human(), motion.poses().front(), state);
  for (const std::string side : {"left", "right"}) {
    const Vec3& hand = state[BodyIndex(side + "_hand")].position;
    EXPECT_LT(std::abs(hand.x() - table.position.x()), 0.5 * table.size.x()) << side;
    EXPECT_LT(std::abs(hand.z() - table.position.z()), 0.5 * table.size.z()) << side;
  }
  EXPECT_TRUE(placed.warnings.empty()) << placed.warnings.front();
}

}  // namespace
}  // namespace retrace::task
