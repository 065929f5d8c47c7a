#include "retrace/batches/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "batches/sample_batch.h"
#include "retrace/io/error.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

using results::RunRow;
using results::RunStatus;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<RunRow> RunAll(
    const Batch& batch, bool force = false,
    const RowCallback& on_row = [](const RunRow&, const std::vector<RunRow>&, size_t) {}) {
  const auto farm =
      parallel::MakeThreadFarm(1, MakeRunFactory([&batch] { return std::make_shared<ProcessGroup>(batch); }));
  return RunBatch(batch, *farm, force, on_row);
}

TEST(Batch, EachRunIsAFolderAndARow) {
  const SampleBatch sample;
  const Batch batch = PlanBatch(sample.options);
  std::vector<size_t> left;
  const std::vector<RunRow> rows =
      RunAll(batch, false, [&](const RunRow&, const std::vector<RunRow>& all, size_t more) {
        EXPECT_FALSE(all.empty());
        left.push_back(more);
      });
  EXPECT_EQ(left, (std::vector<size_t>{2, 1, 0}));
  ASSERT_EQ(rows.size(), 4u);  // in the order of the plan
  for (size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(rows[r].clip, r < 2 ? "walk" : "stand");
    EXPECT_EQ(rows[r].seed, r == 1 ? 2u : 1u);
    EXPECT_EQ(rows[r].status, RunStatus::kCompleted);
    EXPECT_EQ(rows[r].method, "tracking");
    EXPECT_TRUE(rows[r].replayed);
    EXPECT_NEAR(rows[r].figures[results::FigureIndex("duration_s")], r < 2 ? 0.4 : 0.3, 1e-9);
  }
  EXPECT_EQ(rows[3].status, RunStatus::kSkipped);
  EXPECT_THAT(rows[3].message, HasSubstr("none.bvh is missing"));
  const StoredRun stored(sample.options.output / "runs" / "walk.2");
  EXPECT_EQ(Verify(stored).difference, "");
  EXPECT_EQ((*stored.manifest)["program"], "evaluate");
  EXPECT_EQ((*stored.manifest)["seed"], 2);
}

TEST(Batch, WhatIsDoneIsNotDoneAgain) {
  const SampleBatch sample;
  Batch batch = PlanBatch(sample.options);
  const std::vector<RunRow> first = RunAll(batch);
  int begun = 0;
  const auto count = [&](const RunRow&, const std::vector<RunRow>&, size_t) { ++begun; };
  const std::vector<RunRow> again = RunAll(batch, false, count);
  EXPECT_EQ(begun, 0);
  EXPECT_EQ(results::FormatRuns(again), results::FormatRuns(first));
  // Other settings are another run, which replaces the earlier one only where that is allowed.
  batch.job.configuration.tracking.feedback = 310;
  EXPECT_THAT([&] { RunAll(batch); },
              ThrowsMessage<UsageError>(testing::AllOf(HasSubstr(": found another run: "), HasSubstr("feedback"))));
  RunAll(batch, true, count);
  EXPECT_EQ(begun, 3);
}

TEST(Batch, WhatIsWrongWithAClipIsInItsRow) {
  const SampleBatch sample;
  sample.WriteList("walk.bvh\tlate\t-\t1\nstand.bvh\tstand\t0.3\t1\n");
  Batch batch = PlanBatch(sample.options);
  batch.clips[0].clip.start = 100;
  const std::vector<RunRow> rows = RunAll(batch);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, RunStatus::kFailedInput);
  EXPECT_NE(rows[0].message, "");
  EXPECT_FALSE(rows[0].ran());
  EXPECT_EQ(rows[1].status, RunStatus::kCompleted);
}

TEST(Batch, ARowOfTheListHoldsAgainstTheConfigurationButNotAgainstTheNumbers) {
  const SampleBatch sample;
  io::WriteFile(sample.options.list,
                "clip\tname\tcharacter\tworld\tsettings\n"
                "walk.bvh\twalk\tslim\tice\t/search/samples=30 /search/saved=3\nstand.bvh\tstand\t-\t-\t-\n");
  Batch batch = PlanBatch(sample.options);
  batch.samples = 50;
  const JobOptions walk = JobOptionsOf(batch, 0, 7), stand = JobOptionsOf(batch, 1, 1);
  EXPECT_EQ(walk.character, "slim");
  EXPECT_EQ(walk.worlds, std::vector<std::string>{"ice"});
  EXPECT_EQ(walk.configuration.sampling.samples, 50);
  EXPECT_EQ(walk.configuration.sampling.selection.saved, 3);
  EXPECT_EQ(walk.configuration.sampling.seed, 7u);
  EXPECT_EQ(stand.character, "human");
  EXPECT_TRUE(stand.worlds.empty());
  EXPECT_NO_THROW(CheckSettings(batch));
  batch.clips[1].settings = {"/search/sample=3"};
  EXPECT_THAT([&] { CheckSettings(batch); }, ThrowsMessage<InputError>(HasSubstr("list.tsv:3: ")));
}

TEST(Batch, RanksAgreeInTheListAndTheConfiguration) {
  const SampleBatch sample;
  const Batch batch = PlanBatch(sample.options);
  const io::Json identity = IdentityOf(batch);
  EXPECT_EQ(identity["list"], io::Sha256(io::ReadFile(sample.options.list)));
  EXPECT_EQ(identity["solvers"].size(), 3u);
  Batch other = batch;
  other.samples = 66;
  EXPECT_NE(IdentityOf(other), identity);
  other = batch;
  other.command = "another one";
  EXPECT_EQ(IdentityOf(other), identity);
}

TEST(Batch, ATimeLimitStopsItBetweenRuns) {
  const SampleBatch sample;
  Batch batch = PlanBatch(sample.options);
  batch.time_limit = 1;
  batch.start -= std::chrono::seconds(10);
  EXPECT_THROW(RunAll(batch), StoppedError);
}

}  // namespace
}  // namespace retrace::runs
