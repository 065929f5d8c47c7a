/// open, list, clean and the printout of reconstruct, as a user meets them.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/command_line.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Shell : public CommandLine {
 protected:
  /// A motion that stays within tolerance, one that does not, both by tracking, and a folder of the user's.
  void MakeRuns() {
    good_ = Path("runs/good");
    bad_ = Path("runs/more/bad");
    EXPECT_EQ(Track(good_).code, 0);
    EXPECT_EQ(Track(bad_, " --set /gates/root_height=0.0001").code, 4);
    fs::create_directories(Path("runs/mine"));
    Write("runs/mine/notes.txt", "mine");
    Write("runs/mine/manifest.json", "{\"format\": \"of another program\"}");
  }
  static Outcome Track(const std::string& run, const std::string& more = "") {
    return Execute(kReconstruct + " " + kWalkClip + " --end 0.6 --method tracking --check-continuation 0 --output " +
                   run + more);
  }
  std::string good_, bad_;
};

const std::string kList = kRetrace + " list";
const std::string kClean = kRetrace + " clean";
const std::string kOpen = kRetrace + " open";

TEST_F(Shell, ThePrintoutBeginsWithTheVerdictAndEndsWithWhatToDo) {
  const std::string out = " 2>/dev/null";
  const Outcome good = Track(Path("good"), out);
  EXPECT_EQ(good.code, 0);
  EXPECT_THAT(good.text, StartsWith(kWalkClip + ": reconstructed: the simulated motion stays within tolerance"));
  EXPECT_THAT(good.text, HasSubstr("mean joint error"));
  EXPECT_THAT(good.text, HasSubstr("next:\n  retrace open " + Path("good")));
  EXPECT_THAT(good.text, Not(HasSubstr("quadratic programs"))) << "figures of solvers are details";
  EXPECT_THAT(good.text, Not(HasSubstr("\033"))) << "colors are for terminals";

  const Outcome verbose = Track(Path("verbose"), " --verbose" + out);
  EXPECT_THAT(verbose.text, HasSubstr("quadratic programs"));
  EXPECT_THAT(verbose.text, HasSubstr("smoothed with a Gaussian"));

  const Outcome bad = Track(Path("bad"), " --set /gates/root_height=0.0001" + out);
  EXPECT_EQ(bad.code, 4);
  EXPECT_THAT(bad.text, StartsWith(kWalkClip + ": out of tolerance from "));
  EXPECT_THAT(bad.text, HasSubstr("(root_height)"));
  EXPECT_THAT(bad.text, HasSubstr("next:\n  retrace inspect " + kWalkClip));
  EXPECT_THAT(bad.text, HasSubstr("--repair"));
}

TEST_F(Shell, ThePrintoutIsJsonOnRequest) {
  const Outcome outcome = Track(Path("run"), " --json 2>/dev/null");
  EXPECT_EQ(outcome.code, 0);
  const io::Json json = io::ParseJson(outcome.text, "printout");
  EXPECT_EQ(json["success"], true);
  EXPECT_EQ(json["verdict"], "reconstructed");
  EXPECT_EQ(json["kind"], "good");
  EXPECT_EQ(json["method"], "tracking");
  EXPECT_EQ(json["folder"], Path("run"));
  EXPECT_TRUE(json["evaluation"]["gates"].contains("root_height"));
  EXPECT_GE(json["next"].size(), 2u);
  const io::Json bad =
      io::ParseJson(Track(Path("bad"), " --set /gates/root_height=0.0001 --json 2>/dev/null").text, "printout");
  EXPECT_EQ(bad["verdict"], "out of tolerance");
  EXPECT_EQ(bad["success"], false);
  ExpectRefusals(kReconstruct, {{kWalkClip + " --json --verbose", 2, "--json"}});
}

TEST_F(Shell, AFolderSaysWhatIsInIt) {
  Track(Path("run"));
  const std::string text = io::ReadFile(Path("run/README.txt"));
  for (const auto& entry : fs::directory_iterator(Path("run"))) {
    const std::string name = entry.path().filename();
    if (name != "README.txt") {
      EXPECT_THAT(text, HasSubstr(name + " "));
    }
  }
  EXPECT_THAT(text, Not(HasSubstr("costs.csv"))) << "only what is there";
  // A user's own file of that name stays.
  Write("run/README.txt", "mine");
  EXPECT_EQ(Track(Path("run"), " --force").code, 0);
  EXPECT_EQ(io::ReadFile(Path("run/README.txt")), "mine");
}

