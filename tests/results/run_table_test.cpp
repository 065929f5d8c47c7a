/// Tables of runs whose counts and medians can be worked out by hand.
#include "retrace/results/run_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/io/error.h"
#include "retrace/results/tables.h"

namespace retrace::results {
namespace {

using testing::HasSubstr;

RunRow Row(const std::string& clip, uint64_t seed, bool success, double error = 50, double spent = 1400) {
  RunRow row;
  row.clip = clip;
  row.group = clip.substr(0, 1);
  row.seed = seed;
  row.status = RunStatus::kCompleted;
  row.levels = {success, success, false};
  row.replayed = true;
  row.figures[FigureIndex("joint_error_mm")] = error;
  row.figures[FigureIndex("simulated_s_per_s")] = spent;
  row.figures[FigureIndex("search_s_per_s")] = spent;
  row.figures[FigureIndex("cpu_s_per_s")] = spent / 1000;
  return row;
}

/// Three runs of one clip, two of another, one that was skipped and one that failed.
std::vector<RunRow> Rows() {
  std::vector<RunRow> rows = {Row("walk", 1, true, 40, 1403), Row("walk", 2, true, 60, 3000),
                              Row("walk", 3, false, 300), Row("kick", 1, true, 70, 600), Row("kick", 2, true, 80, 650)};
  RunRow skipped;
  skipped.clip = "roll";
  skipped.seed = 1;
  skipped.message = "roll.bvh is missing, or so \"it\" seems";
  rows.push_back(skipped);
  RunRow failed = skipped;
  failed.clip = "jump";
  failed.status = RunStatus::kFailedInput;
  rows.push_back(failed);
  return rows;
}

TEST(RunTable, KeepsHowARunEnded) {
  for (const RunStatus status :
       {RunStatus::kCompleted, RunStatus::kLeftGates, RunStatus::kBudget, RunStatus::kDiverged}) {
    RunRow row = Row("walk", 1, false);
    row.status = status;
    EXPECT_TRUE(row.ran()) << Name(status);
    EXPECT_EQ(ParseRuns(FormatRuns({row}), "runs.csv")[0].status, status) << Name(status);
  }
}

TEST(RunTable, ReadsOldNames) {
  RunRow row = Row("walk", 1, false);
  row.status = RunStatus::kLeftGates;
  row.figures[FigureIndex("back_offs")] = 3;
  std::string text = FormatRuns({row});
  for (const auto& [name, old_name] : {std::pair("left-gates", "lost"), std::pair("back_offs", "rewinds")}) {
    const size_t at = text.find(name);
    ASSERT_NE(at, std::string::npos) << name;
    text.replace(at, std::string(name).size(), old_name);
  }
  const RunRow read = ParseRuns(text, "runs.csv")[0];
  EXPECT_EQ(read.status, RunStatus::kLeftGates);
  EXPECT_EQ(read.figures[FigureIndex("back_offs")], 3);
}

TEST(RunTable, ReadsBackWhatItWrote) {
  std::vector<RunRow> rows = Rows();
  rows[2].violated = "root_height";
  rows[2].violated_at = 1.0 / 3;
  rows[2].status = RunStatus::kDiverged;
  const std::string text = FormatRuns(rows);
  const std::vector<RunRow> read = ParseRuns(text, "runs.csv");
  EXPECT_EQ(FormatRuns(read), text);
  ASSERT_EQ(read.size(), rows.size());
  EXPECT_EQ(read[2].violated_at, 1.0 / 3);
  EXPECT_EQ(read[2].status, RunStatus::kDiverged);
  EXPECT_EQ(read[5].message, rows[5].message);
  EXPECT_TRUE(std::isnan(read[0].figures[FigureIndex("jerk_ratio")]));
  for (const RunRow& row : rows) {
    const io::Json json = io::ParseJson(row.ToJson().dump(), "row");
    EXPECT_EQ(FormatRuns({ReadRunRow(io::JsonView(json, "row"))}), FormatRuns({row}));
  }
}

TEST(RunTable, RefusesWhatItCannotRead) {
  const std::string good = FormatRuns({Row("walk", 1, true)});
  const auto message = [](const std::string& text) -> std::string {
    try {
      ParseRuns(text, "runs.csv");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(message(good), "");
  EXPECT_THAT(message(changed("completed", "perfect")), HasSubstr("runs.csv:2: status: found \"perfect\""));
  EXPECT_THAT(message(changed(",50,", ",many,")), HasSubstr("joint_error_mm: found \"many\""));
  EXPECT_THAT(message(changed("walk,w,1", "walk,w,-1")), HasSubstr("seed: found \"-1\""));
  EXPECT_THAT(message(changed(",1,1,0,", ",1,yes,0,")), HasSubstr("main: found \"yes\""));
  EXPECT_THAT(message(changed("joint_error_mm", "joint_error")), HasSubstr("joint_error_mm"));
}

TEST(Summarize, CountsByClipGroupAndInAll) {
  const std::vector<RunSummary> summaries = Summarize(Rows());
  ASSERT_EQ(summaries.size(), 4u + 2u + 1u);
  const RunSummary& walk = summaries[0];
  EXPECT_EQ(walk.name, "walk");
  EXPECT_EQ(walk.main.k, 2);
  EXPECT_EQ(walk.main.n, 3);
  EXPECT_EQ(walk.strict.k, 0);
  EXPECT_NEAR(walk.main.bound(), metrics::LowerBound(2, 3), 1e-15);
  // Of the two successes; the third run's error does not count, its costs do.
  EXPECT_EQ(walk.successful[FigureIndex("joint_error_mm")].median, 50);
  EXPECT_EQ(walk.all[FigureIndex("simulated_s_per_s")].median, 1403);
  EXPECT_EQ(walk.within_budget, (std::array<int, 5>{0, 1, 1, 2, 2}));  // 1403 is 1400 within 1 %
  EXPECT_EQ(summaries[1].within_budget, (std::array<int, 5>{2, 2, 2, 2, 2}));
  EXPECT_EQ(summaries[2].skipped, 1);
  EXPECT_EQ(summaries[3].failed, 1);
  EXPECT_EQ(summaries[4].scope, RunSummary::Scope::kGroup);
  EXPECT_EQ(summaries[4].name, "w");
  const RunSummary& total = summaries.back();
  EXPECT_EQ(total.scope, RunSummary::Scope::kTotal);
  EXPECT_EQ(total.main.k, 4);
  EXPECT_EQ(total.main.n, 5);
  EXPECT_EQ(total.skipped, 1);
  EXPECT_EQ(total.failed, 1);
  EXPECT_EQ(total.successful[FigureIndex("joint_error_mm")].median, 65);
}

TEST(Summarize, IsWrittenForScriptsAndForPeople) {
  const std::vector<RunSummary> summaries = Summarize(Rows());
  const Table table = ParseTable(FormatSummaries(summaries), "summary.csv");
  EXPECT_EQ(table.num_rows(), summaries.size());
  EXPECT_EQ(table.Text("main")[0], "2");
  EXPECT_NEAR(table.Numbers("main_lower_bound")[0], 0.135, 5e-4);
  EXPECT_EQ(table.Text("joint_error_mm_median")[0], "50");
  EXPECT_EQ(table.Text("cpu_s_per_s_all_median")[1], "0.625");
  EXPECT_EQ(table.Text("main_within_2800")[0], "1");
  const std::string page = FormatSummaryPage(summaries);
  EXPECT_THAT(page, HasSubstr("| walk | 2/3 (0.14) | 2/3 | 0/3 | 0/3 | - | 50 [45-55] |"));
  EXPECT_THAT(page, HasSubstr("| roll | skipped |"));
  EXPECT_THAT(page, HasSubstr("| jump | failed |"));
  EXPECT_THAT(page, HasSubstr("1 of 2 clips succeed in at least 80 %"));
  EXPECT_THAT(page, HasSubstr("| **all** | 2/5 | 3/5 | 3/5 | 4/5 | 4/5 | 4/5 |"));
}

TEST(Summarize, CountsViableEndsOfThoseToWhichThatApplies) {
  std::vector<RunRow> rows = Rows();
  rows[0].end = rows[1].end = "viable";
  rows[2].end = "not viable";
  rows[3].end = "not applicable";
  const std::string text = FormatRuns(rows);
  EXPECT_EQ(ParseRuns(text, "runs.csv")[2].end, "not viable");
  const std::vector<RunSummary> summaries = Summarize(ParseRuns(text, "runs.csv"));
  EXPECT_EQ(summaries[0].viable.k, 2);
  EXPECT_EQ(summaries[0].viable.n, 3);
  EXPECT_EQ(summaries.back().viable.n, 3);
  const Table table = ParseTable(FormatSummaries(summaries), "summary.csv");
  EXPECT_EQ(table.Text("ends")[0], "3");
  EXPECT_EQ(table.Text("viable")[0], "2");
  EXPECT_EQ(table.Text("viable_lower_bound")[0].substr(0, 5), "0.135");
  EXPECT_EQ(table.Text("ends")[1], "0");
  EXPECT_EQ(table.Text("viable_lower_bound")[1], "");
  EXPECT_THAT(FormatSummaryPage(summaries), HasSubstr("| walk | 2/3 (0.14) | 2/3 | 0/3 | 0/3 | 2/3 (0.14) | 50 "));
  // Tables from before have no such column; another word is refused.
  std::string changed = text;
  changed.replace(changed.find("not viable"), 10, "perhaps");
  try {
    ParseRuns(changed, "runs.csv");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("runs.csv:4: end: found \"perhaps\", expected viable, not viable"));
  }
}

TEST(CompareRuns, PairsByClipAndSeed) {
  std::vector<RunRow> a;
  std::vector<RunRow> b;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    a.push_back(Row("walk", seed, seed == 1, 50, 1000));
    b.push_back(Row("walk", seed, true, 40, 2000));
  }
  a.push_back(Row("kick", 1, true));
  b.push_back(Row("kick", 1, false));
  a.push_back(Row("kick", 2, true));  // without a partner
  b.push_back(Row("roll", 1, true));
  const std::vector<RunComparison> comparisons = CompareRuns(a, b);
  ASSERT_EQ(comparisons.size(), 3u);
  const RunComparison& walk = comparisons[0];
  EXPECT_EQ(walk.pairs, 6);
  EXPECT_EQ(walk.success_a, 1);
  EXPECT_EQ(walk.success_b, 6);
  EXPECT_EQ(walk.only_a, 0);
  EXPECT_EQ(walk.only_b, 5);
  EXPECT_NEAR(walk.p, 2.0 / 32, 1e-15);
  EXPECT_EQ(walk.joint_error_a, 50);
  EXPECT_EQ(walk.joint_error_b, 40);
  EXPECT_EQ(walk.simulated_b, 2000);
  EXPECT_EQ(comparisons[1].pairs, 1);
  EXPECT_TRUE(std::isnan(comparisons[1].joint_error_b));
  const RunComparison& total = comparisons[2];
  EXPECT_EQ(total.pairs, 7);
  EXPECT_NEAR(total.p, 2 * (1 + 6) / 64.0, 1e-12);
  const Table table = ParseTable(FormatComparisons(comparisons), "compare.csv");
  EXPECT_EQ(table.Text("clip")[2], "total");
  EXPECT_EQ(table.Text("only_b")[0], "5");
  EXPECT_THAT(FormatComparisonPage(comparisons), HasSubstr("| walk | 1/6 | 6/6 | 0 | 5 | 0.062 | 50 / 40 |"));
  EXPECT_EQ(CompareRuns(a, {}).back().pairs, 0);
}

TEST(RunRow, TakesTheGateThatWasLeftFirst) {
  metrics::Evaluation evaluation;
  evaluation.gates = {
      {"root_height", 0.5, 0.25, 0.9}, {"root_orientation", 2, 1, 0.4}, {"joint_position", 0.1, 0.25, -1}};
  metrics::MotionMetrics metrics;
  metrics.joint_error = 0.05;
  metrics.velocity_error = 0.01;
  metrics.torque_rms = {3, 4};
  RunRow row;
  row.Take(evaluation, metrics);
  EXPECT_EQ(row.violated, "root_orientation");
  EXPECT_EQ(row.violated_at, 0.4);
  EXPECT_DOUBLE_EQ(row.figures[FigureIndex("joint_error_mm")], 50);
  EXPECT_DOUBLE_EQ(row.figures[FigureIndex("velocity_error_m_per_s")], 0.3);
  EXPECT_DOUBLE_EQ(row.figures[FigureIndex("torque_rms_nm")], std::sqrt(12.5));
}

}  // namespace
}  // namespace retrace::results
