#include "retrace/jobs/variations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jobs/sample_runs.h"
#include "retrace/io/file.h"
#include "retrace/methods/sampling/seeds.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

JobOptions SearchedWalk() {
  JobOptions options = TrackedOptions("walk", 0.3);
  options.configuration.run.method = Method::kSampling;
  options.configuration.sampling.samples = 10;
  options.configuration.sampling.selection.saved = 2;
  options.configuration.sampling.refinement.passes = 0;
  return options;
}

struct FoundVariations {
  FoundVariations(const JobOptions& options, const VariationOptions& variations, int threads = 1) {
    Job job(options);
    const auto farm = parallel::MakeThreadFarm(threads, sampling::MakeSeededWorkerFactory(job.problem));
    const results::RunFolder folder(samples / "all", true);
    VariationContext context;
    context.folder = &folder;
    *context.more = {{"more", 3}};
    context.report = [&](const std::string& text) { lines.push_back(text); };
    summary = FindVariations(job, *farm, variations, context);
  }
  io::Json list() const { return io::ReadJson(samples / "all" / kVariationsFile); }

  SampleFolder samples;
  VariationsSummary summary;
  std::vector<std::string> lines;
};

TEST(Variations, AreRunsOfTheirOwnWithOneSeedAfterTheOther) {
  const FoundVariations found(SearchedWalk(), {.count = 2});
  EXPECT_TRUE(found.summary.success());
  EXPECT_EQ(found.summary.found, 2u);
  EXPECT_EQ(found.summary.tries, 2 + found.summary.failed + found.summary.repeated);
  const io::Json list = found.list();
  EXPECT_EQ(list["success"], true);
  EXPECT_EQ(list["max_tries"], 6);
  EXPECT_EQ(list["more"], 3);
  ASSERT_EQ(list["variations"].size(), 2u);
  for (const std::string number : {"1", "2"}) {
    const StoredRun run(found.samples / "all" / number);
    EXPECT_EQ(Verify(run).difference, "");
    const io::Json& variation = list["variations"][std::stoul(number) - 1];
    EXPECT_EQ(variation["folder"], number);
    EXPECT_EQ((*run.manifest)["seed"], variation["seed"]);
    EXPECT_EQ((*run.manifest)["variation"]["of"], 2);
    EXPECT_EQ(run.controls[0].sha256, variation["control_sha256"]);
  }
  EXPECT_EQ(list["variations"][0]["seed"], 1);
  EXPECT_NE(list["variations"][0]["control_sha256"], list["variations"][1]["control_sha256"]);
  EXPECT_TRUE(list["spread"].is_object());
  // A table with a row for each, and one of the spread over time, which has none at the beginning.
  const std::string table = io::ReadFile(found.samples / "all" / "variations.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  EXPECT_THAT(io::ReadFile(found.samples / "all" / "spread.csv"),
              testing::StartsWith("time,joints,root,targets\n0,0,0,0\n"));
  // The number of threads changes nothing.
  const FoundVariations again(SearchedWalk(), {.count = 2}, 3);
  EXPECT_EQ(again.list()["variations"], list["variations"]);
}

TEST(Variations, WithoutDisplacementsAllSeedsFindTheSame) {
  JobOptions options = SearchedWalk();
  options.configuration.sampling.window_scale = 0;
  const FoundVariations found(options, {.count = 2});
  EXPECT_FALSE(found.summary.success());
  EXPECT_EQ(found.summary.found, 1u);
  EXPECT_EQ(found.summary.tries, 6);
  EXPECT_EQ(found.summary.repeated, 5);
  EXPECT_EQ(found.list()["tries"][1]["same_as"], "1");
  EXPECT_THAT(found.lines[1], testing::HasSubstr("seed 2: the same control as variation 1"));
  EXPECT_FALSE(std::filesystem::exists(found.samples / "all" / "2"));
}

TEST(Variations, WhatLeavesTheGatesIsNone) {
  JobOptions options = SearchedWalk();
  options.configuration.task.gates.joint_position = 1e-6;
  options.configuration.sampling.max_back_offs = 0;
  const FoundVariations found(options, {.count = 1, .max_tries = 2});
  EXPECT_EQ(found.summary.found, 0u);
  EXPECT_EQ(found.summary.failed, 2);
  EXPECT_TRUE(found.list()["tries"][1]["failure"].is_object());
  EXPECT_FALSE(found.list().contains("spread"));
  EXPECT_FALSE(std::filesystem::exists(found.samples / "all" / "spread.csv"));
}

TEST(Variations, WhatEarlierOnesLeftGoes) {
  const FoundVariations found(SearchedWalk(), {.count = 2});
  Job job(SearchedWalk());
  const auto farm = parallel::MakeThreadFarm(1, sampling::MakeSeededWorkerFactory(job.problem));
  const results::RunFolder folder(found.samples / "all", true);
  VariationContext context;
  context.folder = &folder;
  context.force = true;
  EXPECT_TRUE(FindVariations(job, *farm, {.count = 1}, context).success());
  EXPECT_TRUE(std::filesystem::exists(found.samples / "all" / "1" / results::kManifestFile));
  EXPECT_FALSE(std::filesystem::exists(found.samples / "all" / "2"));
}

}  // namespace
}  // namespace retrace::runs
