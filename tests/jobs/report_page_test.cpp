#include "retrace/jobs/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jobs/sample_runs.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/jobs/variations.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A folder of two runs, "walk" and "more/walk".
class ReportOfRuns : public testing::Test {
 protected:
  void SetUp() override {
    static const SampleFolder made;  // once in a process
    if (std::filesystem::is_empty(made.path())) WriteTrackedRun(made / "walk", TrackedOptions("walk", 0.3));
    std::filesystem::copy(made.path(), samples_.path(), std::filesystem::copy_options::recursive);
    std::filesystem::create_directories(samples_ / "more");
    std::filesystem::copy(samples_ / "walk", samples_ / "more" / "walk", std::filesystem::copy_options::recursive);
  }
  std::string Run(const std::string& name) const { return (samples_ / name).string(); }

  SampleFolder samples_;
};

TEST_F(ReportOfRuns, DescribesTheMotionAndItsNaiveTracking) {
  const StoredRun run(Run("walk"));
  std::string difference = "not asked yet";
  const io::Json described = DescribeStoredRun(run, "a walk", difference);
  EXPECT_EQ(difference, "");
  EXPECT_EQ(described["name"], "a walk");
  EXPECT_EQ(described["kind"], "run");
  EXPECT_EQ(described["steps"], 72);
  EXPECT_EQ(described["evaluation"]["success"], (*run.manifest)["evaluation"]["success"]);
  EXPECT_NEAR(described["simulated"]["duration"].get<double>(), 0.3, 1e-9);
  EXPECT_TRUE(described["reference"].is_object());
  EXPECT_EQ(described["tracking"]["evaluation"]["completed"], true);
  // The same document again.
  EXPECT_EQ(DescribeStoredRun(run, "a walk", difference), described);
}

TEST_F(ReportOfRuns, TellsWhereATableIsNotWhatTheReplayFinds) {
  const std::filesystem::path table = std::filesystem::path(Run("walk")) / results::kTrajectoryFile;
  std::string text = io::ReadFile(table);
  text[text.find('.', text.find('\n', text.find('\n') + 1)) + 1] ^= 1;  // another digit of the second state
  io::WriteFile(table, text);
  const GatheredReport report = GatherReport({Run("walk"), Run("more/walk")});
  ASSERT_EQ(report.differing.size(), 1u);
  EXPECT_THAT(report.differing[0], HasSubstr("trajectory.csv"));
}

TEST_F(ReportOfRuns, NamesRunsByAsManyFoldersAsItTakes) {
  const GatheredReport one = GatherReport({Run("walk") + "/"}), two = GatherReport({Run("walk"), Run("more/walk")});
  EXPECT_TRUE(one.differing.empty());
  EXPECT_EQ((*one.document)["title"], "walk");
  const std::string parent = samples_.path().filename().string();
  EXPECT_EQ((*two.document)["title"], parent + "/walk, more/walk");
}

TEST_F(ReportOfRuns, AFolderOfVariationsStandsForThese) {
  EXPECT_EQ(RunsOf(Run("walk")), (std::vector<std::filesystem::path>{Run("walk")}));
  std::filesystem::create_directories(samples_ / "all");
  EXPECT_EQ(RunsOf(Run("all")).size(), 1u);
  io::WriteFile(samples_ / "all" / std::string(kVariationsFile), "{}");
  EXPECT_THAT([&] { RunsOf(Run("all")); }, ThrowsMessage<InputError>(HasSubstr("found no variation")));
  for (const char* number : {"1", "2", "4"}) {  // the third is missing
    std::filesystem::copy(samples_ / "walk", samples_ / "all" / number);
  }
  EXPECT_EQ(RunsOf(Run("all")), (std::vector<std::filesystem::path>{samples_ / "all" / "1", samples_ / "all" / "2"}));
  // A number is no title.
  EXPECT_EQ((*GatherReport({Run("all")}).document)["title"], "all/1, all/2");
}

TEST_F(ReportOfRuns, APageReplacesNoInputAndNoFileOfOthers) {
  const std::vector<std::string> folders = {Run("walk")};
  EXPECT_NO_THROW(CheckReportOutput(samples_ / "report.html", folders, false));
  EXPECT_THROW(CheckReportOutput(Run("walk") + "/control.json", folders, true), OutputError);
  io::WriteFile(samples_ / "letter.html", "Dear reader");
  EXPECT_THAT([&] { CheckReportOutput(samples_ / "letter.html", folders, false); },
              ThrowsMessage<UsageError>(HasSubstr("found a file that report did not make, expected none")));
  EXPECT_NO_THROW(CheckReportOutput(samples_ / "letter.html", folders, true));
}

}  // namespace
}  // namespace retrace::runs
