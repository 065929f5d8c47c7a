/// Runs that are found, sorted and removed; what a user sees of it is tested where the program is.
#include "retrace/runs/stored/run_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "retrace/io/file.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class RunListTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(base_); }
  void TearDown() override { fs::remove_all(base_); }
  void Add(const std::string& name, io::Json manifest) const {
    results::RunFolder folder(base_ / name, false);
    folder.Write(results::kControlFile, "{}");
    manifest.update({{"format", results::kRunFormat}, {"version", 2}, {"files", folder.Files()}});
    folder.Finish(manifest);
  }
  std::vector<std::string> Names(RunOrder order, bool reverse = false) const {
    std::vector<ListedRun> runs = FindRuns(base_);
    Sort(order, reverse, runs);
    std::vector<std::string> names;
    for (const ListedRun& run : runs) names.push_back(run.name);
    return names;
  }
  fs::path base_ = fs::temp_directory_path() /
                   (std::string("retrace_run_list_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(RunListTest, AreSortedByAnyFigureAndWhatHasNoneComesLast) {
  const auto evaluated = [](double error, bool success) {
    return io::Json{{"success", success}, {"evaluation", {{"mean_joint_error", error}, {"doubts", io::Json::array()}}}};
  };
  Add("b", evaluated(0.1, true));
  Add("a", evaluated(0.3, false));
  Add("c/d", evaluated(0.2, true));
  Add("e", {{"program", "strike"}});
  EXPECT_THAT(Names(RunOrder::kName), ElementsAre("a", "b", "c/d", "e"));
  EXPECT_THAT(Names(RunOrder::kName, true), ElementsAre("e", "c/d", "b", "a"));
  EXPECT_THAT(Names(RunOrder::kError), ElementsAre("b", "c/d", "a", "e"));
  EXPECT_THAT(Names(RunOrder::kError, true), ElementsAre("a", "c/d", "b", "e"));
  EXPECT_THAT(Names(RunOrder::kVerdict), ElementsAre("b", "c/d", "a", "e"));
  fs::create_directories(base_ / "broken");
  io::WriteFile(base_ / "broken" / "manifest.json", "{");
  EXPECT_EQ(FindRuns(base_).size(), 4u) << "what cannot be read is no run";
}

TEST_F(RunListTest, VerdictsOfAllKinds) {
  Add("doubtful", {{"success", true}, {"evaluation", {{"doubts", {"it flies"}}}}});
  Add("none", {{"status", "completed"}});
  fs::create_directories(base_ / "stopped");
  io::WriteFile(base_ / "stopped" / "checkpoint", "x");
  const std::vector<ListedRun> runs = FindRuns(base_);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].verdict, RunVerdict::kDoubtful);
  EXPECT_EQ(runs[1].verdict, RunVerdict::kNone);
  EXPECT_EQ(runs[2].verdict, RunVerdict::kUnfinished);
  EXPECT_EQ(WhyKept(runs[0]), "");
  EXPECT_EQ(WhyKept(runs[2]), "");
  EXPECT_TRUE(Remove(runs[2]));
  EXPECT_FALSE(fs::exists(base_ / "stopped"));
  io::WriteFile(base_ / "doubtful" / "control.json", "edited");
  EXPECT_NE(WhyKept(runs[0]), "");
}

TEST_F(RunListTest, LinksAreNotFollowed) {
  Add("real", {{"success", true}});
  fs::create_directories(base_ / "list");
  fs::create_directory_symlink(base_ / "real", base_ / "list" / "link");
  EXPECT_TRUE(FindRuns(base_ / "list").empty());
}

}  // namespace
}  // namespace retrace::runs
