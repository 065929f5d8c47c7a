#include "retrace/batches/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "batches/sample_batch.h"

namespace retrace::runs {
namespace {

using results::RunRow;
using results::RunStatus;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(EvaluationPlan, HasEachClipWithItsSeeds) {
  SampleBatch sample;
  const Batch batch = PlanBatch(sample.options);
  ASSERT_EQ(batch.runs.size(), 4u);
  EXPECT_EQ(batch.runs[1].clip, 0u);
  EXPECT_EQ(batch.runs[1].seed, 2u);
  EXPECT_EQ(batch.runs[1].folder, sample.options.output / "runs" / "walk.2");
  sample.options.seeds = 3;
  EXPECT_EQ(PlanBatch(sample.options).runs.size(), 9u);
  sample.options.negative_controls = true;
  const Batch controls = PlanBatch(sample.options);
  for (const PlannedRun& run : controls.runs) EXPECT_EQ(run.selected, run.seed == 1);
}

TEST(EvaluationPlan, SharesAreAllOfItOnce) {
  SampleBatch sample;
  sample.options.seeds = 5;
  sample.options.shares = 4;
  std::vector<int> taken(15);
  for (sample.options.share = 1; sample.options.share <= 4; ++sample.options.share) {
    const Batch batch = PlanBatch(sample.options);
    for (size_t r = 0; r < batch.runs.size(); ++r) taken[r] += batch.runs[r].selected ? 1 : 0;
  }
  EXPECT_EQ(taken, std::vector<int>(15, 1));
}

TEST(EvaluationPlan, SelectsClipsByTheirNames) {
  SampleBatch sample;
  sample.options.only = "^(walk|none)$";
  for (const PlannedRun& run : PlanBatch(sample.options).runs) EXPECT_EQ(run.selected, run.clip != 1);
  sample.options.only = "dance";
  EXPECT_THAT([&] { PlanBatch(sample.options); },
              ThrowsMessage<UsageError>(HasSubstr("the clips \"dance\": no clip of ")));
  sample.options.only = "(";
  EXPECT_THAT([&] { PlanBatch(sample.options); },
              ThrowsMessage<UsageError>(HasSubstr("expected a regular expression")));
}

/// A result of these rows.
EvaluationResult ResultOf(std::vector<RunRow> rows) {
  EvaluationResult result;
  result.summaries = results::Summarize(rows);
  result.rows = std::move(rows);
  return result;
}

RunRow RowOf(const std::string& clip, RunStatus status, bool success = false) {
  RunRow row;
  row.clip = clip;
  row.seed = 1;
  row.status = status;
  row.levels.main = row.levels.loose = success;
  row.message = "a reason";
  return row;
}

TEST(EvaluationResults, AreJudgedByTheWorstOfThem) {
  const RunRow good = RowOf("walk", RunStatus::kCompleted, true), bad = RowOf("walk", RunStatus::kLeftGates);
  EXPECT_EQ(ResultOf({good, good}).Judge(1), ExitCode::kSuccess);
  EXPECT_EQ(ResultOf({good, bad}).Judge(0.5), ExitCode::kSuccess);
  EXPECT_EQ(ResultOf({good, bad}).Judge(0.51), ExitCode::kBelowGate);
  EvaluationResult accepted = ResultOf({good});
  accepted.controls.push_back({"walk", "friction_0.05", true, true, {}, ""});
  EXPECT_EQ(accepted.Judge(0), ExitCode::kBelowGate);
  EXPECT_EQ(ResultOf({good, RowOf("a", RunStatus::kFailedInput)}).Judge(0), ExitCode::kInput);
  EXPECT_EQ(ResultOf({RowOf("b", RunStatus::kFailed), RowOf("a", RunStatus::kFailedInput)}).Judge(0), ExitCode::kBug);
  EXPECT_EQ(ResultOf({RowOf("a", RunStatus::kSkipped)}).Judge(1), ExitCode::kSuccess);
}

TEST(EvaluationResults, NameTheFirstRunThatCouldNotBeMade) {
  const RunRow good = RowOf("walk", RunStatus::kCompleted, true);
  EXPECT_EQ(ResultOf({good}).DescribeFailures(), "");
  EXPECT_EQ(ResultOf({good, RowOf("a", RunStatus::kFailedInput), RowOf("b", RunStatus::kFailed)}).DescribeFailures(),
            "2 of 3 runs could not be made; a, seed 1: a reason");
}

TEST(EvaluationResults, ARunIsALine) {
  RunRow row = RowOf("walk", RunStatus::kCompleted, true);
  row.figures[results::FigureIndex("joint_error_mm")] = 31.4;
  row.figures[results::FigureIndex("cpu_s_per_s")] = 2.04;
  EXPECT_EQ(Describe(row), "walk seed 1: success, joint error 31 mm, 2.0 CPU s/s");
  row.levels.strict = true;
  EXPECT_EQ(Describe(row), "walk seed 1: strict success, joint error 31 mm, 2.0 CPU s/s");
  row.levels = {};
  row.violated = "joint_position";
  row.violated_at = 0.5;
  EXPECT_EQ(Describe(row), "walk seed 1: joint_position left at 0.50 s, joint error 31 mm, 2.0 CPU s/s");
  EXPECT_THAT(Describe(RowOf("walk", RunStatus::kSkipped)), testing::EndsWith(": a reason"));
}

TEST(Evaluation, WritesTablesAndResumes) {
  SampleBatch sample;
  sample.options.negative_controls = true;
  int argc = 0;
  char** argv = nullptr;
  parallel::MpiSession mpi(&argc, &argv);  // a job of this process alone
  const auto evaluate = [&] {
    Batch batch = PlanBatch(sample.options);
    return Evaluate(sample.options, batch, mpi);
  };
  const std::optional<EvaluationResult> result = evaluate();
  ASSERT_TRUE(result);
  ASSERT_EQ(result->rows.size(), 3u);  // the first seed of each clip
  const std::filesystem::path& output = sample.options.output;
  EXPECT_EQ(io::ReadFile(output / results::kRunsFile), results::FormatRuns(result->rows));
  EXPECT_EQ(io::ReadFile(output / kSummaryFile), results::FormatSummaries(result->summaries));
  EXPECT_EQ(io::ReadFile(output / kSummaryPage), results::FormatSummaryPage(result->summaries));
  // What is no reconstruction fails.
  EXPECT_EQ(io::ReadFile(output / kControlsFile), FormatNegativeControls(result->controls));
  ASSERT_FALSE(result->controls.empty());
  EXPECT_EQ(results::FormatRuns(evaluate()->rows), results::FormatRuns(result->rows));
  // The same runs, compared with themselves.
  const std::vector<results::RunComparison> comparisons = CompareFolders(output, output, sample.folder / "compared");
  EXPECT_EQ(comparisons.back().pairs, 2);
  EXPECT_EQ(comparisons.back().only_a, 0);
  EXPECT_EQ(comparisons.back().p, 1);
  EXPECT_EQ(io::ReadFile(sample.folder / "compared" / kComparisonFile), results::FormatComparisons(comparisons));
  std::filesystem::create_directories(sample.folder / "other");
  io::WriteFile(sample.folder / "other" / results::kRunsFile,
                results::FormatRuns({RowOf("dance", RunStatus::kCompleted, true)}));
  EXPECT_THROW(CompareFolders(output, sample.folder / "other", sample.folder / "compared"), InputError);
}

TEST(Evaluation, RefusesAFolderOfOthers) {
  SampleBatch sample;
  std::filesystem::create_directories(sample.options.output);
  io::WriteFile(sample.options.output / "letter.txt", "");
  int argc = 0;
  char** argv = nullptr;
  parallel::MpiSession mpi(&argc, &argv);  // a job of this process alone
  Batch batch = PlanBatch(sample.options);
  EXPECT_THAT([&] { Evaluate(sample.options, batch, mpi); },
              ThrowsMessage<UsageError>(HasSubstr("found other files in it")));
}

}  // namespace
}  // namespace retrace::runs
