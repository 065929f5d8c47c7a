/// The policy of the farm: who gets what, and that simulated ranks are kept busy by it.
#include "retrace/parallel/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <numeric>
#include <stdexcept>

#include "bench/farm_model.h"

namespace retrace::parallel {
namespace {

using testing::ElementsAre;

MATCHER_P3(Is, task, first, count, "") {
  return arg.task == size_t(task) && arg.first == size_t(first) && arg.count == size_t(count);
}

/// Batches on their way, and how often each unit was handed out.
class Job {
 public:
  Job(size_t workers, std::vector<size_t> units, const SchedulerOptions& options = {})
      : units_(std::move(units)), scheduler_(workers, options), batches_(workers) {
    for (const size_t count : units_) times_.emplace_back(count, 0);
    scheduler_.Begin(units_);
  }

  void Assign() {
    while (auto assignment = scheduler_.Assign()) {
      ASSERT_GT(assignment->worker, 0u);
      ASSERT_FALSE(assignment->parts.empty());
      for (const Part& part : assignment->parts) {
        Count(part);
        sent.push_back(part);
      }
      batches_[assignment->worker].push_back(assignment->parts);
      ASSERT_EQ(scheduler_.outstanding(assignment->worker), batches_[assignment->worker].size());
    }
  }

  bool ComputeHere() {
    const auto part = scheduler_.NextHere();
    if (!part) return false;
    Count(*part);
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

  const std::vector<std::vector<int>>& times() const { return times_; }
  std::vector<std::vector<std::vector<Part>>>& batches() { return batches_; }
  Scheduler& scheduler() { return scheduler_; }
  std::vector<Part> order;  // in which parts were handed out, here too
  std::vector<Part> sent;   // to workers

 private:
  void Count(const Part& part) {
    ASSERT_GT(part.count, 0u);
    ASSERT_LE(part.first + part.count, units_[part.task]);
    for (size_t u = part.first; u < part.first + part.count; ++u) ++times_[part.task][u];
    order.push_back(part);
  }

  std::vector<size_t> units_;
  Scheduler scheduler_;
  std::vector<std::vector<std::vector<Part>>> batches_;  // (workers) under way
  std::vector<std::vector<int>> times_;                  // (tasks x units)
};

TEST(Scheduler, HandsOutEveryUnitOnce) {
  EXPECT_TRUE(rc::check("in any order of answers", [](uint64_t seed) {
    const auto workers = *rc::gen::inRange<size_t>(1, 40);
    const auto units = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(1, 40));
    Job job(workers, units);
    job.RunToTheEnd(seed);
    for (const auto& task : job.times()) RC_ASSERT(task == std::vector<int>(task.size(), 1));
    RC_ASSERT(job.scheduler().outstanding() == 0u);
    RC_ASSERT(job.scheduler().units_left() == 0u);
  }));
}

TEST(Scheduler, BeginsTasksInTheirOrder) {
  EXPECT_TRUE(rc::check("heads in order, and rests after all of them", [](uint64_t seed) {
    const auto workers = *rc::gen::inRange<size_t>(1, 20);
    const auto units = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(1, 12));
    Job job(workers, units);
    job.RunToTheEnd(seed);
    size_t begun = 0;
    for (const Part& part : job.sent) {
      if (part.first > 0) continue;
      RC_ASSERT(part.task >= begun);
      begun = part.task;
    }
  }));
}

TEST(Scheduler, AfterAFailureBeginsWhatComesBeforeItAlone) {
  EXPECT_TRUE(rc::check("all units of earlier tasks, none of later ones", [](uint64_t seed) {
    const auto workers = *rc::gen::inRange<size_t>(2, 12);
    const std::vector<size_t> units(*rc::gen::inRange<size_t>(1, 60), 7);
    Job job(workers, units);
    job.Assign();
    const size_t failed = *rc::gen::inRange<size_t>(0, units.size());
    const auto before = job.times();
    job.scheduler().StopAt(failed);
    job.RunToTheEnd(seed);
    for (size_t t = 0; t < units.size(); ++t) {
      RC_ASSERT(job.times()[t] == (t < failed ? std::vector<int>(7, 1) : before[t]));
    }
  }));
}

TEST(Scheduler, GivesEveryWorkerSomethingBeforeAnyGetsMore) {
  Job job(5, std::vector<size_t>(200, 7));
  job.Assign();
  for (size_t w = 1; w < 5; ++w) EXPECT_EQ(job.batches()[w].size(), 3u) << "one under way and two in reserve";
  EXPECT_THAT(job.order[0], Is(0, 0, 7));
  EXPECT_THAT(job.order[3], Is(3, 0, 7));
  EXPECT_THAT(job.batches()[1][0], ElementsAre(Is(0, 0, 7)));
  EXPECT_THAT(job.batches()[1][1], ElementsAre(Is(4, 0, 7)));
}

TEST(Scheduler, HalvesTheLastTasksAndEndsWithTheirRests) {
  Job job(2, std::vector<size_t>(20, 7), {.reserve = 0});
  for (int i = 0; i < 20; ++i) {
    job.Assign();
    job.Finish(1);
  }
  ASSERT_EQ(job.sent.size(), 20u);
  for (int t = 0; t < 16; ++t) EXPECT_THAT(job.sent[t], Is(t, 0, 7));
  for (int t = 16; t < 20; ++t) EXPECT_THAT(job.sent[t], Is(t, 0, 4));
  job.Assign();
  EXPECT_THAT(job.sent.back(), Is(16, 4, 3)) << "12 units are left for twice two workers";
  job.Finish(1);
  job.Assign();
  EXPECT_THAT(job.sent.back(), Is(17, 4, 2)) << "and now 9";
}

TEST(Scheduler, PrefersRestsWhoseHeadCameBack) {
  Job job(4, std::vector<size_t>(3, 8), {.reserve = 0});
  job.Assign();  // heads to workers 1, 2, 3
  EXPECT_THAT(job.batches()[2][0], ElementsAre(Is(1, 0, 4)));
  job.Finish(2);
  job.Assign();
  ASSERT_EQ(job.batches()[2].size(), 1u);
  EXPECT_EQ(job.batches()[2][0][0].task, 1u);
  EXPECT_EQ(job.batches()[2][0][0].first, 4u);
}

TEST(Scheduler, PutsShortTasksIntoOneMessage) {
  Job job(2, std::vector<size_t>(1000, 1), {.reserve = 0, .batch_seconds = 1e-3});
  job.Assign();
  EXPECT_EQ(job.batches()[1][0].size(), 1u) << "nothing is known yet";
  job.Finish(1, 1e-4);
  EXPECT_DOUBLE_EQ(job.scheduler().unit_seconds(), 1e-4);
  job.Assign();
  EXPECT_EQ(job.batches()[1][0].size(), 10u);
  job.Finish(1, 10.0);
  job.Assign();
  EXPECT_EQ(job.batches()[1][0].size(), 1u) << "they have become long";
}

TEST(Scheduler, LetsTheMasterLookAtItsMessages) {
  Job job(2, std::vector<size_t>(50, 8), {.slice_seconds = 2e-3, .smallest_slice = 1});
  ASSERT_TRUE(job.ComputeHere());
  EXPECT_EQ(job.order.back().count, 1u) << "nothing is known yet";
  ASSERT_TRUE(job.ComputeHere());
  EXPECT_THAT(job.order.back(), Is(0, 1, 2)) << "a unit takes 1 ms";
  Job large(40, std::vector<size_t>(500, 8));
  EXPECT_FALSE(large.ComputeHere()) << "its messages leave it no time";
}

TEST(Scheduler, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Scheduler(0), std::invalid_argument);
  Job job(2, {3, 3});
  job.Assign();
  EXPECT_THROW(job.scheduler().Begin(std::vector<size_t>{1}), std::logic_error);
}

