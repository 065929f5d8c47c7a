/// Several characters in one world: their control file, their motion, and what is reported about one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "control/sample_control.h"
#include "retrace/character/limits.h"
#include "retrace/control/control_file.h"
#include "retrace/control/pushes.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"

namespace retrace::control {
namespace {

using testing::HasSubstr;

/// Two standing characters, the second turned about and two meters away.
Scene TwoWhoStand(int fragments = 3) {
  Scene scene = MakeScene(Human(), Standing(fragments));
  AddToScene(Human(), Standing(fragments + 1), AxisRotation(1, 2.5), Vec3(2, 0, 0.3), scene);
  return scene;
}

TEST(Scene, OfOneCharacterIsItsControl) {
  const OpenLoopControl control = Standing(2);
  const Scene scene = MakeScene(Human(), control);
  EXPECT_EQ(scene.num_steps(), control.num_steps());
  EXPECT_EQ(FormatControl(scene), FormatControl(Human(), control)) << "version 1, which earlier programs read";
  const Trajectory a = Replay(scene);
  const Trajectory b = Replay(Human(), control);
  ASSERT_EQ(a.states.size(), b.states.size());
  for (size_t i = 0; i < a.states.size(); ++i) ASSERT_TRUE(SameBits(a.states[i], b.states[i]));
}

TEST(Scene, CharactersThatDoNotTouchMoveAsEachAlone) {
  const Scene scene = TwoWhoStand();
  const simulation::Layout layout = scene.layout();
  const Trajectory together = Replay(scene);
  ASSERT_FALSE(together.diverged);
  for (const size_t c : {0u, 1u}) {
    const Trajectory alone = Replay(scene.characters[c], ControlOf(scene, c));
    const Trajectory own = TrajectoryOf(together, layout, c);
    ASSERT_GE(own.states.size(), alone.states.size());
    for (size_t i = 0; i < alone.states.size(); ++i) ASSERT_TRUE(SameBits(own.states[i], alone.states[i])) << c << i;
    for (size_t i = 0; i < alone.contacts.size(); ++i) {
      ASSERT_EQ(own.contacts[i].size(), alone.contacts[i].size());
      for (size_t k = 0; k < alone.contacts[i].size(); ++k) {
        EXPECT_EQ(own.contacts[i][k].body, alone.contacts[i][k].body);
        EXPECT_EQ(own.contacts[i][k].force, alone.contacts[i][k].force);
      }
      EXPECT_EQ(own.torques[i], alone.torques[i]);
    }
  }
}

TEST(Scene, HasNoMoreCharactersThanReadersTake) {
  const OpenLoopControl control = Standing(1);
  Scene scene = MakeScene(Human(), control);
  for (size_t c = 1; c < character::kMostCharacters; ++c) {
    AddToScene(Human(), control, Quat::Identity(), Vec3(2 * static_cast<double>(c), 0, 0), scene);
  }
  EXPECT_EQ(ParseScene(FormatControl(scene), "c.json").characters.size(), character::kMostCharacters);
  EXPECT_THAT([&] { AddToScene(Human(), control, Quat::Identity(), Vec3(-2, 0, 0), scene); },
              testing::ThrowsMessage<UsageError>(HasSubstr("more than 16 characters")));
  EXPECT_EQ(scene.characters.size(), character::kMostCharacters) << "it is as it was";
}

// What a writer has begun a reader can read: the limits of each reader, and one more.
TEST(Scene, IsNotWrittenBeyondTheLimitsOfReaders) {
  const Push push{0, Vec3(1, 0, 0), 0, 0.1};
  struct Case {
    std::string what;
    size_t most;
    std::function<void(OpenLoopControl& control, size_t count)> fill;
  };
  const Case cases[] = {
      {"pushes", kMostPushes, [&](OpenLoopControl& control, size_t count) { control.pushes.assign(count, push); }},
      {"target poses of a fragment", 1000,
       [](OpenLoopControl& control, size_t count) {
         control.fragments.front().targets.assign(count, TargetPose(control.fragments.front().targets.front()));
       }},
      {"steps", character::kMostSteps, [](OpenLoopControl& control, size_t count) {
         control.fragments.resize(1);
         control.fragments.front().num_steps = static_cast<int>(count);
       }}};
  for (const Case& c : cases) {
    for (const size_t beyond : {0u, 1u}) {
      OpenLoopControl control = Standing(1);
      c.fill(control, c.most + beyond);
      bool begun = false;
      const auto write = [&] { WriteControl(Human(), control, [&](std::string_view) { begun = true; }); };
      if (beyond == 0) {
        EXPECT_NO_THROW(write()) << c.what;
        EXPECT_NO_THROW(ParseControl(FormatControl(Human(), control), "c.json")) << c.what;
      } else {
        EXPECT_THAT(write, testing::ThrowsMessage<UsageError>(HasSubstr(c.what + ", expected at most"))) << c.what;
        EXPECT_FALSE(begun) << c.what;
      }
    }
  }
}

TEST(Scene, ReadsBackToTheSameBits) {
  Scene scene = TwoWhoStand();
  simulation::FreeBody crate;
  crate.name = "crate";
  crate.shape.size = Vec3::Constant(0.3);
  crate.mass = 3;
  crate.position = Vec3(0, 0.15, 3);
  scene.world.environment.bodies = {crate};
  scene.world.environment.AppendStart(scene.start);
  const std::string text = FormatControl(scene);
  EXPECT_THAT(text, HasSubstr("\"version\": 2"));
  const Scene back = ParseScene(text, "control.json");
  EXPECT_EQ(FormatControl(back), text);
  const Trajectory a = Replay(scene);
  const Trajectory b = Replay(back);
  ASSERT_EQ(a.states.size(), b.states.size());
  EXPECT_TRUE(SameBits(a.states.back(), b.states.back()));
  EXPECT_THROW(ParseControl(text, "control.json"), InputError) << "that is of a single character";
}

TEST(Scene, ItsPushesAreInItsFile) {
  Scene scene = MakeScene(Human(), Standing(2));
  AddToScene(Human(), Standing(3), Quat::Identity(), Vec3(5, 0, 0), scene);
  const auto bodies = static_cast<int>(Human().bodies.size());
  scene.pushes = {{bodies + 2, Vec3(0, 0, 300), 0.05, 0.1}};
  const std::string text = FormatControl(scene);
  const io::Json document = io::ParseJson(text, "c.json");
  EXPECT_EQ(document["version"], 5);
  EXPECT_EQ(document["pushes"][0]["body"], "2:" + Human().bodies[2].name);
  const Scene loaded = ParseScene(text, "c.json");
  EXPECT_EQ(FormatControl(loaded), text);
  EXPECT_TRUE(SameBits(Replay(loaded).states.back(), Replay(scene).states.back()));
  ASSERT_EQ(ControlOf(loaded, 1).pushes.size(), 1u);
  EXPECT_EQ(ControlOf(loaded, 1).pushes[0].body, 2);
}

TEST(Scene, SaysWhatIsWrongInItsFile) {
  const std::string text = FormatControl(TwoWhoStand(1));
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string bad = text;
    bad.replace(bad.rfind(from), from.size(), to);
    try {
      ParseScene(bad, "control.json");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message("\"character\":2,\"body\"", "\"character\":1,\"body\""), HasSubstr("/start_state/"));
  EXPECT_THAT(message("\"steps\":", "\"step\":"), HasSubstr("/characters/1/fragments/"));
  EXPECT_THAT(message("\"version\": 2", "\"version\": 6"), HasSubstr("/version"));
}

TEST(Scene, AnotherCharacterIsAnObjectThatPresses) {
  Scene scene = MakeScene(Human(), Standing(3));
  // Chest to chest, a little inside one another.
  AddToScene(Human(), Standing(3), AxisRotation(1, kPi), Vec3(0, 0, 0.22), scene);
  const Trajectory together = Replay(scene);
  const simulation::Layout layout = scene.layout();
  const Trajectory first = TrajectoryOf(together, layout, 0);
  const Trajectory second = TrajectoryOf(together, layout, 1);
  ASSERT_EQ(first.objects, std::vector<std::string>{"character 2"});
  ASSERT_EQ(second.objects, std::vector<std::string>{"character 1"});
  Vec3 on_first = Vec3::Zero();
  Vec3 on_second = Vec3::Zero();
  for (size_t i = 0; i < first.contacts.size(); ++i) {
    for (const simulation::Contact& contact : first.contacts[i]) {
      if (contact.object == 0) on_first += contact.force;
    }
    for (const simulation::Contact& contact : second.contacts[i]) {
      if (contact.object == 0) on_second += contact.force;
    }
  }
  EXPECT_GT(on_first.norm(), 1) << "they press on one another";
  EXPECT_LT((on_first + on_second).norm(), 1e-9 * on_first.norm()) << "action and reaction";
}

TEST(Scene, ACharacterWithoutAControlIsDrivenAtItsRestPose) {
  OpenLoopControl none = Standing(0);
  Scene scene = MakeScene(Human(), Standing(2));
  AddToScene(Human(), none, Quat::Identity(), Vec3(2, 0, 0), scene);
  ASSERT_TRUE(scene.fragments[1].empty());
  const Trajectory together = Replay(scene);
  const Trajectory alone = Replay(Human(), ControlOf(scene, 0));
  EXPECT_EQ(together.num_steps(), alone.num_steps());
  EXPECT_TRUE(SameBits(scene.layout().StateOf(together.states.back(), 0), alone.states.back()));
}

/// Holds the first pose with a torque that grows with the state's drift: a controller that looks.
class Watcher final : public Controller {
 public:
  void Command(const StepContext& now, std::span<simulation::JointCommand> commands) override {
    EXPECT_EQ(commands.size(), Human().joints.size());
    EXPECT_EQ(now.state.size(), now.layout.num_bodies());
    EXPECT_NEAR(now.time, now.step / 240.0, 1e-12);
    heights.push_back(now.state[static_cast<size_t>(Human().root)].position.y());
    for (simulation::JointCommand& command : commands) command.gain = 0;
  }
  std::vector<double> heights;
};

TEST(Controller, IsAskedWithTheStateBeforeEachStep) {
  Watcher watcher;
  Controller* const controller = &watcher;
  const character::Character* const human = &Human();
  const OpenLoopControl standing = Standing(1);
  const Trajectory limp = Simulate({&human, 1}, standing.world, standing.start, {&controller, 1}, 0, 60);
  ASSERT_EQ(watcher.heights.size(), 60u);
  for (size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(watcher.heights[i], limp.states[i][static_cast<size_t>(Human().root)].position.y());
  }
  EXPECT_LT(watcher.heights.back(), watcher.heights.front() - 0.01) << "without servos it sinks";
}

}  // namespace
}  // namespace retrace::control
