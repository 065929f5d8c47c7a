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

/// Poses of a character that glides along the ground.
std::vector<character::Pose> Gliding(const character::State& from, int count, double speed) {
  std::vector<character::Pose> poses(static_cast<size_t>(count));
  for (int f = 0; f < count; ++f) {
    character::PoseOf(Human(), from, poses[static_cast<size_t>(f)]);
    poses[static_cast<size_t>(f)].root_position.x() += speed * f / 120;
  }
  return poses;
}

/// Two that stand; the first one is shown along poses from step 48 on, and both half a second before that.
Scene Film() {
  Scene scene = TwoWhoStand();
  const simulation::Layout layout = scene.layout();
  const character::State second = layout.StateOf(scene.start, 1);
  scene.fragments[0].resize(2);
  scene.endings.push_back({48, 48, 1.0 / 120, Gliding(layout.StateOf(scene.start, 0), 40, 0.6), 0});
  return WithBeginning(scene, 120,
                       {1.0 / 120, {Gliding(layout.StateOf(scene.start, 0), 62, 0), Gliding(second, 62, -0.6)}});
}

TEST(Scene, BeginsAndEndsAsItWasRecorded) {
  const Scene film = Film();
  Scene simulated = film;
  simulated.beginning.reset();
  simulated.endings.clear();
  const Trajectory shown = Replay(film), expected = Replay(simulated);
  ASSERT_FALSE(shown.diverged);
  EXPECT_FALSE(film.physical());
  EXPECT_EQ(film.first_step(), 120);
  EXPECT_EQ(static_cast<int>(shown.num_steps()), film.num_steps());
  const simulation::Layout layout = film.layout();
  const auto root = static_cast<size_t>(Human().root);
  const auto state = [&](const Trajectory& of, size_t step, size_t c) { return layout.StateOf(of.states[step], c); };
  // Before it, the poses, without forces.
  const double start = state(shown, 0, 1)[root].position.x();
  EXPECT_NEAR(state(shown, 60, 1)[root].position.x(), start - 0.6 * 0.25, 1e-9);
  EXPECT_NEAR(state(shown, 60, 1)[root].linear_velocity.x(), -0.6, 1e-6);
  EXPECT_TRUE(shown.contacts[60].empty());
  // Then what is simulated, to the bit; of the second one to its end, but for what contacts begin anew with: the two do
  // not touch.
  for (size_t step = 0; step < 48; ++step) {
    ASSERT_TRUE(SameBits(shown.states[120 + step], expected.states[step])) << step;
  }
  for (size_t step = 48; step < 72; ++step) {
    const Vec3 difference = state(shown, 120 + step, 1)[root].position - state(expected, step, 1)[root].position;
    ASSERT_LT(difference.norm(), 1e-3) << step;
  }
  // The first one is shown along its poses, without contacts with the ground and torques.
  const double entered = state(shown, 120 + 48, 0)[root].position.x();
  EXPECT_NEAR(state(shown, 120 + 88, 0)[root].position.x(), entered + 0.6 * 40 / 240, 1e-6);
  for (const simulation::Contact& contact : shown.contacts[120 + 60]) EXPECT_EQ(layout.CharacterOf(contact.body), 1u);
  const Trajectory first = TrajectoryOf(shown, layout, 0);
  EXPECT_EQ(first.torques[120 + 60], std::vector<Vec3>(Human().joints.size(), Vec3::Zero()));
}

/// To the others a character that is shown along poses is a body that nothing stops.
TEST(Scene, WhoIsShownAlongPosesPushesTheOthers) {
  Scene scene = MakeScene(Human(), Standing(1));
  AddToScene(Human(), Standing(8), AxisRotation(1, 2.5), Vec3(0.9, 0, 0), scene);
  const simulation::Layout layout = scene.layout();
  const Trajectory alone = Replay(scene);
  scene.endings.push_back({24, 24, 1.0 / 120, Gliding(layout.StateOf(scene.start, 0), 90, 2), 0});
  const Trajectory pushed = Replay(scene);
  ASSERT_FALSE(pushed.diverged);
  bool touched = false;
  for (const auto& contacts : pushed.contacts) {
    for (const simulation::Contact& contact : contacts) touched = touched || contact.other >= 0;
  }
  EXPECT_TRUE(touched);
  const auto root = static_cast<size_t>(Human().root);
  const double was = layout.StateOf(alone.states[180], 1)[root].position.x();
  EXPECT_GT(layout.StateOf(pushed.states[180], 1)[root].position.x(), was + 0.05);
}

TEST(Scene, AFilmIsOfVersion6AndReadsBackToTheSameBytes) {
  const Scene film = Film();
  const std::string text = FormatControl(film);
  const io::Json document = io::ParseJson(text, "c.json");
  EXPECT_EQ(document["version"], 6);
  EXPECT_EQ(document["first_step"], 120);
  const Scene read = ParseScene(text, "c.json");
  EXPECT_EQ(FormatControl(read), text);
  ASSERT_TRUE(read.beginning);
  EXPECT_EQ(read.beginning->poses.size(), 2u);
  ASSERT_EQ(read.endings.size(), 1u);
  EXPECT_EQ(read.endings[0].character, 0u);
  const Trajectory a = Replay(film), b = Replay(read);
  ASSERT_EQ(a.states.size(), b.states.size());
  EXPECT_TRUE(SameBits(a.states.back(), b.states.back()));
  const auto refused = [&](const std::string& patch, const std::string& message) {
    const std::string changed = document.patch(io::ParseJson(patch, "patch")).dump();
    EXPECT_THAT([&] { ParseScene(changed, "c.json"); }, testing::ThrowsMessage<InputError>(HasSubstr(message)))
        << patch;
  };
  refused(R"([{"op": "remove", "path": "/first_step"}])", "/characters/0/fragments/0/start: found 0.5, expected 0");
  refused(R"([{"op": "remove", "path": "/characters/1/kinematic_beginning"}])", "kinematic_beginning");
  refused(R"([{"op": "replace", "path": "/characters/1/kinematic_beginning/frame_time", "value": 0.01}])",
          "expected 0.008333333333333333, as the first character has");
  refused(R"([{"op": "replace", "path": "/first_step", "value": 999}])", "fragments/0/start: found 0.5");
  refused(R"([{"op": "replace", "path": "/version", "value": 5}])", "");
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
  EXPECT_THAT(message("\"version\": 2", "\"version\": 7"), HasSubstr("/version"));
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
