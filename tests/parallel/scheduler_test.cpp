/// The policy of the farm: who gets what, and that simulated ranks are kept busy by it.
#include "retrace/parallel/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bench/farm_model.h"

namespace retrace::parallel {
namespace {

using testing::ElementsAre;

/// Batches in transit, and how often each task was handed out.
class Job {
 public:
  Job(size_t workers, size_t tasks, const SchedulerOptions& options = {})
      : times_(tasks, 0), scheduler_(workers, options), batches_(workers) {
    scheduler_.Begin(tasks);
  }

  void Assign() {
    while (auto assignment = scheduler_.Assign()) {
      ASSERT_GT(assignment->worker, 0u);
      ASSERT_FALSE(assignment->tasks.empty());
      for (const size_t task : assignment->tasks) {
        Count(task);
        sent.push_back(task);
      }
      batches_[assignment->worker].push_back(assignment->tasks);
      ASSERT_EQ(scheduler_.outstanding(assignment->worker), batches_[assignment->worker].size());
    }
  }

  bool ComputeHere() {
    const auto task = scheduler_.NextHere();
    if (!task) return false;
    Count(*task);
    scheduler_.Finished(0, 1e-3);
    return true;
  }

  void Finish(size_t worker, double seconds = 1e-3) {
    batches_[worker].erase(batches_[worker].begin());
    scheduler_.Finished(worker, seconds);
  }

  /// Any order of events that a seed makes, to the end.
  void RunToTheEnd(uint64_t seed) {
    RandomStream random(seed, RandomStage::kSampling, 0, 0);
    Assign();
    for (;;) {
      std::vector<size_t> busy;
      for (size_t w = 1; w < batches_.size(); ++w) {
        if (!batches_[w].empty()) busy.push_back(w);
      }
      const bool here = random.Uniform() < 0.3 || busy.empty();
      if (here && ComputeHere()) continue;
      if (busy.empty()) break;
      Finish(busy[random.NextBits() % busy.size()], random.Uniform(0, 1e-3));
      Assign();
    }
  }

  const std::vector<int>& times() const { return times_; }
  std::vector<std::vector<std::vector<size_t>>>& batches() { return batches_; }
  Scheduler& scheduler() { return scheduler_; }
  std::vector<size_t> order;  // in which tasks were handed out, here too
  std::vector<size_t> sent;   // to workers

 private:
  void Count(size_t task) {
    ASSERT_LT(task, times_.size());
    ++times_[task];
    order.push_back(task);
  }

