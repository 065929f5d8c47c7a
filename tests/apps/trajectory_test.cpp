/// `--method trajectory` of the programs that reconstruct.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Windows : public CommandLine {
 protected:
  /// A second or so of one core.
  std::string Command(const std::string& run, const std::string& more = "") const {
    return kReconstruct + " " + kWalkClip + " --end 0.8 --method trajectory --set /trajectory/budget=300 --output " +
           Path(run) + " " + more;
  }
  void ExpectSameBytes(const std::string& run, const std::string& other) const {
    for (const char* file : {"control.json", "windows.csv", "trajectory.csv", "contacts.csv"}) {
      EXPECT_TRUE(io::ReadFile(Path(run) + "/" + file) == io::ReadFile(Path(other) + "/" + file)) << file;
    }
    EXPECT_FALSE(fs::exists(Path(run) + "/checkpoint"));
  }
};

TEST_F(Windows, FindAControlThatVerifies) {
  const Outcome outcome = Execute(Command("run", "--threads 1 --progress plain --verbose --report"));
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("window 1/2  0.00 to 0.80 of 0.80 s  cost "));
  EXPECT_THAT(outcome.text, HasSubstr("reached_end: 2 windows, cost from "));
  const Outcome verified = Execute(kReplay + " " + Path("run") + " --verify");
  EXPECT_EQ(verified.code, 0) << verified.text;
  EXPECT_THAT(verified.text, HasSubstr("the same to the bit"));
  const io::Json manifest = io::ReadJson(Path("run") + "/manifest.json");
  EXPECT_EQ(manifest["method"], (io::Json{{"asked", "trajectory"}, {"used", "trajectory"}}));
  EXPECT_EQ(manifest["status"], "completed");
  EXPECT_FALSE(manifest.contains("search"));
  EXPECT_LE(manifest["cost"]["simulated_seconds_per_second"].get<double>(), 300);
  EXPECT_GT(fs::file_size(Path("run") + "/report.html"), 10000u);
  EXPECT_FALSE(fs::exists(Path("run") + "/costs.csv"));
}

TEST_F(Windows, GoOnToTheSameBytesWithAnyNumberOfThreads) {
  ASSERT_EQ(Execute(Command("whole", "--threads 1 --progress none")).code, 0);
  const Outcome stopped = Execute(Once(Path("progress"), "kill -s TERM $$") + "exec " +
                                  Command("run", "--threads 2 --progress json 2>" + Path("progress")));
  ASSERT_EQ(stopped.code, 75) << io::ReadFile(Path("progress"));
  EXPECT_THAT(io::ReadFile(Path("progress")), HasSubstr("stopped with a checkpoint in " + Path("run")));
  EXPECT_THAT(io::ReadFile(Path("progress")), HasSubstr("\"best_cost\""));
  ExpectRefusals(Command("run", "--resume --progress none"),
                 {{"--set /trajectory/knots=5", 2, "/identity/configuration/trajectory/knots was 6 and is 5"}});
  const Outcome resumed = Execute(Command("run", "--threads 3 --resume --progress plain"));
  ASSERT_EQ(resumed.code, 0) << resumed.text;
  EXPECT_THAT(resumed.text, HasSubstr("resuming from the checkpoint"));
  ExpectSameBytes("run", "whole");
}

TEST_F(Windows, EndOutsideTheGatesOrWithoutABudgetWithCode4) {
  const Outcome outside = Execute(Command("run", "--progress none --set /gates/joint_position=0.01"));
  EXPECT_EQ(outside.code, 4) << outside.text;
  EXPECT_EQ(io::ReadJson(Path("run") + "/manifest.json")["status"], "left-gates");
  EXPECT_EQ(Execute(kReplay + " " + Path("run") + " --verify").code, 0) << "the same, out of tolerance or not";
  const Outcome poor = Execute(Command("poor", "--progress plain --set /trajectory/budget=20"));
  EXPECT_EQ(poor.code, 4) << poor.text;
  EXPECT_THAT(poor.text, HasSubstr("budget: 0 windows"));
}

TEST_F(Windows, AreAMethodOfEvaluate) {
  const std::string list = Write("list.tsv", "clip\tend\tseeds\nwalk.bvh\t0.6\t2\n");
  const Outcome outcome =
      Execute(kEvaluate + " " + list + " --clips " + std::string(RETRACE_SOURCE_DIR) +
              "/data/clips --method trajectory --set /trajectory/budget=200 --threads 2 --output " + Path("out"));
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const results::Table rows = results::ReadTable(fs::path(Path("out")) / "runs.csv");
  ASSERT_EQ(rows.num_rows(), 2u);
  EXPECT_THAT(rows.Text("method"), testing::Each("trajectory"));
  EXPECT_NE(rows.Numbers("joint_error_mm")[0], rows.Numbers("joint_error_mm")[1]) << "seeds differ";
  EXPECT_LE(rows.Numbers("simulated_s_per_s")[0], 200);
  EXPECT_GT(rows.Numbers("simulated_s_per_s")[0], 100);
}

TEST_F(Windows, RefuseWhatTheyCannotDo) {
  ExpectRefusals(kReconstruct + " " + kWalkClip + " --method trajectory --output " + Path("run"),
                 {{"--set /trajectory/knots=1", 2, "/trajectory/knots: found 1, expected"},
                  {"--set /trajectory/window=0", 2, "/trajectory/window"},
                  {"--set /trajectory/together=0", 2, "/trajectory/together"},
                  {"--set /trajectory/population=3", 2, "/trajectory/population"},
                  {"--set /trajectory/budget=0", 2, "/trajectory/budget"},
                  {"--set /trajectory/deviation=-1", 2, "/trajectory/deviation"},
                  {"--set /trajectory/start=middle", 2, "/trajectory/start"},
                  {"--set /trajectory/cost=mine", 2, "/trajectory/cost"},
                  {"--variations 2", 2, "the method trajectory for several controls"}});
  ExpectRefusals(kForces + " --simulate " + kWalkClip + " --method trajectory --output " + Path("run"),
                 {{"", 2, "the method trajectory for the forces of a recording"}});
}

}  // namespace
}  // namespace retrace::apps