// ---- in a simulated job

bench::FarmCosts Costs() {
  bench::FarmCosts costs;
  for (int i = 0; i < 100; ++i) costs.rollouts.push_back(1e-4 + 2e-6 * i);
  costs.pack = 2e-6;
  costs.handle_part = 1e-6;
  costs.handle_sample = 1e-6;
  costs.between = 1e-3;
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
    EXPECT_GT(Efficiency(2, latency), 0.98);
    EXPECT_GT(Efficiency(8, latency), 0.94);
    EXPECT_GT(Efficiency(16, latency), 0.88);
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

TEST(RanksPerRun, AreSoManyThatAllIsDoneSoonest) {
  EXPECT_EQ(ChooseRanksPerRun(1, 100, 1400), 1);
  EXPECT_EQ(ChooseRanksPerRun(8, 1, 1400), 8);
  EXPECT_EQ(ChooseRanksPerRun(4, 0, 1400), 4);
  EXPECT_LE(ChooseRanksPerRun(8, 100000, 1400), 2) << "next to nothing is lost at the end";
  EXPECT_EQ(ChooseRanksPerRun(1000, 1, 1400), 64) << "more are not worth it";
  // The more runs, the smaller their groups: these are less often idle, until the last runs are waited for.
  EXPECT_GT(ChooseRanksPerRun(1000, 36, 1400), ChooseRanksPerRun(1000, 1080, 1400));
  EXPECT_GT(ChooseRanksPerRun(1000, 180, 1400), ChooseRanksPerRun(1000, 5000, 1400));
  EXPECT_EQ(ChooseRanksPerRun(1000, 1, 200), 16) << "there is no work for more";
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
