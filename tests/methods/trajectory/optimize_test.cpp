/// The method from beginning to end.
#include "retrace/methods/trajectory/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/trajectory/small_problem.h"
#include "retrace/io/error.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::trajectory {
namespace {

using testing::HasSubstr;

Summary Optimize(const Problem& problem, int threads = 1, const Hooks& hooks = {}) {
  return Run(problem, *parallel::MakeThreadFarm(threads, MakeWorkerFactory(problem)), hooks);
}

std::vector<double> Numbers(const Summary& summary) {
  std::vector<double> numbers;
  for (const control::Fragment& fragment : summary.control.fragments) {
    for (const control::TargetPose& target : fragment.targets) {
      for (const Quat& rotation : target) {
        numbers.insert(numbers.end(), rotation.coeffs().data(), rotation.coeffs().data() + 4);
      }
    }
  }
  for (const IterationRecord& record : summary.iterations) numbers.push_back(record.cost);
  return numbers;
}

/// What a run stored, in memory.
class MemoryStore final : public io::RecordStore {
 public:
  bool Next(std::vector<std::byte>& simulated) override {
    if (taken == records.size()) return false;
    simulated = records[taken++];
    return true;
  }
  void Append(const std::vector<std::byte>& simulated) override {
    records.push_back(simulated);
    taken = records.size();
    ++appended;
  }
  std::vector<std::vector<std::byte>> records;
  size_t taken = 0, appended = 0;
};

TEST(WindowsMethod, FindsAControlThatIsNoWorseThanItsStart) {
  const SmallProblem small;
  const Summary summary = Optimize(small.problem());
  EXPECT_TRUE(summary.reached_end()) << summary.BriefReport();
  const Plan plan(small.problem());
  ASSERT_EQ(summary.windows.size(), plan.windows.size());
  double start = 0, best = 0;
  for (const WindowRecord& window : summary.windows) {
    EXPECT_LE(window.best_cost, window.start_cost);
    double sum = 0;
    for (const double term : window.terms) sum += term;
    EXPECT_DOUBLE_EQ(sum, window.best_cost) << "the terms are those of the best sample";
    start += window.start_cost;
    best += window.best_cost;
  }
  EXPECT_LT(best, 0.95 * start) << "and better on the whole";
  EXPECT_EQ(summary.control.num_steps(), small.problem().num_steps());
  const control::Trajectory motion = control::Replay(*small.problem().task.character, summary.control);
  EXPECT_EQ(control::Fingerprint(motion.states.back()), control::Fingerprint(summary.end));
  EXPECT_LE(summary.simulated_seconds, small.problem().options.budget * small.problem().task.duration());
  EXPECT_GT(summary.simulated_seconds, 0.5 * small.problem().options.budget * small.problem().task.duration());
}

TEST(WindowsMethod, GivesTheSameBytesForAnyNumberOfThreads) {
  for (const bool full : {false, true}) {
    Options options = SmallOptions();
    options.full_covariance = full;
    options.budget = 80;
    options.knots = 2;
    const SmallProblem small(options);
    const std::vector<double> one = Numbers(Optimize(small.problem(), 1));
    EXPECT_EQ(one, Numbers(Optimize(small.problem(), 3)));
    options.seed = 2;
    const SmallProblem other(options);
    EXPECT_NE(one, Numbers(Optimize(other.problem(), 1)));
  }
}

TEST(WindowsMethod, GoesOnWhereItWasStopped) {
  const SmallProblem small;
  const std::vector<double> whole = Numbers(Optimize(small.problem()));
  const size_t iterations = Optimize(small.problem()).iterations.size();
  MemoryStore store;
  int left = 4;
  Hooks hooks;
  hooks.store = &store;
  hooks.stop = [&] { return --left == 0; };
  EXPECT_THROW(Optimize(small.problem(), 1, hooks), StoppedError);
  EXPECT_EQ(store.records.size(), 4u);
  store.taken = store.appended = 0;
  hooks.stop = {};
  const Summary resumed = Optimize(small.problem(), 2, hooks);
  EXPECT_TRUE(resumed.resumed());
  EXPECT_EQ(store.appended, iterations - 4);
  EXPECT_EQ(Numbers(resumed), whole);
  // What is not an iteration of this run is refused.
  store.taken = 0;
  std::swap(store.records[0], store.records[1]);
  EXPECT_THROW(Optimize(small.problem(), 1, hooks), InputError);
  store.taken = 0;
  store.records[0].resize(3);
  EXPECT_THROW(Optimize(small.problem(), 1, hooks), InputError);
}

TEST(WindowsMethod, EndsWhereTheBudgetAllowsForNothing) {
  Options options = SmallOptions();
  options.budget = 5;
  const SmallProblem small(options);
  const Summary summary = Optimize(small.problem());
  EXPECT_EQ(summary.ending, task::Ending::kBudget);
  EXPECT_TRUE(summary.control.fragments.empty());
  EXPECT_EQ(summary.rollouts, 0u);
}

TEST(WindowsMethod, EndsWhereAWindowLeavesTheGates) {
  Options options = SmallOptions();
  options.budget = 50;
  options.start = Start::kZero;  // and no deviation with which the arms could come down
  options.deviation = 1e-3;
  const SmallProblem small(options, task::Crawling, 0.6);
  const Summary summary = Optimize(small.problem());
  EXPECT_EQ(summary.ending, task::Ending::kLeftGates) << summary.BriefReport();
  EXPECT_GT(summary.windows.back().gate_ratio, 1);
  EXPECT_EQ(summary.control.fragments.size(), summary.windows.size()) << "the fall can be seen";
}

TEST(WindowsMethod, GoesBackWhereAWindowLeavesTheGates) {
  Options options = SmallOptions();
  options.budget = 100;
  options.start = Start::kZero;
  options.deviation = 1e-3;
  options.returns = 0;
  const size_t without = Optimize(SmallProblem(options, task::Crawling, 1.6).problem()).windows.size();
  options.returns = 3;
  const SmallProblem small(options, task::Crawling, 1.6);
  const Summary summary = Optimize(small.problem());
  EXPECT_GE(summary.returns, 1) << summary.BriefReport();
  EXPECT_LE(summary.returns, 3);
  EXPECT_GE(summary.windows.size(), without) << "the longest motion is kept";
  EXPECT_EQ(summary.control.fragments.size(), summary.windows.size());
  EXPECT_LE(summary.simulated_seconds, options.budget * small.problem().task.duration());
  const control::Trajectory motion = control::Replay(*small.problem().task.character, summary.control);
  EXPECT_EQ(control::Fingerprint(motion.states.back()), control::Fingerprint(summary.end));

  // Also where it is stopped after it went back.
  MemoryStore store;
  int left = static_cast<int>(summary.iterations.size()) - 1;
  Hooks hooks;
  hooks.store = &store;
  hooks.stop = [&] { return --left == 0; };
  EXPECT_THROW(Optimize(small.problem(), 1, hooks), StoppedError);
  store.taken = store.appended = 0;
  hooks.stop = {};
  EXPECT_EQ(Numbers(Optimize(small.problem(), 2, hooks)), Numbers(summary));
}

TEST(WindowsMethod, RefusesOptionsThatAreNone) {
  Options options = SmallOptions();
  options.population = 2;
  const SmallProblem small(options);
  try {
    Optimize(small.problem());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/trajectory/population: found 2"));
  }
}

}  // namespace
}  // namespace retrace::trajectory
