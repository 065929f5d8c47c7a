#include "retrace/planning/response/contact_episodes.h"

#include <gtest/gtest.h>

#include <array>

#include "simulation/sample_characters.h"

namespace retrace::runs {
namespace {

constexpr double kEpisodeStep = 0.01;  // [s]

/// Two blocks 1 m apart, of which the second moves towards the first at 2 m/s. There are no contacts.
struct TwoBlocks {
  TwoBlocks() : block(simulation::Block()), layout(std::array{&block, &block}, {}) {
    whole.time_step = kEpisodeStep;
    for (int step = 0; step <= 100; ++step) {
      character::State state(2);
      state[1].position = Vec3(1, 0, 0);
      state[1].linear_velocity = Vec3(-2, 0, 0);
      whole.states.push_back(state);
    }
    whole.contacts.resize(100);
  }

  /// The second one presses the first with a force in a step.
  void Touch(size_t step, const Vec3& force, bool second_first = false) {
    simulation::Contact contact;
    contact.body = second_first ? 1 : 0;
    contact.other = 1 - contact.body;
    contact.point = Vec3(0.2, 0.1, 0);
    contact.normal = Vec3(second_first ? 1 : -1, 0, 0);
    contact.force = second_first ? Vec3(-force) : force;
    whole.contacts[step].push_back(contact);
  }

  character::Character block;
  simulation::Layout layout;
  control::Trajectory whole;
};

TEST(ContactEpisode, SumsTheForcesOnTheOneThatIsStruck) {
  for (const bool second_first : {false, true}) {
    TwoBlocks blocks;
    blocks.Touch(20, Vec3(-30, 0, 0), second_first);
    blocks.Touch(20, Vec3(-10, 40, 0), second_first);
    blocks.Touch(21, Vec3(-20, 0, 0), second_first);
    const auto impact = FirstImpact(blocks.whole, blocks.layout, 0);
    ASSERT_TRUE(impact);
    EXPECT_NEAR(impact->start, 0.2, 1e-12);
    EXPECT_NEAR(impact->end, 0.22, 1e-12);
    EXPECT_NEAR(impact->duration(), 0.02, 1e-12);
    EXPECT_EQ(impact->body, 0);
    EXPECT_EQ(impact->other, 1);
    EXPECT_EQ(impact->object, -1);
    EXPECT_LT((impact->impulse - Vec3(-0.6, 0.4, 0)).norm(), 1e-12);
    EXPECT_NEAR(impact->largest_force, std::hypot(40, 40), 1e-9);
    EXPECT_NEAR(impact->closing_speed, 2, 1e-12);
    EXPECT_FALSE(impact->at_end);
    // The other body gets the opposite impulse.
    const auto given = FirstImpact(blocks.whole, blocks.layout, 1);
    ASSERT_TRUE(given);
    EXPECT_EQ(given->body, 1);
    EXPECT_LT((given->impulse + impact->impulse).norm(), 1e-12);
    EXPECT_NEAR(given->closing_speed, 2, 1e-12);
  }
}

TEST(ContactEpisode, OneThatDoesNotEndIsAtTheEnd) {
  TwoBlocks blocks;
  for (size_t step = 90; step < 100; ++step) blocks.Touch(step, Vec3(-1, 0, 0));
  const auto impact = FirstImpact(blocks.whole, blocks.layout, 0);
  ASSERT_TRUE(impact);
  EXPECT_TRUE(impact->at_end);
  EXPECT_NEAR(impact->end, 1, 1e-12);
}

TEST(ContactEpisode, TheGroundAndItsOwnBodiesAreNoBlow) {
  TwoBlocks blocks;
  simulation::Contact ground;
  ground.body = 0;
  blocks.whole.contacts[10].push_back(ground);
  EXPECT_FALSE(FirstImpact(blocks.whole, blocks.layout, 0));
  const character::Character human = simulation::Human();
  const std::array<const character::Character*, 2> both = {&human, &blocks.block};
  const simulation::Layout pair(both, {});
  simulation::Contact own;  // of two bodies of the human
  own.body = 1;
  own.other = 2;
  blocks.whole.contacts[10].push_back(own);
  EXPECT_FALSE(FirstImpact(blocks.whole, pair, 0));
  EXPECT_FALSE(FirstImpact(blocks.whole, pair, 1));
}

TEST(ContactEpisode, OfAThingOnlyThoseThatMoveFreelyCount) {
  TwoBlocks blocks;
  simulation::Contact contact;
  contact.body = 0;
  contact.force = Vec3(0, 0, -50);
  contact.object = 0;  // a fixed one
  blocks.whole.contacts[10].push_back(contact);
  EXPECT_FALSE(FirstImpactOfObject(blocks.whole, 1));
  contact.object = 2;
  blocks.whole.contacts[30].push_back(contact);
  const auto impact = FirstImpactOfObject(blocks.whole, 1);
  ASSERT_TRUE(impact);
  EXPECT_EQ(impact->object, 2);
  EXPECT_EQ(impact->other, -1);
  EXPECT_NEAR(impact->start, 0.3, 1e-12);
  EXPECT_NEAR(impact->impulse.z(), -0.5, 1e-12);
  EXPECT_EQ(impact->closing_speed, 0);
}

TEST(ContactEpisode, NamesBothBodies) {
  TwoBlocks blocks;
  blocks.Touch(20, Vec3(-30, 0, 0));
  control::Scene scene;
  scene.characters = {blocks.block, blocks.block};
  scene.fragments.resize(2);
  const auto impact = FirstImpact(blocks.whole, blocks.layout, 0);
  ASSERT_TRUE(impact);
  EXPECT_EQ(Describe(scene, *impact), "2:block, which meets 1:block");
  const io::Json json = ToJson(scene, *impact);
  EXPECT_EQ(json["body"], "1:block");
  EXPECT_EQ(json["other"], "2:block");
  EXPECT_EQ(json["impulse"], io::Json::array({impact->impulse.x(), 0.0, 0.0}));
  EXPECT_EQ(json["closing_speed"], 2.0);
  EXPECT_EQ(json["largest_force"], 30.0);
}

}  // namespace
}  // namespace retrace::runs