TEST_F(Shell, RunsAreListedWithTheirVerdicts) {
  MakeRuns();
  const Outcome table = Execute(kList + " " + Path("runs"));
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.text, HasSubstr("good      good "));
  EXPECT_THAT(table.text, HasSubstr("more/bad  out of tolerance"));
  EXPECT_THAT(table.text, HasSubstr("2 runs, 1 good"));
  EXPECT_THAT(table.text, Not(HasSubstr("mine")));
  EXPECT_THAT(table.text, Not(HasSubstr("\033")));
  const io::Json json =
      io::ParseJson(Execute(kList + " " + Path("runs") + " --json --sort verdict --reverse").text, "list");
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["verdict"], "out of tolerance");
  EXPECT_EQ(json[0]["name"], "more/bad");
  EXPECT_EQ(json[1]["method"], "tracking");
  EXPECT_NEAR(json[1]["duration"].get<double>(), 0.6, 0.01);
  const Outcome csv = Execute(kList + " " + Path("runs") + " --csv --sort error");
  EXPECT_THAT(csv.text, StartsWith("name,verdict,program,method,clip,duration,joint_error,drift,bytes,finished\n"));
  EXPECT_EQ(std::count(csv.text.begin(), csv.text.end(), '\n'), 3);
  EXPECT_THAT(Execute(kList + " " + Path("runs/mine")).text, HasSubstr("no runs"));
  ExpectRefusals(kList, {{Path("none"), 3, "none: found no such folder"},
                         {Path("runs") + " --sort weight", 2, "--sort"},
                         {Path("runs") + " --csv --json", 2, "--json"}});
}

TEST_F(Shell, NothingButRunsIsRemovedAndNothingWithoutYes) {
  MakeRuns();
  Write("runs/good/notes.txt", "mine");
  Execute(kExport + " " + good_ + " --to bvh");
  Execute(kExport + " " + good_ + " --to bvh --skeleton source");
  const Outcome dry = Execute(kClean + " " + Path("runs") + " </dev/null");
  EXPECT_EQ(dry.code, 0);
  EXPECT_THAT(dry.text, HasSubstr("2 runs, "));
  EXPECT_THAT(dry.text, HasSubstr("nothing is removed without --yes"));
  EXPECT_TRUE(fs::exists(good_ + "/manifest.json"));
  // One of these was changed by the user.
  Write("runs/more/bad/motion.bvh", "edited");
  const Outcome failed = Execute(kClean + " " + Path("runs") + " --failed --yes");
  EXPECT_THAT(failed.text, HasSubstr("motion.bvh: was changed since the run was written; this run is kept"));
  EXPECT_THAT(failed.text, HasSubstr("no runs to remove"));
  EXPECT_TRUE(fs::exists(bad_ + "/manifest.json"));
  EXPECT_TRUE(fs::exists(good_ + "/manifest.json"));

  const Outcome all = Execute(kClean + " " + Path("runs") + " --yes");
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.text, HasSubstr("1 run removed"));
  EXPECT_THAT(all.text, HasSubstr("other files stay in 1 of their folders"));
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(good_)) left.push_back(entry.path().filename());
  EXPECT_THAT(left, testing::ElementsAre("notes.txt"));
  EXPECT_EQ(io::ReadFile(Path("runs/mine/notes.txt")), "mine");
  EXPECT_TRUE(fs::exists(Path("runs/mine/manifest.json")));
  ExpectRefusals(kClean, {{"", 2, "folders"}, {Path("none"), 3, "none: found no such folder"}});
}

TEST_F(Shell, APageIsOpenedOrItsPathIsPrinted) {
  ExpectRefusals(kOpen, {{"", 2, "run"}, {Path("none"), 3, "none: found no such folder"}});
  if (!fs::exists(RETRACE_REPORT_PAGE)) GTEST_SKIP() << "needs the report page";
  const std::string run = Path("run");
  Track(run);
  const Outcome printed = Execute("env -u DISPLAY -u WAYLAND_DISPLAY -u BROWSER " + kOpen + " " + run);
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.text, HasSubstr(run + "/report.html"));
  EXPECT_THAT(printed.text, HasSubstr("found no desktop with a browser"));
  ASSERT_TRUE(fs::exists(run + "/report.html"));
  const auto made = fs::last_write_time(run + "/report.html");
  // A desktop: a program of that name that says what it was given.
  fs::create_directories(Path("bin"));
  Write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > " + Path("opened") + "\n");
  fs::permissions(Path("bin/xdg-open"), fs::perms::owner_all);
  const Outcome opened = Execute("env DISPLAY=:9 PATH=" + Path("bin") + ":$PATH " + kOpen + " " + run);
  EXPECT_EQ(opened.code, 0);
  EXPECT_THAT(opened.text, HasSubstr("report.html: opened"));
  EXPECT_EQ(io::ReadFile(Path("opened")), run + "/report.html\n");
  EXPECT_EQ(fs::last_write_time(run + "/report.html"), made) << "the page was there";
  EXPECT_EQ(Execute(kOpen + " " + run + " --print --again").text, run + "/report.html\n");
  EXPECT_NE(fs::last_write_time(run + "/report.html"), made);
}