  std::vector<int> times_;  // (tasks)
  Scheduler scheduler_;
  std::vector<std::vector<std::vector<size_t>>> batches_;  // (workers) under way
};

TEST(Scheduler, HandsOutEveryTaskOnce) {
  EXPECT_TRUE(rc::check("in any order of answers", [](uint64_t seed) {
    const auto workers = *rc::gen::inRange<size_t>(1, 40);
    const auto tasks = *rc::gen::inRange<size_t>(0, 200);
    Job job(workers, tasks);
    job.RunToTheEnd(seed);
    RC_ASSERT(job.times() == std::vector<int>(tasks, 1));
    RC_ASSERT(job.scheduler().outstanding() == 0u);
    RC_ASSERT(job.scheduler().tasks_left() == 0u);
  }));
}

TEST(Scheduler, BeginsTasksInTheirOrder) {
  EXPECT_TRUE(rc::check("workers are sent one after the other", [](uint64_t seed) {
    Job job(*rc::gen::inRange<size_t>(1, 20), *rc::gen::inRange<size_t>(1, 100));
    job.RunToTheEnd(seed);
    RC_ASSERT(std::is_sorted(job.sent.begin(), job.sent.end()));
  }));
}

TEST(Scheduler, AfterAFailureBeginsWhatComesBeforeItAlone) {
  EXPECT_TRUE(rc::check("all earlier tasks, none of the later ones", [](uint64_t seed) {
    const auto workers = *rc::gen::inRange<size_t>(2, 12);
    const auto tasks = *rc::gen::inRange<size_t>(1, 60);
    Job job(workers, tasks);
    job.Assign();
    const size_t failed = *rc::gen::inRange<size_t>(0, tasks);
    const auto before = job.times();
    job.scheduler().StopAt(failed);
    job.RunToTheEnd(seed);
    for (size_t t = 0; t < tasks; ++t) RC_ASSERT(job.times()[t] == (t < failed ? 1 : before[t]));
  }));
}

TEST(Scheduler, GivesEveryWorkerSomethingBeforeAnyGetsMore) {
  Job job(5, 200);
  job.Assign();
  for (size_t w = 1; w < 5; ++w) EXPECT_EQ(job.batches()[w].size(), 3u) << "one under way and two in reserve";
  EXPECT_THAT(job.batches()[1][0], ElementsAre(0));
  EXPECT_THAT(job.batches()[4][0], ElementsAre(3));
  EXPECT_THAT(job.batches()[1][1], ElementsAre(5)) << "the master comes before what is in reserve";
  ASSERT_TRUE(job.ComputeHere());
  EXPECT_EQ(job.order.back(), 4u);
}

TEST(Scheduler, KeepsNothingInReserveWhereOthersWouldBeIdle) {
  Job job(4, 8);
  job.Assign();
  for (size_t w = 1; w < 4; ++w) EXPECT_EQ(job.batches()[w].size(), 1u) << "four are left, and four compute";
}

TEST(Scheduler, PutsShortTasksIntoOneMessage) {
  Job job(2, 1000, {.reserve = 0, .batch_seconds = 1e-3});
  job.Assign();
  EXPECT_EQ(job.batches()[1][0].size(), 1u) << "nothing is known yet";
  job.Finish(1, 1e-4);
  EXPECT_DOUBLE_EQ(job.scheduler().task_seconds(), 1e-4);
  job.Assign();
  EXPECT_EQ(job.batches()[1][0].size(), 10u);
  job.Finish(1, 10.0);
  job.Assign();
  EXPECT_EQ(job.batches()[1][0].size(), 1u) << "they have become long";
}

TEST(Scheduler, LeavesTheMasterOfManyToItsMessages) {
  Job small(24, 500);
  EXPECT_EQ(small.scheduler().num_computing(), 24u);
  EXPECT_TRUE(small.ComputeHere());
  Job large(40, 500);
  EXPECT_EQ(large.scheduler().num_computing(), 39u);
  EXPECT_FALSE(large.ComputeHere());
}

TEST(Scheduler, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Scheduler(0), std::invalid_argument);
  Job job(2, 6);
  job.Assign();
  EXPECT_THROW(job.scheduler().Begin(1), std::logic_error);
}

// ---- tasks

size_t UnitsOf(const std::vector<Part>& task) {
  size_t units = 0;
  for (const Part& part : task) units += part.count;
  return units;
}

TEST(CutGroups, CutsEveryUnitOnceAndInOrder) {
  EXPECT_TRUE(rc::check("of any groups, for any number of workers", [] {
    const auto groups = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(1, 100));
    const auto workers = *rc::gen::inRange<size_t>(1, 120);
    const CutOptions options{*rc::gen::inRange<size_t>(1, 80), *rc::gen::inRange<size_t>(1, 12)};
    Part next;
    for (const std::vector<Part>& task : CutGroups(groups, workers, options)) {
      RC_ASSERT(!task.empty());
      for (const Part& part : task) {
        RC_ASSERT(part.group == next.group);
        RC_ASSERT(part.first == next.first);
        RC_ASSERT(part.count > 0u);
        next.first += part.count;
        RC_ASSERT(next.first <= groups[part.group]);
        if (next.first == groups[part.group]) next = {next.group + 1, 0, 0};
      }
    }
    RC_ASSERT(next.group == groups.size());
  }));
}

TEST(CutGroups, OneWorkerGetsFullTasks) {
  const auto tasks = CutGroups(std::vector<size_t>(20, 7), 1);
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(UnitsOf(tasks[0]), 56u) << "eight groups";
  EXPECT_EQ(UnitsOf(tasks[2]), 28u);
  const auto large = CutGroups(std::vector<size_t>{200}, 1);
  ASSERT_EQ(large.size(), 4u) << "a group is cut where it is too large for a task";
  EXPECT_EQ(UnitsOf(large[0]), 64u);
}

TEST(CutGroups, GivesEachWorkerTheSameOfWhatDoesNotMakeFullTasks) {
  const auto tasks = CutGroups(std::vector<size_t>(50, 4), 4);
  ASSERT_EQ(tasks.size(), 8u);
  for (size_t t = 0; t < 4; ++t) EXPECT_EQ(UnitsOf(tasks[t]), 32u);
  for (size_t t = 4; t < 8; ++t) EXPECT_EQ(UnitsOf(tasks[t]), 18u);
  const auto shares = CutGroups(std::vector<size_t>(200, 7), 79);
  ASSERT_EQ(shares.size(), 79u);
  for (const auto& share : shares) EXPECT_THAT(UnitsOf(share), testing::AllOf(testing::Ge(17u), testing::Le(18u)));
  EXPECT_EQ(CutGroups(std::vector<size_t>{2, 1}, 10).size(), 3u) << "there is no more";
  EXPECT_TRUE(CutGroups({}, 4).empty());
}

