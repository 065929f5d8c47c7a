/// A clip that is ready for any method.
#include "retrace/task/prepared_clip.h"

#include <gtest/gtest.h>

#include "retrace/recordings/bvh.h"
#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

ClipSource Walk() {
  ClipSource source;
  source.name = "walk.bvh";
  source.clip = motion::ReadBvh(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh");
  source.character = Human();
  source.options.reference.end = 1;
  return source;
}

TEST(PreparedClip, PointsIntoItself) {
  const PreparedClip prepared(Walk());
  const Task& task = prepared.preparation.task;
  EXPECT_EQ(task.reference, &prepared.reference());
  EXPECT_EQ(task.character, &prepared.character);
  EXPECT_NEAR(prepared.reference().duration(), 1, 1.0 / 120);
  EXPECT_EQ(task.schedule.steps.front(), 0);
  EXPECT_FALSE(prepared.repaired.has_value());
  EXPECT_FALSE(prepared.Unrepaired().has_value());
}

TEST(PreparedClip, HasTheWorldAndItsLoads) {
  ClipSource source = Walk();
  source.world.names = {"heavy"};
  source.world.gravity = 1.62;
  source.world.loads = {{"trunk", 8, 0.1}};
  const double mass = source.character.total_mass();
  const PreparedClip prepared(std::move(source));
  EXPECT_NEAR(prepared.character.total_mass(), mass + 8, 1e-9);
  EXPECT_EQ(prepared.options.world.gravity, 1.62);
  EXPECT_EQ(prepared.preparation.task.world.gravity, 1.62);
}

TEST(PreparedClip, APlainRecordingHasNoWorld) {
  const PreparedClip prepared(Walk());
  EXPECT_TRUE(prepared.world.empty());
  EXPECT_TRUE(prepared.placed.environment.empty());
  EXPECT_TRUE(prepared.checks.ground.surfaces.empty());
}

/// The walk lifted by 0.3 m over a floor that is given.
ClipSource WalkOnPlatform() {
  ClipSource source = Walk();
  const PreparedClip floor(Walk());
  source.options.reference.floor_height = floor.report.floor_height - 0.3;
  return source;
}

TEST(PreparedClip, StandsOnWhatTheRecordingShows) {
  const PreparedClip prepared(WalkOnPlatform());
  ASSERT_TRUE(prepared.checks.ground.strong());
  ASSERT_FALSE(prepared.world.empty());
  EXPECT_EQ(prepared.world.names.front(), "recording");
  EXPECT_EQ(prepared.preparation.kind.kind, MotionKind::kLocomotion);
  for (const simulation::Box& box : prepared.placed.environment.boxes) {
    EXPECT_NEAR(box.position.y() + 0.5 * box.size.y(), 0.3, 0.02);
  }
  EXPECT_EQ(prepared.options.world.environment.boxes.size(), prepared.world.environment.boxes.size());
}

TEST(PreparedClip, StandsOnTheFloorWhereThatIsAskedFor) {
  ClipSource source = WalkOnPlatform();
  source.options.ground = GroundSource::kPlain;
  EXPECT_TRUE(PreparedClip(std::move(source)).world.empty());
}

TEST(PreparedClip, TheWorldOfTheUserWins) {
  ClipSource source = WalkOnPlatform();
  source.world.names = {"mine"};
  source.world.environment.ground.height = 0.1;
  const PreparedClip prepared(std::move(source));
  EXPECT_EQ(prepared.world.names, std::vector<std::string>{"mine"});
  ClipSource light = WalkOnPlatform();
  light.world.names = {"moon"};
  light.world.gravity = 1.62;  // says nothing about the ground
  EXPECT_EQ(PreparedClip(std::move(light)).world.names, (std::vector<std::string>{"moon", "recording"}));
}

TEST(PreparedClip, SaysWhatWasRepaired) {
  ClipSource source = Walk();
  source.repair = true;
  source.notes = {"as it was found"};
  const PreparedClip prepared(std::move(source));
  ASSERT_TRUE(prepared.repaired.has_value());
  EXPECT_EQ(prepared.Unrepaired().has_value(), prepared.repaired->changed);
  ASSERT_FALSE(prepared.report.notes.empty());
  EXPECT_EQ(prepared.report.notes.front(), "as it was found");
}

}  // namespace
}  // namespace retrace::task
