/// Feedback allocates nothing while a motion is simulated.
#include <gtest/gtest.h>

#include "allocations.h"
#include "control/sample_control.h"
#include "retrace/methods/stabilization/reindexing.h"
#include "retrace/methods/stabilization/stabilize.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::stabilization {
namespace {

#if RETRACE_COUNTS_MALLOC
TEST(FeedbackAllocation, NoneInTheSteps) {
  const control::OpenLoopControl control = control::Standing(3);
  Options coarse;
  coarse.interval = 0.05;
  const Problem problem = MakeProblem(character::Human(), control, {}, coarse);
  const Summary summary = stabilization::Run(problem, *parallel::MakeThreadFarm(1, MakeWorkerFactory(problem)));
  ASSERT_EQ(summary.status, Status::kDone);
  ReindexingOptions options;
  options.enough = 0;  // all candidates are tried
  ReindexingController controller({&character::Human(), &control, control.fragments, &summary.feedback}, options);
  control::Controller* const controllers[] = {&controller};
  simulation::World world(character::Human(), control.world);
  control::SimulationScratch scratch;
  character::State start = control.start;
  start[0].linear_velocity.x() += 0.2;
  size_t before = 0;
  for (int round = 0; round < 2; ++round) {  // the first one finds the sizes of all that grows
    world.SetState(start);
    before = allocations;
    ASSERT_TRUE(control::Simulate(world, controllers, 0, 48, {}, scratch, [](int) {}));
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GT(controller.simulations(), 2u);
}
#endif

}  // namespace
}  // namespace retrace::stabilization