TEST_F(Shell, JsonIsOneDocumentAndNothingElse) {
  MakeRuns();
  const auto document = [&](const std::string& command, int code) {
    const Outcome outcome = Execute(command + " --json 2>/dev/null");
    EXPECT_EQ(outcome.code, code) << outcome.text;
    return io::ParseJson(outcome.text, command);
  };
  const io::Json verified = document(kVerify + " " + good_, 0);
  EXPECT_EQ(verified["verified"], true);
  EXPECT_GT(verified["states"], 100);
  EXPECT_EQ(verified["evaluations"][0]["success"], true);
  const io::Json replayed = document(kReplay + " " + good_ + " --push trunk,0:0:900,0.1,0.2", 4);
  EXPECT_EQ(replayed["success"], false);
  EXPECT_TRUE(replayed["output"].is_null());
  EXPECT_NEAR(replayed["characters"][0]["duration"].get<double>(), 0.6, 0.02);
  const io::Json pushed = document(kReplay + " " + good_ + " --push-table trunk --push-forces 20 --push-times 0.1", 0);
  EXPECT_EQ(pushed["open_loop"].size(), 4u);
  EXPECT_EQ(pushed["open_loop"][0]["body"], "trunk");
  EXPECT_EQ(pushed["open_loop"][0]["newton"], 20.0);
  const io::Json exported = document(kExport + " " + good_ + " --to bvh,csv", 0);
  EXPECT_EQ(exported["files"].size(), 3u);
  EXPECT_EQ(exported["files"][0]["rate"], 120.0);
  const io::Json tracked = document(kTrack + " " + kWalkClip + " --end 0.6 --dry-run", 0);
  EXPECT_EQ(tracked["success"], true);
  EXPECT_TRUE(tracked["folder"].is_null());
  const io::Json stabilized = document(kAddFeedback + " " + good_, 0);
  EXPECT_EQ(stabilized["success"], true);
  EXPECT_GT(stabilized["simulations"], 100);
  EXPECT_TRUE(fs::exists(stabilized["feedback"].get<std::string>()));
  const io::Json shown = document(kRetrace + " character show asimo --output " + Path("asimo.json"), 0);
  const io::Json written = io::ReadJson(Path("asimo.json"));
  EXPECT_EQ(shown["name"], written["name"]);
  EXPECT_EQ(shown["bodies"].size(), written["bodies"].size());
  EXPECT_EQ(shown["joints"].size(), written["joints"].size());
  EXPECT_NEAR(shown["mass"].get<double>(), 49.5, 0.1);
  EXPECT_EQ(shown["joints"][0]["axis"].size(), shown["joints"][0]["type"] == "ball" ? 0u : 3u);
  EXPECT_EQ(shown["files"], io::Json::array({Path("asimo.json")}));
  const std::string page = Write("page.html", "<html></html>");
  const io::Json opened = document(kOpen + " " + page + " --print", 0);
  EXPECT_EQ(opened["page"], page);
  EXPECT_EQ(opened["opened"], false);
  Write("runs/more/bad/motion.bvh", "edited");
  const io::Json listed = document(kClean + " " + Path("runs"), 0);
  EXPECT_EQ(listed["removed"], false);
  EXPECT_TRUE(fs::exists(good_ + "/manifest.json"));
  ASSERT_EQ(listed["runs"].size(), 1u);
  EXPECT_EQ(listed["runs"][0]["folder"], good_);
  EXPECT_EQ(listed["bytes"], listed["runs"][0]["bytes"]);
  ASSERT_EQ(listed["kept"].size(), 1u);
  EXPECT_EQ(listed["kept"][0]["folder"], bad_);
  const std::string control = io::ReadFile(good_ + "/control.json");
  io::WriteFile(good_ + "/control.json", "{");
  EXPECT_EQ(Execute(kVerify + " " + good_ + " --json").code, 3) << "messages stay messages";
  io::WriteFile(good_ + "/control.json", control);
  EXPECT_EQ(document(kClean + " " + Path("runs") + " --yes", 0)["removed"], true);
  EXPECT_FALSE(fs::exists(good_ + "/manifest.json"));
  EXPECT_TRUE(fs::exists(bad_ + "/manifest.json"));
}

}  // namespace
}  // namespace retrace::apps
