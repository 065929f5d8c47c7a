/// The whole search on problems of a fraction of a second.
#include "retrace/methods/sampling/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "methods/sampling/small_problem.h"
#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/math/rotation.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::sampling {
namespace {

Summary Search(const Problem& problem, int threads = 1) {
  const auto farm = parallel::MakeThreadFarm(threads, MakeWorkerFactory(problem));
  return Run(problem, *farm);
}

/// What holds for every result: recomputed from the records alone.
void IsConsistent(const Problem& problem, const Summary& result) {
  const size_t iterations = result.iterations.size();
  ASSERT_EQ(iterations, static_cast<size_t>(problem.task.schedule.num_iterations()));
  EXPECT_TRUE(result.reached_end());
  EXPECT_EQ(result.ending, task::Ending::kReachedEnd);
  EXPECT_EQ(result.failure.fragment, -1);
  const double inmost = 1 - problem.options.gate_margin;
  std::vector<double> before = {0};          // path costs of the saved samples of the iteration before
  std::vector<std::vector<size_t>> parents;  // of each saved sample
  size_t rollouts = 0;
  for (size_t i = 0; i < iterations; ++i) {
    const IterationRecord& record = result.iterations[i];
    EXPECT_EQ(record.iteration, static_cast<int>(i));
    EXPECT_NEAR(record.start, problem.task.schedule.steps[i] * problem.time_step(), 1e-12);
    EXPECT_NEAR(record.end, problem.task.schedule.steps[i + 1] * problem.time_step(), 1e-12);
    ASSERT_EQ(record.samples.size(), static_cast<size_t>(problem.options.samples));
    std::vector<double> costs;
    std::vector<size_t> per_start(before.size(), 0);
    size_t inside = 0;
    double best = std::numeric_limits<double>::infinity();
    for (const SampleRecord& sample : record.samples) {
      ASSERT_LT(sample.start, before.size());
      ++per_start[sample.start];
      EXPECT_EQ(sample.cost,
                sample.diverged ? std::numeric_limits<double>::infinity() : sample.terms.Total(problem.task.weights));
      best = std::min(best, sample.cost);
      inside += !sample.diverged && sample.gate_ratio <= inmost;
      costs.push_back(sample.cost);
    }
    EXPECT_EQ(record.best_cost, best);
    EXPECT_EQ(record.inside_gates, inside);
    // Every start state gets its share, and one that is left over goes to the cheapest.
    for (size_t s = 0; s < per_start.size(); ++s) {
      const size_t share = costs.size() / before.size() + (s < costs.size() % before.size() ? 1 : 0);
      EXPECT_EQ(per_start[s], share);
    }
    if (problem.options.keep_inside_gates && inside > 0) {
      for (size_t s = 0; s < costs.size(); ++s) {
        if (record.samples[s].gate_ratio > inmost) costs[s] = std::numeric_limits<double>::infinity();
      }
    }
    EXPECT_EQ(record.selection.samples, SelectSamples(costs, problem.options.selection).samples);
    const std::set<size_t> saved(record.selection.samples.begin(), record.selection.samples.end());
    std::vector<double> after;
    parents.emplace_back();
    for (size_t s = 0; s < costs.size(); ++s) EXPECT_EQ(record.samples[s].saved, saved.contains(s));
    for (const size_t s : record.selection.samples) {
      after.push_back(before[record.samples[s].start] + record.samples[s].cost);
      parents.back().push_back(record.samples[s].start);
    }
    before = after;
    rollouts += record.rollouts;
  }
  EXPECT_EQ(result.rollouts, rollouts);
  EXPECT_EQ(result.path_cost, *std::min_element(before.begin(), before.end()));
  // The chosen samples are the path to the cheapest leaf, one per iteration, each starting from the one before.
  size_t node = static_cast<size_t>(std::min_element(before.begin(), before.end()) - before.begin());
  for (size_t i = iterations; i-- > 0;) {
    const IterationRecord& record = result.iterations[i];
    std::vector<size_t> chosen;
    for (size_t s = 0; s < record.samples.size(); ++s) {
      if (record.samples[s].chosen) chosen.push_back(s);
    }
    EXPECT_EQ(chosen, std::vector<size_t>{record.selection.samples[node]});
    node = parents[i][node];
  }
  ASSERT_EQ(result.control.fragments.size(), iterations);
  for (size_t i = 0; i < iterations; ++i) {
    EXPECT_EQ(result.control.fragments[i].first_step, problem.task.schedule.steps[i]);
    EXPECT_EQ(result.control.fragments[i].num_steps,
              problem.task.schedule.steps[i + 1] - problem.task.schedule.steps[i]);
  }
}

void ReplaysToTheSameEnd(const Summary& result) {
  const control::Trajectory trajectory = control::Replay(task::Human(), result.control);
  EXPECT_FALSE(trajectory.diverged);
  EXPECT_EQ(control::Fingerprint(trajectory.states.back()), control::Fingerprint(result.end));
  // Also after it went through a file.
  const auto loaded = control::ParseControl(control::FormatControl(task::Human(), result.control), "control.json");
  const control::Trajectory again = control::Replay(loaded.character, loaded.control);
  ASSERT_EQ(again.states.size(), trajectory.states.size());
  for (size_t i = 0; i < again.states.size(); ++i) {
    ASSERT_EQ(control::Fingerprint(again.states[i]), control::Fingerprint(trajectory.states[i])) << "step " << i;
  }
}

TEST(Search, OfASquatIsConsistentAndReplays) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.6);
  const Summary result = Search(small.problem());
  IsConsistent(small.problem(), result);
  ReplaysToTheSameEnd(result);
  const auto evaluation =
      metrics::Evaluate(task::Human(), control::Replay(task::Human(), result.control), small.reference(), 0.6, {});
  EXPECT_TRUE(evaluation.success());
  EXPECT_GT(result.simulated_seconds, 0.6 * 60 * 0.99);
  EXPECT_GT(result.cpu_seconds, 0);
}

TEST(LongSearch, WithEveryOptionIsConsistent) {
  const std::vector<std::pair<std::string, std::string>> options = {
      {"/search/distinct=false", "/search/saved=20"},
      {"/search/keep_inside_gates=false", "/search/samples=50"},
      {"/search/feedforward=false", "/search/target_knots=1"},
      {"/search/samples=37", "/search/saved=11"},
      {"/gates/joint_position=0.03", "/search/discarded=0"},
      {"/search/gate_margin=0.5", "/gates/joint_position=0.06"},
      {"/search/method=2010", "/cost/drift=2"},
      {"/search/correlation=0.7", "/search/saved=20"},
      {"/schedule/sampling_step=0.2", "/search/saved=1"}};
  for (const auto& [first, second] : options) {
    SCOPED_TRACE(first + " " + second);
    runs::Configuration configuration;
    configuration.task = SmallConfiguration().task;
    configuration.sampling = SmallConfiguration().sampling;
    configuration.Set(first);
    configuration.Set(second);
    const SmallProblem small(configuration, task::Squatting, 0.4);
    const Summary result = Search(small.problem());
    IsConsistent(small.problem(), result);
    ReplaysToTheSameEnd(result);
  }
}

