/// One farm for many seeds gives what a farm for each would give.
#include "retrace/methods/sampling/seeds.h"

#include <gtest/gtest.h>

#include <set>

#include "methods/sampling/small_problem.h"
#include "retrace/control/control_file.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::sampling {
namespace {

TEST(SeededFarm, GivesTheBytesOfAFarmForEachSeed) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.3);
  for (const int threads : {1, 3}) {
    const auto farm = parallel::MakeThreadFarm(threads, MakeSeededWorkerFactory(small.problem()));
    std::set<double> costs;
    for (const uint64_t seed : {uint64_t{7}, uint64_t{1}, uint64_t{1} << 63, uint64_t{7}}) {
      Problem problem = small.problem();
      problem.options.seed = seed;
      SeededFarm seeded(*farm, seed);
      EXPECT_EQ(seeded.num_workers(), threads);
      const Summary result = sampling::Run(problem, seeded);
      const auto own = parallel::MakeThreadFarm(1, MakeWorkerFactory(problem));
      const Summary expected = sampling::Run(problem, *own);
      EXPECT_EQ(control::FormatControl(task::Human(), result.control),
                control::FormatControl(task::Human(), expected.control));
      EXPECT_EQ(result.path_cost, expected.path_cost);
      for (size_t s = 0; s < expected.iterations[0].samples.size(); ++s) {
        ASSERT_EQ(result.iterations[0].samples[s].cost, expected.iterations[0].samples[s].cost) << s;
      }
      costs.insert(result.iterations[0].samples[1].cost);
    }
    EXPECT_EQ(costs.size(), 3u) << "seeds that draw the same";
  }
}

TEST(SeededFarm, PassesErrorsOn) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.3);
  const auto farm = parallel::MakeThreadFarm(1, MakeSeededWorkerFactory(small.problem()));
  SeededFarm seeded(*farm, 1);
  const std::vector<parallel::Bytes> tasks(1);  // no task at all
  EXPECT_THROW(seeded.Run(tasks, [](size_t, std::span<const std::byte>) {}), std::logic_error);
  EXPECT_THROW(farm->Run(tasks, [](size_t, std::span<const std::byte>) {}), std::logic_error);
}

}  // namespace
}  // namespace retrace::sampling
