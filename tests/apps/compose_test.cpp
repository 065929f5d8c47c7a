/// The program `compose`.
#include "apps/command_line.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kCompose = RETRACE_COMPOSE;

class ComposeProgram : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    library_ = Path("library");
    ASSERT_EQ(Execute(kTrack + " " + kWalkClip + " --end 2.4 --output " + library_ + "/walk").code, 0);
  }
  std::string library_;
};

TEST_F(ComposeProgram, LeavesARunThatTheOthersTake) {
  const std::string run = Path("run");
  const std::string command = kCompose + " " + library_ +
                              " --play walk,walk --push trunk,0:0:-50,0.4,0.2 --samples 100 --saved 20 "
                              "--set /smoothing/passes=0 --progress plain";
  const Outcome outcome = Execute(command + " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("0.00 s: walk\n"));
  EXPECT_THAT(outcome.text, HasSubstr(", after a push\n"));
  EXPECT_THAT(outcome.text, HasSubstr(": completed, "));
  const results::Table parts = results::ReadTable(run + "/composition.csv");
  ASSERT_EQ(parts.Numbers("start").size(), 3u);
  EXPECT_EQ(parts.Text("event"), (std::vector<std::string>{"plan", "answer", "plan"}));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  EXPECT_EQ(Execute(kExport + " " + run + " --to all").code, 0);
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["program"], "compose");
  EXPECT_EQ(manifest["inputs"].size(), 1u);
  EXPECT_EQ(manifest["pushes"].size(), 1u);
  EXPECT_EQ(Execute(command + " --output " + run).code, 2);  // in use
}

TEST_F(ComposeProgram, SaysWhereThereIsNoWay) {
  const Outcome plain =
      Execute(kCompose + " " + library_ + " --play walk,walk --transition plain --output " + Path("a"));
  EXPECT_EQ(plain.code, 4) << plain.text;
  const Outcome none = Execute(kCompose + " " + library_ +
                               " --play walk --push trunk,4000:0:0,0.4,0.2 --samples 4 --saved 2 --cuts 2 "
                               "--set /search/budget=20 --output " +
                               Path("b"));
  EXPECT_EQ(none.code, 4) << none.text;
  EXPECT_THAT(none.text, HasSubstr("no way found after the push at 0.40 s"));
  EXPECT_TRUE(fs::exists(Path("b") + "/control.json"));  // what was composed is kept
}

TEST_F(ComposeProgram, RefusesWhatItCannotUse) {
  const std::string output = " --output " + Path("run");
  ExpectRefusals(kCompose, {{library_ + output, 2, "--play is required"},
                            {library_ + " --play walk,dance" + output, 2, "found \"dance\", expected one of walk"},
                            {Path("nothing") + " --play walk" + output, 3, "no such folder"},
                            {library_ + "/walk --play walk" + output, 3, "found no run, expected a sub-folder"},
                            {library_ + " --play walk --push trunk,nan:0:0,1,1" + output, 2, "push trunk,nan:0:0,1,1"},
                            {library_ + " --play walk --cuts 0" + output, 2, "--cuts"},
                            {library_ + " --play walk --output " + library_ + "/walk --force", 5, "walk"}});
}

}  // namespace
}  // namespace retrace::apps