TEST(LongSearch, GivesTheSameBytesForAnyNumberOfThreads) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const Summary one = Search(small.problem(), 1);
  const std::string control = control::FormatControl(task::Human(), one.control);
  for (const int threads : {1, 2, 3}) {
    const Summary other = Search(small.problem(), threads);
    EXPECT_EQ(control::FormatControl(task::Human(), other.control), control);
    ASSERT_EQ(other.iterations.size(), one.iterations.size());
    for (size_t i = 0; i < one.iterations.size(); ++i) {
      for (size_t s = 0; s < one.iterations[i].samples.size(); ++s) {
        ASSERT_EQ(other.iterations[i].samples[s].cost, one.iterations[i].samples[s].cost) << i << " " << s;
      }
    }
  }
}

TEST(Search, DependsOnTheSeed) {
  Configuration configuration = SmallConfiguration();
  std::set<double> costs;  // of a displaced sample: the undisplaced one is the same for all seeds, and may win
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    configuration.sampling.seed = seed;
    const SmallProblem small(configuration, task::Squatting, 0.3);
    costs.insert(Search(small.problem()).iterations[0].samples[1].cost);
  }
  EXPECT_EQ(costs.size(), 3u);
}

TEST(Search, MoreSamplesCostLess) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.selection.saved = 1;
  configuration.sampling.samples = 1;
  const double undisplaced =
      Search(SmallProblem(configuration, task::Squatting, 0.3).problem()).iterations[0].best_cost;
  configuration.sampling.samples = 200;
  EXPECT_LE(Search(SmallProblem(configuration, task::Squatting, 0.3).problem()).iterations[0].best_cost, undisplaced);
}

TEST(Search, ReportsEveryIterationAsItEnds) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.4);
  const auto farm = parallel::MakeThreadFarm(1, MakeWorkerFactory(small.problem()));
  std::vector<int> iterations;
  sampling::Run(small.problem(), *farm, {[&](const IterationRecord& record) {
                  iterations.push_back(record.iteration);
                  EXPECT_EQ(record.samples.size(), 60u);
                }});
  EXPECT_EQ(iterations, (std::vector<int>{0, 1, 2, 3}));
}

TEST(Search, ThatDivergesEndsEarlyAndSaysSo) {
  Configuration configuration = SmallConfiguration();
  configuration.task.world.servo = simulation::Servo::kExplicit;
  configuration.task.world.time_step = 0.01;
  configuration.sampling.max_back_offs = 0;
  const SmallProblem small(configuration, task::Squatting, 0.5);
  const Summary result = Search(small.problem());
  EXPECT_FALSE(result.reached_end());
  EXPECT_EQ(result.ending, task::Ending::kDiverged);
  EXPECT_EQ(result.failure.diverged, static_cast<size_t>(result.failure.samples));
  ASSERT_FALSE(result.iterations.empty());
  EXPECT_EQ(result.iterations.back().diverged, result.iterations.back().samples.size());
  EXPECT_EQ(result.control.fragments.size() + 1, result.iterations.size());
  EXPECT_EQ(control::Fingerprint(result.control.start), control::Fingerprint(small.problem().task.start));
}

// Row 5 of the list of defects: with costs that are not finite the search had states to go on from, and none.
TEST(Search, Row05SamplesWithoutAFiniteCostHaveDiverged) {
  for (const bool inside : {true, false}) {
    for (const double weight : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      Configuration configuration = SmallConfiguration();
      configuration.sampling.keep_inside_gates = inside;
      configuration.sampling.max_back_offs = 2;
      const SmallProblem small(configuration, task::Squatting, 0.5);
      Problem problem = small.problem();
      problem.task.weights.pose = weight;
      problem.task.weights.root = weight;
      problem.task.weights.balance = weight;
      problem.task.weights.end_effector = weight;
      const Summary result = Search(problem);
      EXPECT_EQ(result.ending, task::Ending::kDiverged);
      EXPECT_TRUE(result.control.fragments.empty());
      ASSERT_FALSE(result.iterations.empty());
      for (const IterationRecord& record : result.iterations) {
        EXPECT_EQ(record.diverged, record.samples.size());
        EXPECT_EQ(record.inside_gates, 0u);
      }
    }
  }
}

TEST(Search, ThatGetsLostGoesBackAndDrawsAgain) {
  Configuration configuration = SmallConfiguration();
  configuration.task.gates.joint_position = 1e-6;  // nothing is ever inside
  configuration.task.schedule.segmentation = task::Segmentation::kOff;
  configuration.sampling.growth = 1;
  configuration.sampling.max_back_offs = 4;
  configuration.sampling.back_off = 0.1;
  const SmallProblem small(configuration, task::Squatting, 0.5);
  const Summary result = Search(small.problem());
  // Lost in fragment 0 as long as it may go back.
  EXPECT_EQ(result.back_offs, 4);
  EXPECT_FALSE(result.reached_end());
  EXPECT_EQ(result.ending, task::Ending::kLeftGates);
  EXPECT_TRUE(result.control.fragments.empty()) << "nothing out of tolerance is a part of the result";
  EXPECT_EQ(control::Fingerprint(result.end), control::Fingerprint(small.problem().task.start));
  std::set<double> costs;
  ASSERT_EQ(result.iterations.size(), 5u);
  for (size_t i = 0; i < result.iterations.size(); ++i) {
    const IterationRecord& record = result.iterations[i];
    EXPECT_EQ(record.iteration, static_cast<int>(i));
    EXPECT_EQ(record.fragment, 0);
    EXPECT_EQ(record.back_to, i < 4 ? 0 : -1);
    EXPECT_EQ(record.attempt, static_cast<int>(i));
    costs.insert(record.samples[1].cost);
    // What was lost is drawn again from what was learned, with fewer samples.
    EXPECT_EQ(record.fitted, i > 0) << i;
    EXPECT_EQ(record.samples.size(), result.iterations[0].samples.size() / (record.fitted ? 2 : 1));
  }
  EXPECT_EQ(costs.size(), 5u) << "an attempt repeats another's samples";
  EXPECT_EQ(result.failure.fragment, 0);
  EXPECT_EQ(result.failure.attempts, 5);
  EXPECT_EQ(result.failure.samples, static_cast<int>(result.iterations.back().samples.size()));
  // The same path from any number of workers.
  const Summary again = Search(small.problem(), 3);
  EXPECT_EQ(again.path_cost, result.path_cost);
  ASSERT_EQ(again.iterations.size(), result.iterations.size());
  for (size_t i = 0; i < result.iterations.size(); ++i) {
    for (size_t k = 0; k < result.iterations[i].samples.size(); ++k) {
      ASSERT_EQ(again.iterations[i].samples[k].cost, result.iterations[i].samples[k].cost) << i << " " << k;
    }
  }
}

