#include "planning/response/get_up_planning.h"

#include <gtest/gtest.h>

#include "planning/response/sample_response.h"
#include "retrace/io/error.h"
#include "retrace/metrics/state_distance.h"

namespace retrace::runs {
namespace {

/// A walk under a hard push, and the problem from which a fall is planned.
struct Felling {
  explicit Felling(const ResponseOptions& options) : job(options), struck(job.problem) {
    struck.Simulate(job.problem.control.num_steps());
  }
  SegmentProblem from() const {
    return {.character = struck.character(),
            .world = job.problem.control.world,
            .start = struck.NaiveState(struck.exit()),
            .first_step = struck.exit(),
            .poses = nothing,
            .configuration = job.problem.settings.configuration,
            .threads = 1,
            .stop = stop};
  }
  double RootOf(const character::State& state) const {
    return state[static_cast<size_t>(struck.character().root)].position.y();
  }

  ResponseJob job;
  ImpactSimulation struck;
  std::vector<character::Pose> nothing;
  std::function<bool()> stop;
};

TEST(Responding, AGetUpBeginsWithAFallAndADrive) {
  const Felling felling(ResponseSamples::Get().Felled());
  const std::vector<GetUpPlan> ways = PlanGetUps(felling.struck, felling.from(), 3);
  ASSERT_FALSE(ways.empty());
  const auto& [candidate, lead] = ways[0];
  const double h = felling.struck.h();
  // Without gaps from the exit on, with a state for each step.
  int step = felling.struck.exit();
  for (const control::Fragment& fragment : lead.fragments) {
    EXPECT_EQ(fragment.first_step, step);
    step = fragment.end_step();
  }
  EXPECT_EQ(lead.end_step, step);
  EXPECT_EQ(lead.states.size(), static_cast<size_t>(step - felling.struck.exit()));
  EXPECT_EQ(control::Fingerprint(lead.states.front()), control::Fingerprint(felling.from().start));
  EXPECT_EQ(control::Fingerprint(SimulateSegment(felling.from(), lead.fragments).states.back()),
            control::Fingerprint(lead.end));
  // It lies, and servos then go to the motion for a second and a half.
  EXPECT_EQ(lead.fragments.back().num_steps, 360);
  EXPECT_NEAR(candidate.lies_at, lead.fragments.back().first_step * h, 1e-9);
  EXPECT_NEAR(candidate.start + 0.6, lead.end_step * h, 1e-9);
  const size_t lies = lead.states.size() - 360;
  EXPECT_LT(felling.RootOf(lead.states[lies]), 0.45);
  character::State entered;
  felling.struck.MotionOf(candidate).StateAt(candidate.time, entered);
  EXPECT_LT(felling.RootOf(entered), 0.5);
  EXPECT_EQ(candidate.gap, metrics::StateDistance(felling.struck.character(), lead.end, entered));
  // Servos bring the body nearer to it than it lay.
  EXPECT_LT(candidate.gap, metrics::StateDistance(felling.struck.character(), lead.states[lies], entered));
  EXPECT_GT(candidate.end, candidate.time + 0.8);
}

TEST(Responding, ALibraryWithoutGetUpsYieldsNoPlan) {
  const Felling felling(ResponseSamples::Get().Pushed("trunk,0:0:450,0.6,0.1"));
  EXPECT_TRUE(PlanGetUps(felling.struck, felling.from(), 3).empty());
}

TEST(Responding, PlanningGetUpsStopsWhereItIsAsked) {
  Felling felling(ResponseSamples::Get().Felled());
  felling.stop = [] { return true; };
  EXPECT_THROW(PlanGetUps(felling.struck, felling.from(), 3), StoppedError);
}

}  // namespace
}  // namespace retrace::runs
