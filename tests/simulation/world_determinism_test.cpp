/// The same bits, whatever the world did before, whoever runs it, and whether it is watched.
#include <gtest/gtest.h>

#include <thread>

#include "retrace/simulation/world.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

using character::Character;
using character::State;

constexpr double kFragment = 0.1;  // [s]

/// States at the ends of fragments, each set again where the next one starts, as in a search.
std::vector<State> Simulate(const Character& human, World& world, const State& start, int fragments) {
  std::vector<State> ends;
  State state = start;
  const double h = world.options().time_step;
  const int steps = static_cast<int>(std::lround(kFragment / h));
  for (int f = 0; f < fragments; ++f) {
    world.SetState(state);
    for (int n = 1; n <= steps; ++n) {
      EXPECT_TRUE(world.Step(SwayingTargets(human, f * kFragment + n * h, 0.3)));
    }
    world.GetState(state);
    ends.push_back(state);
  }
  return ends;
}

void ExpectSameBits(const std::vector<State>& a, const std::vector<State>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(SameBits(a[i], b[i])) << what << ", fragment " << i;
}

class Determinism : public testing::TestWithParam<std::tuple<Servo, Solver>> {
 protected:
  Determinism() {
    std::tie(options_.servo, options_.solver) = GetParam();
    if (options_.servo == Servo::kExplicit) {
      options_.time_step = 0.0005;
    } else {
      options_.contact_scale = human_.contact_presets.at("hands");
    }
  }
  const Character human_ = Human();
  const std::vector<Scene> scenes_ = Scenes(human_);
  WorldOptions options_;
};
INSTANTIATE_TEST_SUITE_P(World, Determinism,
                         testing::Combine(testing::Values(Servo::kImplicit, Servo::kExplicit),
                                          testing::Values(Solver::kReduced, Solver::kStock)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param) == Servo::kImplicit ? "Implicit" : "Explicit") +
                                  (std::get<1>(test.param) == Solver::kStock ? "Stock" : "Reduced");
                         });

TEST_P(Determinism, RestoringAndRunningAgain) {
  World world(human_, options_);
  for (const Scene& scene : scenes_) {
    const auto once = Simulate(human_, world, scene.start, 3);
    ExpectSameBits(once, Simulate(human_, world, scene.start, 3), scene.name);
    // Restoring in the middle is continuing.
    const auto rest = Simulate(human_, world, once[0], 1);
    World other(human_, options_);
    ExpectSameBits(rest, Simulate(human_, other, once[0], 1), scene.name);
  }
}

TEST_P(Determinism, AFreshWorldAndOneWithAnotherPast) {
  World used(human_, options_);
  for (const Scene& past : scenes_) {
    Simulate(human_, used, past.start, 1);
    for (const Scene& scene : scenes_) {
      World fresh(human_, options_);
      ExpectSameBits(Simulate(human_, used, scene.start, 1), Simulate(human_, fresh, scene.start, 1),
                     scene.name + " after " + past.name);
    }
  }
}

TEST_P(Determinism, WatchingDoesNotChangeTheMotion) {
  World watched(human_, options_);
  World unwatched(human_, options_);
  watched.set_recording(true);
  for (const Scene& scene : scenes_) {
    ExpectSameBits(Simulate(human_, watched, scene.start, 3), Simulate(human_, unwatched, scene.start, 3), scene.name);
    // Reading the state between steps is watching too.
    State state;
    watched.SetState(scene.start);
    const int steps = static_cast<int>(std::lround(kFragment / options_.time_step));
    for (int n = 1; n <= steps; ++n) {
      ASSERT_TRUE(watched.Step(SwayingTargets(human_, n * options_.time_step, 0.3)));
      watched.GetState(state);
    }
    EXPECT_TRUE(SameBits(state, Simulate(human_, unwatched, scene.start, 1).back())) << scene.name;
  }
}

TEST_P(Determinism, TwoWorldsByTurnsOnOneThread) {
  World first(human_, options_);
  World second(human_, options_);
  const Scene& a = scenes_[1];
  const Scene& b = scenes_[2];
  first.SetState(a.start);
  second.SetState(b.start);
  const int steps = static_cast<int>(std::lround(kFragment / options_.time_step));
  for (int n = 1; n <= steps; ++n) {
    const auto targets = SwayingTargets(human_, n * options_.time_step, 0.3);
    ASSERT_TRUE(first.Step(targets));
    ASSERT_TRUE(second.Step(targets));
  }
  State first_end;
  State second_end;
  first.GetState(first_end);
  second.GetState(second_end);
  World alone(human_, options_);
  EXPECT_TRUE(SameBits(first_end, Simulate(human_, alone, a.start, 1).back()));
  EXPECT_TRUE(SameBits(second_end, Simulate(human_, alone, b.start, 1).back()));
}

TEST_P(Determinism, OneThreadAndFour) {
  std::vector<std::vector<State>> alone;
  World world(human_, options_);
  for (const Scene& scene : scenes_) alone.push_back(Simulate(human_, world, scene.start, 2));
  std::vector<std::vector<std::vector<State>>> together(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < together.size(); ++t) {
    threads.emplace_back([&, t] {
      World own(human_, options_);
      // Each thread takes the scenes in another order.
      together[t].resize(scenes_.size());
      for (size_t s = 0; s < scenes_.size(); ++s) {
        const size_t scene = (s + t) % scenes_.size();
        together[t][scene] = Simulate(human_, own, scenes_[scene].start, 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < together.size(); ++t) {
    for (size_t s = 0; s < scenes_.size(); ++s) {
      ExpectSameBits(alone[s], together[t][s], scenes_[s].name + " on thread " + std::to_string(t));
    }
  }
}

}  // namespace
}  // namespace retrace::simulation