TEST(Search, DrawsMoreSamplesEachTimeThatItGetsLost) {
  Configuration configuration = SmallConfiguration();
  configuration.task.gates.joint_position = 1e-6;  // nothing is ever inside
  configuration.task.schedule.segmentation = task::Segmentation::kOff;
  configuration.sampling.samples = 20;
  configuration.sampling.selection.saved = 6;
  configuration.sampling.growth = 2;
  configuration.sampling.most_samples = 100;
  configuration.sampling.max_back_offs = 4;
  configuration.sampling.back_off = 0.1;
  const SmallProblem small(configuration, task::Squatting, 0.5);
  const Summary result = Search(small.problem());
  std::vector<size_t> drawn;
  for (const IterationRecord& record : result.iterations) drawn.push_back(record.samples.size());
  // Those that are drawn again come from a fitted distribution, with half of the samples.
  EXPECT_THAT(drawn, testing::ElementsAre(20, 20, 40, 50, 50));
  EXPECT_GT(result.iterations[3].selection.samples.size(), result.iterations[0].selection.samples.size());
}

TEST(Search, WhereNothingIsLostDrawsTheSameForAnyGrowth) {
  Configuration configuration = SmallConfiguration();
  const SmallProblem small(configuration, task::Squatting, 0.5);
  const Summary result = Search(small.problem());
  ASSERT_EQ(result.back_offs, 0);
  configuration.sampling.growth = 3;
  const SmallProblem growing(configuration, task::Squatting, 0.5);
  const Summary same = Search(growing.problem());
  EXPECT_EQ(same.rollouts, result.rollouts);
  EXPECT_EQ(control::Fingerprint(same.end), control::Fingerprint(result.end));
}

/// A search that got lost after its first fragment: what it says of the failure, recomputed from the records.
void ExpectPartialUpToTheFailure(const Problem& problem, const Summary& result) {
  EXPECT_FALSE(result.reached_end());
  const Failure& failure = result.failure;
  ASSERT_GT(failure.fragment, 0);
  EXPECT_EQ(failure.fragments_before, failure.fragment);
  EXPECT_NEAR(failure.start, problem.task.schedule.steps[static_cast<size_t>(failure.fragment)] * problem.time_step(),
              1e-12);
  const IterationRecord* last = nullptr;
  int attempts = 0;
  int furthest = 0;
  for (const IterationRecord& record : result.iterations) {
    furthest = std::max(furthest, record.fragment);
    if (record.fragment != failure.fragment) continue;
    last = &record;
    ++attempts;
  }
  EXPECT_EQ(failure.fragment, furthest);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(failure.attempts, attempts);
  EXPECT_EQ(failure.samples, static_cast<int>(last->samples.size()));
  EXPECT_EQ(failure.diverged, last->diverged);
  double nearest = std::numeric_limits<double>::infinity();
  for (const SampleRecord& sample : last->samples) {
    if (sample.saved) nearest = std::min(nearest, sample.gate_ratio);
  }
  EXPECT_EQ(failure.nearest_ratio, nearest);
  EXPECT_GT(failure.nearest_ratio, 1 - problem.options.gate_margin);
  EXPECT_LE(failure.nearest.largest(), failure.nearest_ratio * (1 + 1e-9))
      << "the end is one of the instants looked at";
  const auto total = [](const task::CostTerms& terms) { return terms.Total({1, 1, 1, 1, 1}); };
  EXPECT_GT(total(failure.terms), 0);
  EXPECT_GT(total(failure.terms_before), 0);
}

TEST(LongSearch, GoesBackTwiceAsFarAndBeginsAnewFromTheStart) {
  // Tolerances that the squat's first part passes and its last part cannot.
  Configuration configuration = SmallConfiguration();
  configuration.task.schedule.segmentation = task::Segmentation::kOff;
  configuration.sampling.max_back_offs = 0;
  const Summary open = Search(SmallProblem(configuration, task::Squatting, 0.6).problem());
  std::vector<double> best;
  for (const IterationRecord& record : open.iterations) {
    best.push_back(std::numeric_limits<double>::infinity());
    for (const SampleRecord& sample : record.samples) best.back() = std::min(best.back(), sample.gate_ratio);
  }
  const size_t worst = static_cast<size_t>(std::max_element(best.begin(), best.end()) - best.begin());
  ASSERT_GT(worst, 0u);
  for (double* limit : {&configuration.task.gates.root_height, &configuration.task.gates.root_orientation,
                        &configuration.task.gates.joint_position}) {
    *limit *= 0.5 * best[worst];
  }
  configuration.sampling.max_back_offs = 6;
  configuration.sampling.back_off = 0.1;
  configuration.sampling.refit = false;  // or it gets past the position
  configuration.sampling.ramp = 0;       // likewise
  const SmallProblem small(configuration, task::Squatting, 0.6);
  const Summary result = Search(small.problem());
  int lost = -1;
  double distance = 0;
  for (const IterationRecord& record : result.iterations) {
    if (record.back_to < 0) continue;
    const bool from_start = lost >= 0 && distance > lost * 0.1 - 1e-9;
    distance = record.fragment > lost || from_start ? 0.1 : 2 * distance;
    lost = std::max(lost, record.fragment);
    const double back = (record.fragment - record.back_to) * 0.1;
    EXPECT_NEAR(back, std::min(distance, record.fragment * 0.1), 0.011);
  }
  EXPECT_EQ(result.back_offs, 6);
  ExpectPartialUpToTheFailure(small.problem(), result);
  EXPECT_EQ(result.ending, task::Ending::kLeftGates);
  EXPECT_EQ(result.failure.fragment, lost);
  ASSERT_EQ(result.control.fragments.size(), static_cast<size_t>(lost)) << "the best of all attempts";
  // The path goes through one sample of one attempt at each fragment.
  std::vector<int> chosen(static_cast<size_t>(small.problem().task.schedule.num_iterations()), 0);
  for (const IterationRecord& record : result.iterations) {
    for (const SampleRecord& sample : record.samples) chosen[static_cast<size_t>(record.fragment)] += sample.chosen;
  }
  for (size_t f = 0; f < chosen.size(); ++f) EXPECT_EQ(chosen[f], f < result.control.fragments.size() ? 1 : 0);
  ReplaysToTheSameEnd(result);
}

