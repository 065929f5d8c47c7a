#include "methods/sampling/iteration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "methods/sampling/small_problem.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::sampling {
namespace {

/// The first fragment of a search, from a single start state, and the second one from those that were saved.
struct Iterating {
  Iterating() : small(SmallConfiguration(), task::Squatting, 0.4) {
    Node root;
    root.end = std::make_shared<const character::State>(problem().task.start);
    root.offsets = NoOffsets(problem());
    starts = {root};
  }
  const Problem& problem() const { return small.problem(); }
  IterationPlan Plan(int fragment, int samples = 40) const {
    IterationPlan plan;
    plan.iteration = fragment;
    plan.fragment = fragment;
    plan.samples = samples;
    plan.selection.saved = 6;
    plan.weights = problem().task.weights;
    plan.distributions = {UniformOffsets{}};
    return plan;
  }
  /// The saved samples of an iteration that was simulated on so many threads.
  std::vector<Node> Simulate(Iteration& iteration, int threads = 1) const {
    const auto farm = parallel::MakeThreadFarm(threads, MakeWorkerFactory(problem()));
    iteration.Simulate(*farm);
    return iteration.Select();
  }

  SmallProblem small;
  std::vector<Node> starts;
  IterationMemory memory;
};

TEST(SamplingIteration, SavesTheSamplesThatItChooses) {
  Iterating iterating;
  Iteration iteration(iterating.problem(), iterating.Plan(0), iterating.starts, iterating.memory);
  const std::vector<Node> nodes = iterating.Simulate(iteration);
  const IterationRecord& record = iteration.record;
  EXPECT_EQ(record.drawn, 40);
  ASSERT_EQ(record.samples.size(), 40u);
  EXPECT_EQ(record.start, 0);
  EXPECT_NEAR(record.end, iterating.problem().task.schedule.steps[1] * iterating.problem().time_step(), 1e-12);
  EXPECT_FALSE(record.fitted);
  EXPECT_FALSE(record.restored);
  // 40 samples are two tasks, and the second one also needs the undisplaced sample.
  EXPECT_EQ(record.rollouts, 41u);
  ASSERT_EQ(nodes.size(), 6u);
  size_t saved = 0;
  double best = std::numeric_limits<double>::infinity();
  for (const SampleRecord& sample : record.samples) {
    EXPECT_EQ(sample.cost,
              sample.diverged ? std::numeric_limits<double>::infinity() : sample.terms.Total(record.weights));
    best = std::min(best, sample.cost);
    saved += sample.saved ? 1 : 0;
  }
  EXPECT_EQ(saved, 6u);
  EXPECT_EQ(record.best_cost, best);
  EXPECT_EQ(record.drawn_costs.least, best);
  for (size_t n = 0; n < nodes.size(); ++n) {
    EXPECT_EQ(nodes[n].path_cost, record.samples[nodes[n].sample].cost);
    EXPECT_EQ(nodes[n].parent, 0u);
    ASSERT_TRUE(nodes[n].end);
    if (n > 0) {
      EXPECT_GE(nodes[n].path_cost, nodes[n - 1].path_cost);
    }
  }
}

TEST(SamplingIteration, SharesItsSamplesEvenlyAmongTheStartStates) {
  Iterating iterating;
  Iteration first(iterating.problem(), iterating.Plan(0), iterating.starts, iterating.memory);
  const std::vector<Node> starts = iterating.Simulate(first);
  IterationMemory memory;
  Iteration second(iterating.problem(), iterating.Plan(1, 20), starts, memory);
  const std::vector<Node> nodes = iterating.Simulate(second);
  std::vector<int> counts(starts.size());
  for (const SampleRecord& sample : second.record.samples) ++counts[sample.start];
  EXPECT_EQ(counts, (std::vector<int>{4, 4, 3, 3, 3, 3}));  // the cheapest ones get one more
  for (const Node& node : nodes) {
    EXPECT_EQ(node.path_cost, starts[node.parent].path_cost + second.record.samples[node.sample].cost);
  }
}

TEST(SamplingIteration, IsTheSameOnAnyNumberOfThreadsAndFromAStore) {
  Iterating iterating;
  Iteration one(iterating.problem(), iterating.Plan(0), iterating.starts, iterating.memory);
  const std::vector<Node> nodes = iterating.Simulate(one);
  parallel::Bytes stored;
  Store(one.record, one.TakeSimulated(), stored);
  const auto expect_same = [&](const IterationRecord& record, const std::vector<Node>& others) {
    ASSERT_EQ(others.size(), nodes.size());
    for (size_t n = 0; n < nodes.size(); ++n) {
      EXPECT_EQ(others[n].sample, nodes[n].sample);
      EXPECT_EQ(others[n].path_cost, nodes[n].path_cost);
      EXPECT_EQ(control::Fingerprint(*others[n].end), control::Fingerprint(*nodes[n].end));
      EXPECT_EQ(OffsetsOf(iterating.problem(), others[n])[0].coeffs(),
                OffsetsOf(iterating.problem(), nodes[n])[0].coeffs());
    }
    EXPECT_EQ(record.best_cost, one.record.best_cost);
    EXPECT_EQ(record.inside_gates, one.record.inside_gates);
    EXPECT_EQ(record.rollouts, one.record.rollouts);
    EXPECT_EQ(record.selection.samples, one.record.selection.samples);
  };
  IterationMemory memory;
  Iteration three(iterating.problem(), iterating.Plan(0), iterating.starts, memory);
  expect_same(three.record, iterating.Simulate(three, 3));
  Iteration restored(iterating.problem(), iterating.Plan(0), iterating.starts, memory);
  restored.Restore(stored);
  EXPECT_TRUE(restored.record.restored);
  expect_same(restored.record, restored.Select());
  // The same bytes again.
  parallel::Bytes again;
  Store(restored.record, restored.TakeSimulated(), again);
  EXPECT_EQ(again, stored);
}

TEST(SamplingIteration, RefusesTheStoreOfAnotherIteration) {
  Iterating iterating;
  Iteration iteration(iterating.problem(), iterating.Plan(0), iterating.starts, iterating.memory);
  iterating.Simulate(iteration);
  parallel::Bytes stored;
  Store(iteration.record, iteration.TakeSimulated(), stored);
  IterationMemory memory;
  Iteration other(iterating.problem(), iterating.Plan(1), iterating.starts, memory);
  EXPECT_THROW(other.Restore(stored), std::logic_error);
  Iteration fewer(iterating.problem(), iterating.Plan(0, 20), iterating.starts, memory);
  EXPECT_THROW(fewer.Restore(stored), std::logic_error);
  parallel::Bytes longer = stored;
  longer.push_back(std::byte{0});
  Iteration same(iterating.problem(), iterating.Plan(0), iterating.starts, memory);
  EXPECT_THROW(same.Restore(longer), std::logic_error);
}

}  // namespace
}  // namespace retrace::sampling
