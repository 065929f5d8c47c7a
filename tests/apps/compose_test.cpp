/// The program `compose`.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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
                              "--set /refinement/passes=0 --progress plain";
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

TEST_F(ComposeProgram, GoesOnFromARunWithItsPushes) {
  const std::string begun = Path("begun"), run = Path("run");
  ASSERT_EQ(Execute(kReplay + " " + library_ + "/walk --push trunk,0:0:-1,2.2,0.1 --output " + begun).code, 0);
  const std::string command = kCompose + " " + library_ + " --begin " + begun +
                              " --play walk --samples 100 --saved 20 --set /refinement/passes=0 --progress plain";
  const Outcome outcome = Execute(command + " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(results::ReadTable(run + "/composition.csv").Text("control"), (std::vector<std::string>{begun, "walk"}));
  EXPECT_EQ(io::ReadJson(run + "/control.json")["pushes"].size(), 1u);
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  ExpectRefusals(kCompose,
                 {{library_ + " --begin " + begun + " --play walk --push trunk,1:0:0,0.2,0.1 --output " + Path("a"), 2,
                   "found a push at 0.20 s, expected one after the pushes of " + begun},
                  {library_ + " --begin " + Path("none") + " --play walk --output " + Path("a"), 3, "none"}});
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

TEST_F(ComposeProgram, SaysWhatIsKinematic) {
  const std::string run = Path("run");
  const Outcome outcome =
      Execute(kCompose + " " + library_ + " --play walk,walk --transition kinematic --progress plain --output " + run);
  EXPECT_THAT(outcome.text, HasSubstr("; kinematic, for an impulse of "));
  EXPECT_THAT(outcome.text, HasSubstr("  not physical: 1 transitions are kinematic\n"));
  EXPECT_EQ(results::ReadTable(run + "/composition.csv").Text("transition"),
            (std::vector<std::string>{"", "kinematic"}));
  EXPECT_EQ(io::ReadJson(run + "/manifest.json")["physical"], false);
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kExport + " " + run + " --to all").code, 0);
  ASSERT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  EXPECT_THAT(io::ReadFile(Path("report.html")), HasSubstr("Not physical: 1 of its transitions are kinematic."));
  ExpectRefusals(kReplay, {{run, 2, "found a motion with kinematic transitions, expected a simulated one"},
                           {run + " --push trunk,10:0:0,0.1,0.1", 2, "expected a simulated one"}});
  ExpectRefusals(kAddFeedback, {{run, 2, "expected a simulated one: feedback is along forces"}});
}

TEST_F(ComposeProgram, MakesAndRefusesLibraries) {
  const std::string list = Path("list.tsv"), made = Path("made"), clips = " --clips " RETRACE_SOURCE_DIR "/data/clips";
  io::WriteFile(list, "clip\tname\tend\nwalk.bvh\twalk\t2.4\n");
  const std::string command = kControlLibrary + " " + list + clips + " --method tracking --progress plain --output ";
  const Outcome outcome = Execute(command + made);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("made: 1 controls with 10 cuts\n"));
  EXPECT_EQ(io::ReadJson(made + "/walk/manifest.json")["program"], "make-library");
  const std::string compose = kCompose + " " + made + " --play walk,walk --transition plain --output " + Path("run");
  EXPECT_EQ(Execute(compose).code, 4);
  io::Json index = io::ReadJson(made + "/library.json");
  index["controls"][0]["sha256"] = "0";
  io::WriteFile(made + "/library.json", index.dump());
  ExpectRefusals(kCompose, {{made + " --play walk --output " + Path("b"), 3, "found another control, expected that of"},
                            {made + " --play dance --output " + Path("b"), 2, "expected one of walk"}});
  // The library of build-library has motions, not controls.
  fs::create_directories(Path("motions"));
  io::WriteFile(Path("motions/library.json"), R"({"format": "retrace-motion-library", "version": 1, "motions": []})");
  ExpectRefusals(kCompose, {{Path("motions") + " --play walk --output " + Path("b"), 3,
                             "/format: found \"retrace-motion-library\", expected \"retrace-library\""}});
  ExpectRefusals(kControlLibrary, {{"", 2, "list is required"},
                                   {Path("none.tsv") + " --output " + made, 3, "none.tsv"},
                                   {list + clips + " --only dance --output " + made, 2, "no clip of"},
                                   {list + clips + " --seeds 0", 2, "--seeds"},
                                   {list + clips + " --output " + library_ + "/walk", 2, "other files in it"}});
}

TEST_F(ComposeProgram, RefusesWhatItCannotUse) {
  const std::string output = " --output " + Path("run");
  ExpectRefusals(kCompose,
                 {{library_ + output, 2, "--play is required"},
                  {library_ + " --play walk,dance" + output, 2, "found \"dance\", expected one of walk"},
                  {Path("nothing") + " --play walk" + output, 3, "no such folder"},
                  {library_ + "/walk --play walk" + output, 3, "found no run, expected a sub-folder"},
                  {library_ + " --play walk --push trunk,nan:0:0,1,1" + output, 2, "push trunk,nan:0:0,1,1"},
                  {library_ + " --play walk --cuts 0" + output, 2, "--cuts"},
                  {library_ + " --play walk --transition magic" + output, 2, "--transition"},
                  {library_ + " --play walk --get-up walk" + output, 2, "--get-up: found no push"},
                  {library_ + " --play walk --push trunk,1:0:0,0,1 --get-up dance" + output, 2,
                   "--get-up: found \"dance\", expected one of walk"},
                  {library_ + " --play walk --push trunk,1:0:0,0,1 --get-up walk@9" + output, 2,
                   "--get-up: found \"walk@9\", expected a second of a control that lasts 2.40 s"},
                  {library_ + " --play walk --push trunk,1:0:0,0,1 --get-up walk,walk@1" + output, 2,
                   "--get-up: found \"walk@1\", expected NAME, or of the first one NAME@SECOND"},
                  {library_ + " --play walk --seconds -1" + output, 2, "--seconds"},
                  {library_ + " --play walk --push-every trunk,1,1,0.1" + output, 2, "--push-every: found no seconds"},
                  {library_ + " --play walk --seconds 9 --push-every trunk,1" + output, 2,
                   "expected BODY,NEWTON,INTERVAL,DURATION"},
                  {library_ + " --play walk --output " + library_ + "/walk --force", 5, "walk"}});
}

}  // namespace
}  // namespace retrace::apps