TEST(LongSearch, ThatMayNotGoBackEndsWhereItGetsLost) {
  Configuration configuration = SmallConfiguration();
  configuration.task.schedule.segmentation = task::Segmentation::kOff;
  configuration.sampling.max_back_offs = 0;
  configuration.task.gates.root_height = 0.01;  // the squat begins slowly
  configuration.task.gates.joint_position = 0.02;
  const SmallProblem small(configuration, task::Squatting, 0.8);
  const Summary result = Search(small.problem());
  EXPECT_EQ(result.ending, task::Ending::kLeftGates);
  EXPECT_EQ(result.back_offs, 0);
  EXPECT_EQ(result.iterations.size(), result.control.fragments.size() + 1);
  EXPECT_EQ(result.failure.attempts, 1);
  ExpectPartialUpToTheFailure(small.problem(), result);
  ReplaysToTheSameEnd(result);
  // Without watching the tolerances it goes on to the end.
  configuration.sampling.keep_inside_gates = false;
  const Summary blind = Search(SmallProblem(configuration, task::Squatting, 0.8).problem());
  EXPECT_EQ(blind.ending, task::Ending::kReachedEnd);
  EXPECT_TRUE(blind.reached_end());
}

TEST(LongSearch, NeverExceedsItsBudget) {
  Configuration configuration = SmallConfiguration();
  configuration.task.schedule.segmentation = task::Segmentation::kOff;
  // So few samples from a state that none repeats the feedforward simulation.
  configuration.sampling.samples = 30;
  configuration.sampling.selection.saved = 6;
  for (const double budget : {10.0, 14.9, 15.1, 29.0}) {  // of 30 for the whole pass
    SCOPED_TRACE(budget);
    configuration.sampling.budget = budget;
    const SmallProblem small(configuration, task::Squatting, 0.8);
    const Summary result = Search(small.problem());
    EXPECT_EQ(result.ending, task::Ending::kBudget);
    EXPECT_FALSE(result.reached_end());
    EXPECT_LE(result.simulated_seconds, budget * 0.8 * (1 + 1e-12));
    EXPECT_GT(result.simulated_seconds + 30 * 0.1, budget * 0.8) << "another fragment could have been afforded";
    EXPECT_EQ(result.control.fragments.size(), result.iterations.size());
    EXPECT_EQ(result.failure.fragment, -1) << "it was not lost";
    ReplaysToTheSameEnd(result);
  }
  configuration.sampling.budget = 30.001;
  EXPECT_EQ(Search(SmallProblem(configuration, task::Squatting, 0.8).problem()).ending, task::Ending::kReachedEnd);
  configuration.sampling.budget = 0;
  EXPECT_EQ(Search(SmallProblem(configuration, task::Squatting, 0.8).problem()).ending, task::Ending::kReachedEnd);
}

TEST(LongSearch, SpendsItsBudgetOnBackOffsToo) {
  Configuration configuration = SmallConfiguration();
  configuration.task.schedule.segmentation = task::Segmentation::kOff;
  configuration.sampling.samples = 30;
  configuration.sampling.selection.saved = 6;
  configuration.sampling.budget = 200;
  configuration.task.gates.root_height = 0.005;
  configuration.task.gates.joint_position = 0.012;
  const SmallProblem small(configuration, task::Squatting, 0.8);
  const Summary result = Search(small.problem());
  EXPECT_EQ(result.ending, task::Ending::kBudget);
  EXPECT_GT(result.back_offs, 0);
  EXPECT_LE(result.simulated_seconds, 200 * 0.8 * (1 + 1e-12));
  EXPECT_GE(result.failure.fragment, 0);
  EXPECT_EQ(result.control.fragments.size(), static_cast<size_t>(result.failure.fragment));
}

TEST(Search, ReportsBrieflyHowItEnded) {
  Summary summary;
  summary.ending = task::Ending::kLeftGates;
  summary.control.fragments.resize(3);
  summary.path_cost = 12.346;
  summary.iterations.resize(5);
  summary.rollouts = 300;
  summary.simulated_seconds = 30.04;
  summary.back_offs = 1;
  EXPECT_EQ(
      summary.BriefReport(),
      "left-gates: 3 fragments of control with path cost 12.35; 5 iterations, 300 rollouts, 30.0 simulated seconds, "
      "1 back-off");
  summary.ending = task::Ending::kReachedEnd;
  summary.refinement = {{.cost_before = 4, .cost = 3}, {.cost_before = 3, .cost = 1}};
  EXPECT_EQ(summary.BriefReport(),
            "reached_end: 3 fragments of control with path cost 12.35; 5 iterations, 300 rollouts, 30.0 simulated "
            "seconds, 1 back-off, 2 refinement passes to 25 % of the cost");
}

TEST(Search, RefusesOptionsThatAreNotValid) {
  const std::vector<std::function<void(Options&)>> mistakes = {
      [](Options& o) { o.samples = 0; },
      [](Options& o) { o.samples = -1; },
      [](Options& o) { o.selection.saved = 0; },
      [](Options& o) { o.selection.saved = o.samples + 1; },
      [](Options& o) { o.selection.discarded = 1; },
      [](Options& o) { o.target_knots = 0; },
      [](Options& o) { o.elites = 0; },
      [](Options& o) { o.correlation = 1; },
      [](Options& o) { o.refinement.samples = 0; },
      [](Options& o) { o.window_scale = std::numeric_limits<double>::quiet_NaN(); },
      [](Options& o) { o.budget = std::numeric_limits<double>::infinity(); },
  };
  for (size_t i = 0; i < mistakes.size(); ++i) {
    const SmallProblem small(SmallConfiguration(), task::Squatting, 0.4);
    Problem problem = small.problem();
    EXPECT_EQ(problem.options.Validate(), std::nullopt);
    mistakes[i](problem.options);
    EXPECT_THROW(Search(problem), UsageError) << "mistake " << i;
  }
}

Configuration RefinementConfiguration() {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.refinement.passes = 2;
  configuration.sampling.refinement.least_gain = 0;
  return configuration;
}

/// Mean distance of the joints in the world [m].
double WorldError(const SmallProblem& small, const Summary& result) {
  const control::Trajectory motion = control::Replay(task::Human(), result.control);
  double sum = 0;
  character::State reference;
  for (size_t i = 0; i < motion.states.size(); ++i) {
    small.reference().StateAt(motion.TimeOf(i), reference);
    sum += metrics::WorldPositionError(task::Human(), motion.states[i], reference);
  }
  return sum / static_cast<double>(motion.states.size());
}

TEST(Refinement, FindsAPathCloserToTheReferenceInsideTheGates) {
  const SmallProblem small(RefinementConfiguration(), task::Squatting, 0.6);
  Configuration plain = RefinementConfiguration();
  plain.sampling.refinement.passes = 0;
  const SmallProblem without(plain, task::Squatting, 0.6);
  const Summary before = Search(without.problem());
  const Summary result = Search(small.problem());
  ASSERT_EQ(result.refinement.size(), 2u);
  EXPECT_TRUE(result.refinement[0].linearized);
  EXPECT_FALSE(result.refinement[1].linearized) << "two passes share a model";
  EXPECT_NEAR(result.refinement[1].cost_before, result.refinement[0].cost, 1e-9);
  for (const RefinementPass& pass : result.refinement) EXPECT_LT(pass.cost, pass.cost_before);
  EXPECT_LT(result.refinement[1].cost, 0.8 * result.refinement[0].cost_before);
  EXPECT_LT(WorldError(small, result), WorldError(without, before));
  EXPECT_EQ(result.search_seconds, before.simulated_seconds);
  EXPECT_LT(result.search_seconds, result.simulated_seconds);
  ReplaysToTheSameEnd(result);
  const auto evaluation =
      metrics::Evaluate(task::Human(), control::Replay(task::Human(), result.control), small.reference(), 0.6, {});
  EXPECT_TRUE(evaluation.success());
}