// ---- in a simulated job

bench::FarmCosts Costs() {
  bench::FarmCosts costs;
  for (int i = 0; i < 100; ++i) costs.rollouts.push_back(1e-4 + 2e-6 * i);
  costs.lanes = 8;
  for (int i = 0; i < 100; ++i) costs.together.push_back(6e-4 + 4e-6 * i);
  costs.pack = 2e-6;
  costs.handle_part = 1e-6;
  costs.handle_sample = 1e-6;
  costs.between = 4e-4;
  costs.keep = 1e-3;
  costs.task_bytes = 2200;
  costs.sample_bytes = 2000;
  return costs;
}

double SecondsPerIteration(size_t ranks, double latency) {
  bench::Network network;
  network.latency = latency;
  const bench::FarmCosts costs = Costs();
  double seconds = 0;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    bench::FarmModel model(costs, network, ranks, seed);
    for (int i = 0; i < 10; ++i) seconds += model.Iterate(200, 7) / 30;
  }
  return seconds;
}

double Efficiency(size_t ranks, double latency) {
  return SecondsPerIteration(1, 0) / SecondsPerIteration(ranks, latency) / static_cast<double>(ranks);
}

TEST(SimulatedFarm, KeepsRanksBusy) {
  for (const double latency : {2e-6, 50e-6}) {
    EXPECT_GT(Efficiency(2, latency), 0.95);
    EXPECT_GT(Efficiency(4, latency), 0.90);
    EXPECT_GT(Efficiency(8, latency), 0.80);
    EXPECT_GT(Efficiency(16, latency), 0.65);
  }
}

TEST(SimulatedFarm, NeverGetsSlowerByRanks) {
  double before = SecondsPerIteration(1, 10e-6);
  for (const size_t ranks : {2, 4, 8, 16, 32, 64, 80}) {
    const double now = SecondsPerIteration(ranks, 10e-6);
    EXPECT_LT(now, before) << ranks;
    before = now;
  }
}

TEST(RanksPerRun, AreBusyAsTheSimulationHasThem) {
  EXPECT_EQ(BusyShare(1, 200), 1);
  for (const int ranks : {2, 4, 8, 16})
    EXPECT_NEAR(BusyShare(ranks, 1400), Efficiency(static_cast<size_t>(ranks), 50e-6), 0.12) << ranks;
  EXPECT_LT(BusyShare(80, 200), BusyShare(80, 1400));
}

TEST(RanksPerRun, AreSoManyThatAllIsDoneSoonest) {
  EXPECT_EQ(ChooseRanksPerRun(1, 100, 1400), 1);
  EXPECT_EQ(ChooseRanksPerRun(8, 1, 1400), 8);
  EXPECT_EQ(ChooseRanksPerRun(4, 0, 1400), 4);
  EXPECT_LE(ChooseRanksPerRun(8, 100000, 1400), 2) << "next to nothing is lost at the end";
  EXPECT_EQ(ChooseRanksPerRun(1000, 1, 1400), 80) << "more are not worth it";
  // The more runs, the smaller their groups: these are less often idle, until the last runs are waited for.
  EXPECT_GT(ChooseRanksPerRun(1000, 36, 1400), ChooseRanksPerRun(1000, 1080, 1400));
  EXPECT_GT(ChooseRanksPerRun(1000, 180, 1400), ChooseRanksPerRun(1000, 5000, 1400));
  EXPECT_EQ(ChooseRanksPerRun(1000, 1, 200), 24) << "there is no work for more";
  EXPECT_LT(ChooseRanksPerRun(80, 36, 200), ChooseRanksPerRun(80, 36, 1400));
  EXPECT_TRUE(rc::check("within the job", [] {
    const auto ranks = *rc::gen::inRange(1, 2000);
    const auto runs = *rc::gen::inRange<size_t>(1, 3000);
    const int each = ChooseRanksPerRun(ranks, runs, *rc::gen::inRange(1, 5000));
    RC_ASSERT(each >= 1);
    RC_ASSERT(each <= ranks);
  }));
}

}  // namespace
}  // namespace retrace::parallel
