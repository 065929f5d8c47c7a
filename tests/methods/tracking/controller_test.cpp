#include "retrace/methods/tracking/controller.h"

#include <gtest/gtest.h>

#include "methods/tracking/tracked_course.h"
#include "methods/tracking/variation.h"
#include "retrace/control/control.h"

namespace retrace::tracking {
namespace {

/// Simulates a controller from a state on.
control::Trajectory Follow(const Problem& problem, TrackingController& controller, const character::State& start,
                           int first_step, int num_steps) {
  const character::Character* const human = &task::Human();
  control::Controller* const one = &controller;
  return control::Simulate({&human, 1}, problem.task.world, start, {&one, 1}, first_step, num_steps);
}

TEST(TrackingController, SolvesAtItsRateAndPlansTheWeightOfWhoStands) {
  Options options;
  options.solve_rate = 60;
  const SampleCourse standing(task::Standing, 0.5, options);
  TrackingController controller(standing.problem());
  EXPECT_EQ(controller.fragment_steps(), 24);  // 0.1 s
  const control::Trajectory motion =
      Follow(standing.problem(), controller, controller.StartState(), 0, standing.problem().num_steps());
  EXPECT_FALSE(motion.diverged);
  const std::vector<SolveRecord>& records = controller.records();
  ASSERT_EQ(records.size(), 30u);
  for (size_t r = 0; r < records.size(); ++r) {
    EXPECT_NEAR(records[r].time, static_cast<double>(r) / 60, 1e-9);
    EXPECT_EQ(records[r].status, optimization::Status::kOptimal);
    EXPECT_GT(records[r].contacts, 0);
    EXPECT_LE(records[r].largest_torque, options.torque_limit * (1 + 1e-6));
  }
  EXPECT_NEAR(records.back().vertical_force, task::Human().total_mass() * kStandardGravity, 30);
  EXPECT_EQ(controller.TakeRecords().size(), 30u);
  EXPECT_TRUE(controller.records().empty());
}

TEST(TrackingController, StartsWhereTheMotionDoes) {
  const SampleCourse squat(task::Squatting, 0.5);
  character::State expected;
  squat.problem().tracked->StateAt(0, expected);
  const character::State start = TrackingController(squat.problem()).StartState();
  ASSERT_EQ(start.size(), expected.size());
  for (size_t b = 0; b < start.size(); ++b) EXPECT_LT((start[b].position - expected[b].position).norm(), 1e-6);
}

TEST(TrackingController, RestartsAtEachFragment) {
  const SampleCourse standing(task::Standing, 0.5);
  TrackingController controller(standing.problem());
  EXPECT_TRUE(controller.RestartsAt(24));
  EXPECT_TRUE(controller.RestartsAt(48));
  EXPECT_FALSE(controller.RestartsAt(25));
}

/// With its memory recalled, another controller goes on from a state as the first one did.
TEST(TrackingController, AFragmentIsAFunctionOfTheStateAndTheMemory) {
  Options options;
  options.guidance = 100;
  const SampleCourse squat(task::Squatting, 0.6, options);
  const Problem& problem = squat.problem();
  TrackingController first(problem);
  const control::Trajectory begin = Follow(problem, first, first.StartState(), 0, 48);
  const std::vector<double> memory = first.Memory();
  const control::Trajectory on = Follow(problem, first, begin.states.back(), 48, 48);
  TrackingController second(problem);
  second.Recall(memory);
  EXPECT_EQ(second.Memory(), memory);
  const control::Trajectory again = Follow(problem, second, begin.states.back(), 48, 48);
  EXPECT_EQ(control::Fingerprint(again.states.back()), control::Fingerprint(on.states.back()));
}

TEST(TrackingController, AVariationChangesHowTheReferenceIsFollowed) {
  const SampleCourse squat(task::Squatting, 0.3);
  const Problem& problem = squat.problem();
  const auto end_with = [&](const Variation& variation) {
    TrackingController controller(problem);
    controller.Vary(variation);
    return control::Fingerprint(Follow(problem, controller, controller.StartState(), 0, 48).states.back());
  };
  TrackingController plain(problem);
  EXPECT_EQ(end_with({}), control::Fingerprint(Follow(problem, plain, plain.StartState(), 0, 48).states.back()));
  Variation firm;
  firm.feedback = 2;
  EXPECT_NE(end_with(firm), end_with({}));
}

}  // namespace
}  // namespace retrace::tracking