TEST(Refinement, ChosenSamplesAreThoseOfTheControlsPath) {
  const SmallProblem small(RefinementConfiguration(), task::Squatting, 0.4);
  const Summary result = Search(small.problem());
  std::vector<int> chosen(static_cast<size_t>(small.problem().task.schedule.num_iterations()), 0);
  for (const IterationRecord& record : result.iterations) {
    for (const SampleRecord& sample : record.samples) chosen[static_cast<size_t>(record.fragment)] += sample.chosen;
  }
  for (const int count : chosen) EXPECT_EQ(count, 1);
}

/// Every row of samples.csv, written and read: the weighted terms add up to the total, whatever ranked the samples.
TEST(LongRefinement, WeightedCostsAddUpToTheTotal) {
  const SmallProblem small(RefinementConfiguration(), task::Squatting, 0.4);
  const Summary result = Search(small.problem());
  const std::filesystem::path path = testing::TempDir() + "retrace_refinement_samples.csv";
  io::WriteFile(path, results::FormatSamples(runs::SamplesOf(result)));
  const results::SampleTable read = results::ReadSamples(path);
  std::filesystem::remove(path);
  size_t rows = 0;
  for (const results::FragmentSamples& fragment : read.fragments) {
    for (const results::SampleCost& sample : fragment.samples) {
      ++rows;
      if (sample.diverged) continue;
      const double sum = std::accumulate(sample.weighted.begin(), sample.weighted.end(), 0.0);
      EXPECT_NEAR(sum, sample.total, 2e-6 * sample.total) << "fragment " << fragment.fragment;
    }
  }
  size_t expected = 0;
  for (const IterationRecord& record : result.iterations) expected += record.samples.size();
  EXPECT_EQ(rows, expected);
}

/// What costs.csv says of each iteration is what samples.csv says of its samples.
TEST(LongRefinement, CostsOfIterationsAreThoseOfTheirSamples) {
  const SmallProblem small(RefinementConfiguration(), task::Squatting, 0.4);
  const Summary result = Search(small.problem());
  const std::filesystem::path path = testing::TempDir() + "retrace_iteration_costs.csv";
  io::WriteFile(path, results::FormatCosts(runs::CostsOf(result)));
  const results::CostTable costs = results::ReadCosts(path);
  io::WriteFile(path, results::FormatSamples(runs::SamplesOf(result)));
  const results::CostTable of_samples = results::ReadCosts(path);
  std::filesystem::remove(path);
  ASSERT_EQ(costs.iterations.size(), result.iterations.size());
  ASSERT_EQ(of_samples.iterations.size(), result.iterations.size());
  int chosen = 0, refinement = 0;
  for (size_t i = 0; i < costs.iterations.size(); ++i) {
    const results::IterationCosts& a = costs.iterations[i];
    const results::IterationCosts& b = of_samples.iterations[i];
    EXPECT_EQ(a.fragment, b.fragment);
    EXPECT_EQ(a.attempt, b.attempt);
    EXPECT_EQ(a.samples, b.samples);
    EXPECT_EQ(a.diverged, b.diverged);
    EXPECT_EQ(a.saved, b.saved);
    EXPECT_GE(a.inside_gates, a.saved);
    EXPECT_EQ(a.drawn_costs.least, b.drawn_costs.least);
    EXPECT_NEAR(a.drawn_costs.median, b.drawn_costs.median, 1e-6 * b.drawn_costs.median);
    EXPECT_EQ(a.drawn_costs.most, b.drawn_costs.most);
    EXPECT_EQ(a.saved_costs.least, b.saved_costs.least);
    EXPECT_NEAR(a.saved_costs.third_quartile, b.saved_costs.third_quartile, 1e-6 * b.saved_costs.third_quartile);
    EXPECT_EQ(a.saved_costs.most, b.saved_costs.most);
    ASSERT_EQ(a.chosen.has_value(), b.chosen.has_value());
    refinement += a.refinement;
    if (!a.chosen) continue;
    ++chosen;
    EXPECT_EQ(a.chosen->sample, b.chosen->sample);
    EXPECT_EQ(a.chosen->terms, b.chosen->terms);
    EXPECT_EQ(a.chosen->total, b.chosen->total);
  }
  EXPECT_EQ(chosen, small.problem().task.schedule.num_iterations());
  EXPECT_GT(refinement, 0);
}

TEST(LongRefinement, TargetsDoNotJump) {
  const SmallProblem small(RefinementConfiguration(), task::Squatting, 0.6);
  const Summary result = Search(small.problem());
  ASSERT_LT(result.refinement[0].cost, result.refinement[0].cost_before);
  int ramped = 0;
  for (size_t f = 1; f < result.control.fragments.size(); ++f) {
    const auto& before = result.control.fragments[f - 1].targets.back();
    const auto& after = result.control.fragments[f].targets.front();
    double jump = 0;
    for (size_t j = 0; j < before.size(); ++j) jump = std::max(jump, AngleBetween(before[j], after[j]));
    ramped += jump < 1e-6;
  }
  EXPECT_EQ(ramped + 1, static_cast<int>(result.control.fragments.size()));
}

TEST(Refinement, GivesTheSameBytesForAnyNumberOfThreads) {
  const SmallProblem small(RefinementConfiguration(), task::Squatting, 0.4);
  const std::string one = control::FormatControl(task::Human(), Search(small.problem(), 1).control);
  EXPECT_EQ(control::FormatControl(task::Human(), Search(small.problem(), 3).control), one);
}

TEST(LongRefinement, StaysWithinTheBudget) {
  for (const double budget : {65.0, 400.0, 500.0, 700.0}) {
    Configuration configuration = RefinementConfiguration();
    configuration.sampling.budget = budget;
    const SmallProblem small(configuration, task::Squatting, 0.5);
    const Summary result = Search(small.problem());
    EXPECT_TRUE(result.reached_end());
    EXPECT_LE(result.simulated_seconds, budget * 0.5 * (1 + 1e-12));
    EXPECT_EQ(result.refinement.size(), budget < 420 ? 0u : budget < 500 ? 1u : 2u) << budget;
    ReplaysToTheSameEnd(result);
  }
}

