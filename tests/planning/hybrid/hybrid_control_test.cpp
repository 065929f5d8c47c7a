/// One control of tracked and searched parts.
#include "retrace/planning/hybrid/hybrid_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jobs/sample_runs.h"
#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/json.h"
#include "retrace/planning/viability/replayed_control.h"

namespace retrace::runs {
namespace {

/// The bundled roll, which tracking does not hold.
JobOptions Roll() {
  JobOptions options = TrackedOptions("roll_sideways", 1);
  options.configuration.run.method = Method::kHybrid;
  return options;
}

TEST(HybridControl, PartsOfBothMethodsAreOneControlThatReplays) {
  const Job job(Roll());
  std::vector<double> progress;
  const HybridControl found =
      FindHybrid(*job.prepared, job.configuration, 1, {.on_progress = [&](double time) { progress.push_back(time); }});
  ASSERT_TRUE(found.reached_end);
  EXPECT_GE(progress.size(), 2u);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  const std::vector<HybridPart>& parts = found.parts;
  ASSERT_GE(parts.size(), 2u);
  EXPECT_EQ(parts.front().first_step, 0);
  EXPECT_EQ(parts.back().end_step, job.problem.task.schedule.steps.back());
  for (size_t p = 0; p < parts.size(); ++p) {
    EXPECT_LT(parts[p].first_step, parts[p].end_step);
    if (p == 0) continue;
    EXPECT_EQ(parts[p].first_step, parts[p - 1].end_step);
    EXPECT_NE(parts[p].method, parts[p - 1].method);
  }
  EXPECT_GT(found.SecondsOf(Method::kTracking), 0);
  EXPECT_GT(found.SecondsOf(Method::kSampling), 0);
  EXPECT_NEAR(found.SecondsOf(Method::kTracking) + found.SecondsOf(Method::kSampling), 1, 1e-9);
  // Commands are those of tracking, targets those of the search.
  for (const control::Fragment& fragment : found.control.fragments) {
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const HybridPart& p) { return fragment.end_step() <= p.end_step; });
    ASSERT_NE(part, parts.end());
    EXPECT_EQ(fragment.has_commands(), part->method == Method::kTracking) << fragment.first_step;
  }
  const control::LoadedControl loaded =
      control::ParseControl(control::FormatControl(job.character(), found.control), "control.json");
  const ReplayedControl replayed = EvaluateReplay(*job.prepared, loaded.control, {});
  EXPECT_EQ(control::Fingerprint(replayed.end), control::Fingerprint(found.end));
  EXPECT_TRUE(replayed.evaluation.success());
  EXPECT_TRUE(replayed.evaluation.near_in_world());
}

TEST(HybridControl, ThreadsDoNotChangeIt) {
  const Job job(Roll());
  const HybridControl one = FindHybrid(*job.prepared, job.configuration, 1);
  const HybridControl three = FindHybrid(*job.prepared, job.configuration, 3);
  EXPECT_EQ(control::FormatControl(job.character(), one.control),
            control::FormatControl(job.character(), three.control));
  EXPECT_EQ(one.ToJson()["parts"], three.ToJson()["parts"]);
}

TEST(HybridControl, WhatTrackingHoldsNeedsNoSearch) {
  const Job job(TrackedOptions("walk", 1));
  const HybridControl found = FindHybrid(*job.prepared, job.configuration, 1);
  EXPECT_TRUE(found.reached_end);
  EXPECT_EQ(found.num_searches, 0);
  ASSERT_EQ(found.parts.size(), 1u);
  EXPECT_EQ(found.parts.front().method, Method::kTracking);
  EXPECT_EQ(found.Describe(), "tracked for 1.00 s and searched for 0.00 s, in 1 part by 0 searches");
}

/// Two samples do not meet a tight tolerance, and the limit on searches ends them.
TEST(HybridControl, WhatNothingLeadsAcrossIsKeptUpToThere) {
  JobOptions options = Roll();
  options.configuration.sampling.samples = 2;
  options.configuration.sampling.selection.saved = 1;
  options.configuration.sampling.max_back_offs = 0;
  options.configuration.sampling.refinement.passes = 0;
  options.configuration.task.gates.joint_position = 0.01;
  const Job job(options);
  const HybridControl found = FindHybrid(*job.prepared, job.configuration, 1);
  EXPECT_FALSE(found.reached_end);
  EXPECT_LE(found.num_searches, 4);
  EXPECT_LT(found.control.duration(), 1);
  const ReplayedControl replayed = EvaluateReplay(*job.prepared, found.control, {});
  EXPECT_EQ(control::Fingerprint(replayed.end), control::Fingerprint(found.end));
  EXPECT_FALSE(replayed.evaluation.completed);
}

TEST(HybridControl, AStopEndsIt) {
  const Job job(Roll());
  EXPECT_THROW(FindHybrid(*job.prepared, job.configuration, 1, {.stop = [] { return true; }}), StoppedError);
}

TEST(HybridControl, NeedsAWorldThatDoesNotMoveAndTheServosOfTheCharacter) {
  JobOptions options = Roll();
  const Job plain(options);
  EXPECT_TRUE(CanBeHybrid(*plain.prepared, plain.configuration));
  options.configuration.UsePaperTracking();
  const Job paper(options);
  EXPECT_FALSE(CanBeHybrid(*paper.prepared, paper.configuration));
  options = Roll();
  options.worlds = {"beam10"};
  const Job beam(options);
  EXPECT_TRUE(CanBeHybrid(*beam.prepared, beam.configuration));
  options.worlds = {"platform"};
  const Job platform(options);
  EXPECT_FALSE(CanBeHybrid(*platform.prepared, platform.configuration));
}

/// Pebbles move freely: the parts begin where the ones before them left them.
TEST(HybridControl, PartsInAWorldAreOneControlThatReplays) {
  JobOptions options = Roll();
  options.worlds = {"pebbles"};
  const Job job(options);
  const HybridControl found = FindHybrid(*job.prepared, job.configuration, 2);
  ASSERT_GE(found.parts.size(), 2u);
  ASSERT_FALSE(found.control.fragments.empty());
  const control::LoadedControl loaded =
      control::ParseControl(control::FormatControl(job.character(), found.control), "control.json");
  const ReplayedControl replayed = EvaluateReplay(*job.prepared, loaded.control, {});
  EXPECT_EQ(control::Fingerprint(replayed.end), control::Fingerprint(found.end));
}

/// Auto takes the parts where they come near enough, or nearer than the search.
TEST(HybridControl, IsTheResultOfAJob) {
  const Job job(Roll());
  const Reconstruction result = Reconstruct(job, 2);
  EXPECT_EQ(result.method, Method::kHybrid);
  ASSERT_TRUE(result.success());
  EXPECT_GT(result.cpu_seconds(), 0);
  const SampleFolder folder;
  WriteRun(folder / "run", job, result);
  const io::Json manifest = io::ReadJson(folder / "run/manifest.json");
  EXPECT_EQ(manifest["method"]["used"], "hybrid");
  EXPECT_EQ(manifest["status"], "completed");
  EXPECT_EQ(manifest["hybrid"]["parts"].size(), result.hybrid->parts.size());
  EXPECT_FALSE(std::filesystem::exists(folder / "run/costs.csv"));
}

}  // namespace
}  // namespace retrace::runs
