/// No memory is allocated while a world steps: counted at malloc itself, which ODE and C++ both end in.
#include <gtest/gtest.h>

#include "allocations.h"
#include "retrace/simulation/world.h"
#include "retrace/simulation/world_lanes.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

/// Things of all kinds about the place where the scenes are.
[[maybe_unused]] Environment ManyThings() {
  Environment environment;
  environment.boxes.push_back({"step", Vec3(3, 0.1, 0.3), Vec3(0, 0.05, 0.3)});
  environment.boxes.push_back({"platform", Vec3(0.3, 0.1, 3), Vec3(0.4, 0.05, 0)});
  environment.boxes.back().course.emplace().velocity = Vec3(0, 0, 0.2);
  environment.height_field = HeightField{"bumps", Vec3(-1, 0, 0), Quat::Identity(), 0.5, 2, 2, {0, 0.05, 0, 0.1}, {}};
  for (int i = 0; i < 100; ++i) {
    FreeBody& body = environment.bodies.emplace_back();
    body.name = "pebble_" + std::to_string(i);
    body.shape.size = Vec3(0.04, 0.02, 0.04);
    body.mass = 0.1;
    body.position = Vec3(0.08 * (i % 10 - 4.5), 0.01, 0.08 * (i / 10) - 0.9);
  }
  return environment;
}

#if RETRACE_COUNTS_MALLOC
TEST(Allocation, IsCounted) {
  const size_t before = allocations;
  std::vector<int> numbers(1000);
  volatile int* const kept = numbers.data();  // or the compiler sees that nobody needs it
  kept[0] = 1;
  EXPECT_EQ(allocations, before + 1);
}

class WarmWorld : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Allocation, WarmWorld, testing::Values("human", "asimo"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(WarmWorld, StepsWithoutAllocation) {
  const character::Character human =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/" + GetParam() + ".json");
  for (const Servo servo : {Servo::kImplicit, Servo::kExplicit}) {
    for (const bool recording : {false, true}) {
      WorldOptions options;
      if (recording) options.environment = ManyThings();
      options.servo = servo;
      if (servo == Servo::kExplicit) options.time_step = 0.0005;
      World world(human, options);
      world.set_recording(recording);
      const std::vector<Scene> scenes = Scenes(human);
      std::vector<std::vector<JointCommand>> targets;
      for (int n = 1; n <= 96; ++n) targets.push_back(SwayingTargets(human, n * options.time_step, 0.3));
      character::State state;
      world.GetState(state);
      const auto run = [&] {
        for (const Scene& scene : scenes) {
          world.SetState(scene.start);
          for (const std::vector<JointCommand>& target : targets) ASSERT_TRUE(world.Step(target));
          world.GetState(state);
        }
      };
      run();
      const size_t before = allocations;
      run();
      EXPECT_EQ(allocations - before, 0u) << (recording ? "recording" : "not recording");
    }
  }
}
void ExpectNoneSideBySide(const character::Character& human) {
  const character::Character* const characters[] = {&human};
  WorldOptions options;
  options.contact_scale.assign(human.joints.size(), 1.5);
  WorldLanes worlds(characters, options);
  const std::vector<Scene> scenes = Scenes(human);
  std::vector<std::vector<JointCommand>> targets;
  for (int n = 1; n <= 96; ++n) targets.push_back(SwayingTargets(human, n * options.time_step, 0.3));
  std::vector<std::span<const JointCommand>> commands(worlds.num_lanes());
  const auto moving = std::make_unique<bool[]>(worlds.num_lanes());
  const auto run = [&] {
    for (size_t first = 0; first < scenes.size(); ++first) {
      for (size_t l = 0; l < worlds.num_lanes(); ++l) {
        worlds.world(l).SetState(scenes[(first + l) % scenes.size()].start);
        moving[l] = true;
      }
      for (const std::vector<JointCommand>& target : targets) {
        for (auto& of_lane : commands) of_lane = target;
        worlds.Step(commands, {moving.get(), worlds.num_lanes()});
      }
    }
  };
  run();
  const size_t before = allocations;
  run();
  EXPECT_EQ(allocations - before, 0u);
}
TEST(Allocation, NorDoWorldsSideBySide) {
  ExpectNoneSideBySide(Human());
}
TEST(Allocation, NorDoThoseWhereTorquesAreLimited) {
  character::Character human = Human();
  for (character::Joint& joint : human.joints) joint.effort.setConstant(10);
  ExpectNoneSideBySide(human);
}
#else
TEST(Allocation, IsCounted) {
  GTEST_SKIP() << "malloc cannot be counted in this build";
}
#endif

}  // namespace
}  // namespace retrace::simulation