/// Noise that throws nearly all samples out of tolerance, and no guidance.
TEST(LongRefinement, NeverLosesThePathThatItRefines) {
  Configuration configuration = RefinementConfiguration();
  configuration.sampling.refinement.largest_turn = 0;
  configuration.sampling.refinement.noise = 10;
  const SmallProblem wild(configuration, task::Squatting, 0.5);
  const Summary kept = Search(wild.problem());
  ASSERT_FALSE(kept.refinement.empty());
  size_t outside = 0;
  for (const IterationRecord& record : kept.iterations) {
    if (record.refinement) outside += record.samples.size() - record.inside_gates;
  }
  EXPECT_GT(outside, 100u);
  for (const RefinementPass& pass : kept.refinement) EXPECT_LE(pass.cost, pass.cost_before);
  EXPECT_TRUE(kept.reached_end());
  ReplaysToTheSameEnd(kept);
}

TEST(LongRefinement, EndsWhereTwoPassesInARowGainTooLittle) {
  constexpr double kLeastGain = 0.3;
  Configuration configuration = RefinementConfiguration();
  configuration.sampling.refinement.passes = 20;
  configuration.sampling.refinement.least_gain = kLeastGain;
  const SmallProblem small(configuration, task::Squatting, 0.4);
  const std::vector<RefinementPass> passes = Search(small.problem()).refinement;
  ASSERT_GE(passes.size(), 2u);
  ASSERT_LT(passes.size(), 20u);
  for (size_t i = 0; i + 1 < passes.size(); ++i) {
    const bool ends = i + 2 == passes.size();
    EXPECT_EQ(passes[i].gain() < kLeastGain && passes[i + 1].gain() < kLeastGain, ends);
    if (passes[i].gain() >= kLeastGain) {
      EXPECT_EQ(passes[i + 1].caution, passes[i].caution);
    } else if (passes[i].linearized) {
      EXPECT_GT(passes[i + 1].caution, passes[i].caution) << "its steps were too large";
      EXPECT_FALSE(passes[i + 1].linearized) << "the path may be the same";
    } else {
      EXPECT_TRUE(passes[i + 1].linearized) << "the model was that of an earlier path";
    }
  }
}

/// What a search simulated, in memory.
class MemoryStore final : public IterationStore {
 public:
  explicit MemoryStore(std::vector<parallel::Bytes> earlier = {}) : records(std::move(earlier)) {}
  bool Next(parallel::Bytes& simulated) override {
    if (taken_ == records.size()) return false;
    simulated = records[taken_++];
    return true;
  }
  void Append(const parallel::Bytes& simulated) override {
    EXPECT_EQ(taken_, records.size());
    records.push_back(simulated);
    taken_ = records.size();
    ++appended;
  }
  bool IsFull() const override { return full_at > 0 && records.size() >= full_at; }
  void Restart(const io::RecordProducer& state) override {
    EXPECT_EQ(taken_, records.size());
    records.assign(1, {});
    state([&](std::span<const std::byte> piece) { records[0].insert(records[0].end(), piece.begin(), piece.end()); });
    taken_ = 1;
  }
  std::vector<parallel::Bytes> records;
  size_t full_at = 0;  // records; 0: never
  size_t appended = 0;

 private:
  size_t taken_ = 0;
};

Summary Search(const Problem& problem, MemoryStore& store, int stop_after, int threads = 1,
               size_t most_samples_kept = kMostSamplesKept) {
  const auto farm = parallel::MakeThreadFarm(threads, MakeWorkerFactory(problem));
  Hooks hooks;
  hooks.store = &store;
  hooks.most_samples_kept = most_samples_kept;
  int simulated = 0;
  hooks.stop = [&] { return ++simulated == stop_after; };
  return Run(problem, *farm, hooks);
}

/// Records of a store that have the models of refinement passes, one for each pass that linearized a short motion.
size_t NumModels(const Summary& summary) {
  return static_cast<size_t>(std::count_if(summary.refinement.begin(), summary.refinement.end(),
                                           [](const RefinementPass& pass) { return pass.linearized; }));
}

/// Stopped after any iteration, it goes on to the same bytes.
void StoppedAnywhereEndsTheSame(const Problem& problem, const Summary& expected, const MemoryStore& whole) {
  ASSERT_EQ(whole.records.size(), expected.iterations.size() + NumModels(expected));
  const std::string control = control::FormatControl(task::Human(), expected.control);
  EXPECT_EQ(control, control::FormatControl(task::Human(), Search(problem).control));
  for (size_t kept = 1; kept < whole.records.size(); kept += 1 + whole.records.size() / 6) {
    MemoryStore first;
    EXPECT_THROW(Search(problem, first, static_cast<int>(kept)), StoppedError);
    ASSERT_EQ(first.records.size(), kept);
    MemoryStore second(first.records);
    const Summary result = Search(problem, second, -1, 3);
    ASSERT_EQ(control::FormatControl(task::Human(), result.control), control) << "stopped after " << kept;
    EXPECT_EQ(result.simulated_seconds, expected.simulated_seconds);
    EXPECT_EQ(result.rollouts, expected.rollouts);
    EXPECT_EQ(result.path_cost, expected.path_cost);
    ASSERT_EQ(result.iterations.size(), expected.iterations.size());
    for (size_t i = 0; i < result.iterations.size(); ++i) {
      const IterationRecord& a = result.iterations[i];
      const IterationRecord& b = expected.iterations[i];
      EXPECT_TRUE(a.restored ? i < kept : i + NumModels(expected) >= kept);
      EXPECT_EQ(a.selection.samples, b.selection.samples);
      EXPECT_EQ(a.back_to, b.back_to);
      for (size_t s = 0; s < a.samples.size(); ++s) {
        ASSERT_EQ(a.samples[s].cost, b.samples[s].cost);
        ASSERT_EQ(a.samples[s].start, b.samples[s].start);
        ASSERT_EQ(a.samples[s].chosen, b.samples[s].chosen);
      }
    }
  }
}

TEST(LongSearch, StoppedWhileItIsLostEndsTheSame) {
  Configuration configuration = SmallConfiguration();
  configuration.task.gates.joint_position = 0.012;
  configuration.sampling.budget = 400;
  configuration.sampling.back_off = 0.1;
  configuration.sampling.correlation = 0.5;
  const SmallProblem small(configuration, task::Squatting, 0.4);
  MemoryStore whole;
  const Summary expected = Search(small.problem(), whole, -1);
  EXPECT_GT(expected.back_offs, 0);
  EXPECT_TRUE(std::any_of(expected.iterations.begin(), expected.iterations.end(),
                          [](const IterationRecord& record) { return record.fitted; }));
  StoppedAnywhereEndsTheSame(small.problem(), expected, whole);
}

/// Iterations from fitted distributions have so few samples that some start states get none.
TEST(LongSearch, StoppedWithFewerSamplesThanStartStatesEndsTheSame) {
  Configuration configuration = SmallConfiguration();
  configuration.task.gates.joint_position = 0.012;
  configuration.sampling.budget = 400;
  configuration.sampling.back_off = 0.1;
  configuration.sampling.refit_samples = 0.05;  // 3 samples from 12 start states
  const SmallProblem small(configuration, task::Squatting, 0.4);
  MemoryStore whole;
  const Summary expected = Search(small.problem(), whole, -1);
  bool fewer = false;
  for (size_t i = 1; i < expected.iterations.size(); ++i) {
    fewer |= expected.iterations[i].samples.size() < expected.iterations[i - 1].selection.samples.size();
  }
  EXPECT_TRUE(fewer);
  StoppedAnywhereEndsTheSame(small.problem(), expected, whole);
}

/// A store that takes the state of the search instead of its iterations goes on to the same result.
void StoppedWithABoundedStoreEndsTheSame(const Problem& problem, size_t most_samples_kept = kMostSamplesKept) {
  const auto farm = parallel::MakeThreadFarm(1, MakeWorkerFactory(problem));
  Hooks hooks;
  hooks.most_samples_kept = most_samples_kept;
  const Summary expected = sampling::Run(problem, *farm, hooks);
  const std::string control = control::FormatControl(task::Human(), expected.control);
  for (const size_t full_at : {size_t{1}, size_t{2}, size_t{5}}) {
    std::vector<parallel::Bytes> kept;
    std::optional<Summary> result;
    int stops = 0;
    while (!result) {
      MemoryStore store(kept);
      store.full_at = full_at;
      try {
        result = Search(problem, store, 3, 2, most_samples_kept);
      } catch (const StoppedError&) {
        ++stops;
      }
      ASSERT_LE(store.records.size(), full_at + 2);  // the state, and one that a resumed search has read already
      kept = store.records;
    }
    EXPECT_GE(stops, static_cast<int>((expected.iterations.size() - 1) / 3)) << full_at;
    EXPECT_EQ(control::FormatControl(task::Human(), result->control), control) << full_at;
    EXPECT_EQ(result->rollouts, expected.rollouts);
    EXPECT_EQ(result->simulated_seconds, expected.simulated_seconds);
    EXPECT_EQ(result->search_seconds, expected.search_seconds);
    EXPECT_EQ(result->back_offs, expected.back_offs);
    EXPECT_EQ(result->failure.fragment, expected.failure.fragment);
    EXPECT_EQ(result->refinement.size(), expected.refinement.size());
    ASSERT_EQ(result->iterations.size(), expected.iterations.size());
    for (size_t i = 0; i < expected.iterations.size(); ++i) {
      const IterationRecord& a = result->iterations[i];
      const IterationRecord& b = expected.iterations[i];
      EXPECT_EQ(a.attempt, b.attempt);
      EXPECT_EQ(a.selection.samples, b.selection.samples);
      EXPECT_EQ(a.drawn_costs.median, b.drawn_costs.median);
      EXPECT_EQ(a.saved_costs.most, b.saved_costs.most);
      ASSERT_EQ(a.samples.size(), b.samples.size());
      for (size_t s = 0; s < a.samples.size(); ++s) {
        ASSERT_EQ(a.samples[s].cost, b.samples[s].cost);
        ASSERT_EQ(a.samples[s].chosen, b.samples[s].chosen);
      }
    }
  }
}

/// Few samples do not reach the end within the time that they have; many would.
Configuration LostWithFewSamples() {
  Configuration configuration = SmallConfiguration();
  configuration.task.gates.joint_position = 0.009;
  configuration.sampling.samples = 20;
  configuration.sampling.selection.saved = 4;
  configuration.sampling.growth = 1;
  configuration.sampling.back_off = 0.1;
  configuration.sampling.budget = 240;
  configuration.sampling.restart = {60, 12, 50};
  return configuration;
}

TEST(LongSearch, BeginsOnceMoreWithMoreSamples) {
  const Configuration configuration = LostWithFewSamples();
  const SmallProblem small(configuration, task::Squatting, 0.4);
  MemoryStore whole;
  const Summary result = Search(small.problem(), whole, -1);
  ASSERT_TRUE(result.restarted());
  EXPECT_THAT(result.BriefReport(),
              testing::HasSubstr(", begun once more after " + std::to_string(result.restarted_at) + " iterations"));
  const auto restart = static_cast<size_t>(result.restarted_at);
  ASSERT_LT(restart, result.iterations.size());
  double before = 0;
  for (size_t i = 0; i < result.iterations.size(); ++i) {
    const IterationRecord& record = result.iterations[i];
    EXPECT_EQ(record.restart, i == restart);
    const int samples = i < restart ? 20 : 60;
    EXPECT_EQ(record.drawn, record.fitted ? samples / 2 : samples);
    if (i < restart) before += static_cast<double>(record.rollouts) * (record.end - record.start);
  }
  EXPECT_EQ(result.iterations[restart].fragment, 0);
  EXPECT_FALSE(result.iterations[restart].fitted) << "it knows nothing of what was fitted before";
  EXPECT_LE(before, 50 * 0.4 * (1 + 1e-12));
  EXPECT_LE(result.simulated_seconds, 240 * 0.4 * (1 + 1e-12));
  EXPECT_GT(result.simulated_seconds, 50 * 0.4);
  ReplaysToTheSameEnd(result);
  StoppedAnywhereEndsTheSame(small.problem(), result, whole);
  StoppedWithABoundedStoreEndsTheSame(small.problem());
}

TEST(LongSearch, DoesNotBeginOnceMoreWithoutMoreSamplesOrMoreToSpend) {
  for (const RestartOptions& restart :
       {RestartOptions{20, 4, 50}, RestartOptions{0, 4, 50}, RestartOptions{60, 12, 240}}) {
    Configuration configuration = LostWithFewSamples();
    configuration.sampling.restart = restart;
    const Summary result = Search(SmallProblem(configuration, task::Squatting, 0.4).problem());
    EXPECT_GT(result.simulated_seconds, 50 * 0.4) << "it was not lost";
    EXPECT_FALSE(result.restarted());
  }
}

TEST(LongSearch, BegunOnceMoreEndsWhereItGetsNoFurther) {
  Configuration configuration = LostWithFewSamples();
  configuration.task.gates.joint_position = 0.006;
  configuration.sampling.restart.patience = 150;
  configuration.sampling.budget = 1000;
  const SmallProblem small(configuration, task::Squatting, 0.4);
  MemoryStore whole;
  const Summary result = Search(small.problem(), whole, -1);
  ASSERT_TRUE(result.restarted());
  EXPECT_EQ(result.ending, task::Ending::kBudget);
  int reached = 0;
  double seconds = 0, reached_at = 0, got_through = 0;
  for (const IterationRecord& record : result.iterations) {
    if (record.restart) reached_at = seconds;
    seconds += static_cast<double>(record.rollouts) * (record.end - record.start);
    if (record.inside_gates == 0 || record.fragment < reached) continue;
    reached = record.fragment + 1;
    reached_at = seconds;
    got_through = record.end;
  }
  ASSERT_GT(reached, 0);
  ASSERT_LT(got_through, 0.4) << "the patience would be that of the whole motion";
  const double patience = 150 * got_through;
  EXPECT_LE(seconds - reached_at, patience * (1 + 1e-12));
  // It ends where it has gone back and can no longer get further, not in between.
  const IterationRecord& last = result.iterations.back();
  ASSERT_GE(last.back_to, 0);
  EXPECT_GT(seconds - reached_at + 60 * (got_through + 0.1 - 0.1 * last.back_to), patience) << "it was impatient";
  EXPECT_LT(seconds, 1000 * 0.4 / 2);
  StoppedAnywhereEndsTheSame(small.problem(), result, whole);
  StoppedWithABoundedStoreEndsTheSame(small.problem());
}

/// What got further before the restart is the result all the same.
TEST(LongSearch, ARestartLosesNothingThatWasFound) {
  Configuration configuration = LostWithFewSamples();
  configuration.sampling.budget = 57;  // for a fragment more
  const Summary result = Search(SmallProblem(configuration, task::Squatting, 0.4).problem());
  configuration.sampling.restart.samples = 0;
  configuration.sampling.budget = 50;
  const Summary without = Search(SmallProblem(configuration, task::Squatting, 0.4).problem());
  ASSERT_TRUE(result.restarted());
  EXPECT_EQ(control::FormatControl(task::Human(), result.control),
            control::FormatControl(task::Human(), without.control));
}

TEST(LongSearch, StoppedWhileItRefinesEndsTheSame) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.refinement.passes = 2;
  const SmallProblem small(configuration, task::Squatting, 0.4);
  MemoryStore whole;
  const Summary expected = Search(small.problem(), whole, -1);
  EXPECT_EQ(expected.refinement.size(), 2u);
  StoppedAnywhereEndsTheSame(small.problem(), expected, whole);
}

TEST(LongSearch, RefusesWhatAnotherSearchStored) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.4);
  MemoryStore whole;
  Search(small.problem(), whole, -1);
  ASSERT_GT(whole.records.size(), 2u);
  const auto expect_refused = [&](std::vector<parallel::Bytes> records, const char* found) {
    MemoryStore store(std::move(records));
    try {
      Search(small.problem(), store, -1);
      ADD_FAILURE() << found << " was accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("checkpoint: found ").append(found).append(", expected what this search has stored"));
    }
  };
  expect_refused({whole.records[1]}, "an iteration of another search");
  parallel::Bytes bytes = whole.records[0];
  bytes.pop_back();
  expect_refused({bytes}, "too few bytes");
  bytes = whole.records[0];
  bytes.push_back({});
  expect_refused({bytes}, "too many bytes");
}

TEST(Search, ABoundedStoreGoesOnWhileItIsLost) {
  Configuration configuration = SmallConfiguration();
  configuration.task.gates.joint_position = 0.012;
  configuration.sampling.budget = 400;
  configuration.sampling.back_off = 0.1;
  configuration.sampling.correlation = 0.5;
  StoppedWithABoundedStoreEndsTheSame(SmallProblem(configuration, task::Squatting, 0.4).problem());
}

TEST(Search, ABoundedStoreGoesOnWhileItRefines) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.refinement.passes = 2;
  StoppedWithABoundedStoreEndsTheSame(SmallProblem(configuration, task::Squatting, 0.4).problem());
}

/// Found by scripts/check/long-clip: what a search stored that had forgotten its samples could not be gone on from.
TEST(Search, ABoundedStoreGoesOnWithASearchThatForgetsItsSamples) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.refinement.passes = 1;
  StoppedWithABoundedStoreEndsTheSame(SmallProblem(configuration, task::Squatting, 0.4).problem(), 10);
}

/// What is further back than the limit leaves memory; the search goes on and can be stopped anywhere.
TEST(Search, NeverGoesBackFurtherThanItsLimit) {
  Configuration configuration = SmallConfiguration();
  configuration.task.gates.joint_position = 0.012;
  configuration.sampling.budget = 400;
  configuration.sampling.back_off = 0.1;
  configuration.sampling.back_off_limit = 0.2;
  const SmallProblem small(configuration, task::Squatting, 0.6);
  const Summary result = Search(small.problem());
  EXPECT_GT(result.back_offs, 2);
  for (const IterationRecord& record : result.iterations) {
    if (record.back_to < 0) continue;
    const double back = record.start - small.problem().task.schedule.steps[static_cast<size_t>(record.back_to)] *
                                           small.problem().time_step();
    EXPECT_LT(back, 0.2 + 0.11);  // a fragment begins before the distance, not after it
  }
  StoppedWithABoundedStoreEndsTheSame(small.problem());
}

/// A long search keeps the chosen samples alone; what it finds is the same.
TEST(Search, KeepsTheChosenSamplesOfALongSearch) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.refinement.passes = 1;
  const SmallProblem small(configuration, task::Squatting, 0.4);
  const Summary all = Search(small.problem());
  const auto farm = parallel::MakeThreadFarm(1, MakeWorkerFactory(small.problem()));
  Hooks hooks;
  hooks.most_samples_kept = 10;
  size_t seen = 0;
  hooks.on_iteration = [&](const IterationRecord& record) { seen += record.samples.size(); };
  const Summary few = sampling::Run(small.problem(), *farm, hooks);
  EXPECT_EQ(control::FormatControl(task::Human(), few.control), control::FormatControl(task::Human(), all.control));
  size_t kept = 0;
  size_t drawn = 0;
  ASSERT_EQ(few.iterations.size(), all.iterations.size());
  for (size_t i = 0; i < all.iterations.size(); ++i) {
    drawn += all.iterations[i].samples.size();
    EXPECT_EQ(few.iterations[i].drawn_costs.median, all.iterations[i].drawn_costs.median);
    EXPECT_EQ(few.iterations[i].saved_costs.most, all.iterations[i].saved_costs.most);
    for (const SampleRecord& sample : few.iterations[i].samples) {
      EXPECT_TRUE(sample.chosen || i + 1 == few.iterations.size());  // the last iteration is never left behind
      const SampleRecord& same = all.iterations[i].samples[sample.sample];
      EXPECT_EQ(sample.chosen, same.chosen);
      EXPECT_EQ(sample.cost, same.cost);
      EXPECT_EQ(sample.start, same.start);
      kept += sample.chosen;
    }
  }
  EXPECT_EQ(seen, drawn);
  EXPECT_EQ(kept, few.control.fragments.size());
  EXPECT_EQ(results::FormatCosts(runs::CostsOf(few)), results::FormatCosts(runs::CostsOf(all)));
}

TEST(Search, RefusesTheStoreOfAnother) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.4);
  MemoryStore store;
  Search(small.problem(), store, -1);
  Configuration other = SmallConfiguration();
  other.sampling.samples = 59;
  const SmallProblem fewer(other, task::Squatting, 0.4);
  MemoryStore filled(store.records);
  EXPECT_THROW(Search(fewer.problem(), filled, -1), InputError);
  MemoryStore empty({parallel::Bytes(5)});
  EXPECT_THROW(Search(small.problem(), empty, -1), InputError);
}

}  // namespace
}  // namespace retrace::sampling
