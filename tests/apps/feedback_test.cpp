/// The programs `stabilize` and `grow-tree`, and `replay --feedback`.
#include "retrace/control/feedback.h"

#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class StabilizeProgram : public CommandLine {
 protected:
  /// A tracked walk of so many seconds.
  std::string TrackedRun(const std::string& name, const std::string& more = " --end 1") const {
    const std::string run = Path(name);
    const Outcome outcome = Execute(kTrack + " " + kWalkClip + more + " --progress none --output " + run);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    return run;
  }
};

TEST_F(StabilizeProgram, AddsFeedbackThatPushesAndWorldsAreWithstoodWith) {
  const std::string run = TrackedRun("run", "");
  const Outcome made = Execute(kAddFeedback + " " + run);
  ASSERT_EQ(made.code, 0) << made.text;
  EXPECT_THAT(made.text, HasSubstr("run: 3.20 s, feedback at 192 nodes, 55296 simulations of 4 steps"));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);  // the run is what it was

  const Outcome pushed =
      Execute(kReplay + " " + run + " --feedback --push trunk,50:0:0,1,0.2 --output " + Path("pushed"));
  EXPECT_EQ(pushed.code, 0) << pushed.text;
  EXPECT_THAT(pushed.text, HasSubstr("with feedback: within tolerance; torques of at most"));
  EXPECT_THAT(pushed.text, HasSubstr("open loop:     leaves the gate"));
  EXPECT_EQ(Execute(kReplay + " " + run + " --push trunk,50:0:0,1,0.2").code, 4);
  // What feedback did is an open-loop control that makes the same motion, and a run like any other.
  EXPECT_EQ(Execute(kReplay + " " + Path("pushed") + " --verify").code, 0);
  EXPECT_EQ(results::ReadTable(Path("pushed") + "/feedback.csv").num_rows(), 192u);
  EXPECT_EQ(Execute(kReport + " " + run + " " + Path("pushed") + " --output " + Path("both.html")).code, 0);

  for (const char* set : {"/simulation/friction=1.2", "/simulation/gravity=9", "/character/mass=66"}) {
    const Outcome other = Execute(kReplay + " " + run + " --feedback --set " + set);
    EXPECT_EQ(other.code, 0) << set << "\n" << other.text;
    EXPECT_EQ(Execute(kReplay + " " + run + " --set " + set).code, 4) << set;
  }
  EXPECT_EQ(Execute(kReplay + " " + run + " --feedback --world vest").code, 0);
  const auto noisy = [&](const std::string& seed) {
    return Execute(kReplay + " " + run + " --feedback --set /start/noise=0.03 --set /start/seed=" + seed).text;
  };
  EXPECT_EQ(Execute(kReplay + " " + run + " --feedback --set /sensors/delay=0.0125 --set /sensors/noise=0.02").code, 0);
  EXPECT_EQ(noisy("5"), noisy("5"));
  EXPECT_NE(noisy("5"), noisy("6"));
}

TEST_F(StabilizeProgram, OneTableHasTheOpenLoopBesideFeedback) {
  const std::string run = TrackedRun("run");
  ASSERT_EQ(Execute(kAddFeedback + " " + run + " --threads 1").code, 0);
  const std::string table = kReplay + " " + run + " --push-table trunk --push-forces 20,60 --push-times 0.2,0.4";
  const Outcome alone = Execute(table + " --output " + Path("alone"));
  const Outcome both = Execute(table + " --feedback --output " + Path("both"));
  ASSERT_EQ(both.code, 0) << both.text;
  EXPECT_THAT(alone.text, Not(HasSubstr("feedback")));
  EXPECT_THAT(both.text, HasSubstr("open loop | with feedback"));
  EXPECT_THAT(both.text, HasSubstr("of 16 open loop, "));
  const results::Table a = results::ReadTable(Path("alone") + "/push_table.csv");
  const results::Table b = results::ReadTable(Path("both") + "/push_table.csv");
  ASSERT_EQ(b.num_rows(), 16u);
  EXPECT_EQ(a.Numbers("survived"), b.Numbers("survived"));
  double gained = 0;
  for (size_t r = 0; r < b.num_rows(); ++r) {
    gained += b.Numbers("feedback_survived")[r] - b.Numbers("survived")[r];
  }
  EXPECT_GT(gained, 0.5);  // [s] in all
}

TEST_F(StabilizeProgram, WithoutDisturbanceNothingChanges) {
  for (const std::string& run : {TrackedRun("tracked"), SmallRun("searched", "--world crates ")}) {
    ASSERT_EQ(Execute(kAddFeedback + " " + run).code, 0);
    const Outcome outcome = Execute(kReplay + " " + run + " --feedback --output " + run + "-same");
    EXPECT_THAT(outcome.text, HasSubstr("torques of at most 0.0 N m"));
    EXPECT_EQ(io::ReadFile(run + "/trajectory.csv"), io::ReadFile(run + "-same/trajectory.csv"));
    EXPECT_EQ(io::ReadFile(run + "/contacts.csv"), io::ReadFile(run + "-same/contacts.csv"));
  }
}

TEST_F(StabilizeProgram, IsTheSameFileForThreadsRanksAndProcessors) {
  const std::string run = TrackedRun("run", " --end 0.4");
  const auto feedback = [&](const std::string& command) {
    const Outcome outcome = Execute(command + " --force");
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    return io::ReadFile(run + "/feedback.bin");
  };
  const std::string one = feedback(kAddFeedback + " " + run + " --threads 1");
  EXPECT_EQ(feedback(kAddFeedback + " " + run + " --threads 3"), one);
  EXPECT_EQ(
      feedback("GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F,-FMA_Usable,-FMA4_Usable,-AVX2_Usable " +
               kAddFeedback + " " + run),
      one);
  if (std::string(RETRACE_MPIEXEC).empty()) GTEST_SKIP() << "no MPI";
  EXPECT_EQ(feedback(kMpiRun + "-n 2 " + kAddFeedback + " " + run), one);
}

TEST_F(StabilizeProgram, RefusesWhatItCannotUse) {
  const std::string run = TrackedRun("run", " --end 0.3");
  const std::string coarse = " --set /stabilization/interval=0.05";
  ASSERT_EQ(Execute(kAddFeedback + " " + run + coarse).code, 0);
  const std::string none = TrackedRun("none", " --end 0.3");
  fs::create_directories(Path("empty"));
  // A control without a step, and one that diverges.
  const auto changed = [&](const std::string& name, const auto& change) {
    io::Json control = io::ReadJson(run + "/control.json");
    change(control);
    fs::create_directories(Path(name));
    io::WriteFile(Path(name) + "/control.json", io::Dump(control));
    return Path(name);
  };
  const std::string still = changed("still", [](io::Json& control) { control["fragments"] = io::Json::array(); });
  const std::string thrown = changed("thrown", [](io::Json& control) {
    control["start_state"][0]["linear_velocity"] = {1e8, 0, 0};
  });
  const std::string other = changed("other", [](io::Json& control) { control["world"]["friction"] = 0.7; });
  fs::copy_file(run + "/feedback.bin", other + "/feedback.bin");
  const std::string heavier = changed("heavier", [](io::Json& control) { control["character"]["name"] = "other"; });
  fs::copy_file(run + "/feedback.bin", heavier + "/feedback.bin");
  ASSERT_EQ(Execute(kReplay + " " + run + " --with " + none + ",3,0 --output " + Path("two")).code, 0);
  ExpectRefusals(
      kAddFeedback,
      {{"", 2, "feedback add: the folder of a run is needed"},
       {run, 2, "found feedback that is there already, expected none (--force overwrites what is there)"},
       {Path("empty"), 3, "found no such file, expected the folder of a run, with its control"},
       {Path("missing"), 3, "found no such folder"},
       {still, 3, "found a control without any step, expected one that can be replayed"},
       {thrown, 3, "found a control whose motion diverges, expected one that can be replayed"},
       {Path("two"), 2, "found 2 characters, expected one: feedback is of one"},
       {none + " --set /stabilization/interval=0", 2, "/stabilization/interval"},
       {none + " --set /stabilization/gain=1", 2, "there is no such setting, expected one of /stabilization/interval"},
       {none + " --threads 0", 2, "--threads"}});
  EXPECT_FALSE(fs::exists(none + "/feedback.bin"));
  ExpectRefusals(kReplay,
                 {{none + " --feedback", 3, "found no such file, expected feedback, which stabilize makes"},
                  {other + " --feedback", 3, "found feedback of another control, expected that of"},
                  {heavier + " --feedback", 3, "found feedback of another character, expected that of"},
                  {Path("two") + " --feedback", 2, "found 2 characters, expected one"},
                  {run + " --feedback --verify", 2, "it cannot go with --feedback"},
                  {run + " --set /start/noise=1 --verify", 2, "it cannot go with --set"},
                  {run + " --set /sensors/delay=0.01", 2, "/sensors is what feedback sees; it needs --feedback"},
                  {run + " --feedback --set /sensors/delay=2", 2, "/sensors/delay"},
                  {run + " --feedback --track-only", 2, "it cannot go with --track-only"},
                  {run + " --feedback --with " + none, 2, "it cannot go with --with"},
                  {run + " --set /simulation/friction=-1", 2, "/simulation/friction"},
                  {run + " --set /simulation/time_step=0.1", 2, "there is no such setting"}});
  std::string bytes = io::ReadFile(run + "/feedback.bin");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 16);
  io::WriteFile(run + "/feedback.bin", bytes);
  ExpectRefusals(kReplay, {{run + " --feedback", 3, "found other numbers than were written"}});
  // A run that replaces another one takes its feedback with it.
  ASSERT_EQ(Execute(kTrack + " " + kWalkClip + " --end 0.3 --force --progress none --output " + run).code, 0);
  EXPECT_FALSE(fs::exists(run + "/feedback.bin"));
}

TEST_F(StabilizeProgram, ATreeIsTheSameForThreadsRanksAndResumes) {
  const std::string run = TrackedRun("run");
  ASSERT_EQ(Execute(kAddFeedback + " " + run).code, 0);
  const std::string grow = kGrowFeedback + " " + run +
                           " --set /growth/batch=2 --set /growth/rest=0.3 --set /growth/iterations=2"
                           " --set /growth/horizon=0.3 --set /growth/samples=6 --set /growth/close=1";
  const auto tree = [&](const std::string& command) {
    const Outcome outcome = Execute(command);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    return io::ReadFile(run + "/tree.bin");
  };
  const std::string one = tree(grow + " --states 4 --threads 1");
  EXPECT_EQ(results::ReadTable(run + "/tree.csv").num_rows(), 4u);
  EXPECT_EQ(tree(grow + " --states 4 --threads 3 --force"), one);
  tree(grow + " --states 2 --force");
  EXPECT_EQ(tree(grow + " --states 4 --resume"), one);
  const Outcome pushed =
      Execute(kReplay + " " + run + " --feedback --tree --push trunk,90:0:0,0.3,0.2 --output " + Path("pushed"));
  EXPECT_THAT(pushed.text, HasSubstr("with feedback: "));
  EXPECT_EQ(Execute(kReplay + " " + Path("pushed") + " --verify").code, 0);
  ExpectRefusals(kGrowFeedback,
                 {{"", 2, "feedback grow: the folder of a run is needed"},
                  {run, 2, "found a tree that is there already, expected none"},
                  {run + " --resume", 2, "found a tree that grew with other settings"},
                  {run + " --resume --force", 2, "it cannot go with --force"},
                  {run + " --force --body wing", 2, "found \"wing\", expected a body of the character"},
                  {run + " --force --set /growth/smallest_force=900", 2, "is above /growth/largest_force"},
                  {Path("missing"), 3, "found no such folder"}});
  // Around other feedback it is another tree's.
  ASSERT_EQ(Execute(kAddFeedback + " " + run + " --force --set /stabilization/interval=0.05").code, 0);
  ExpectRefusals(kReplay, {{run + " --feedback --tree", 3, "found a tree around other feedback"},
                           {run + " --tree", 2, "--tree is of feedback; it needs --feedback"}});
  fs::remove(run + "/tree.bin");
  ExpectRefusals(kReplay, {{run + " --feedback --tree", 3, "found no such file, expected a tree"}});
  if (std::string(RETRACE_MPIEXEC).empty()) GTEST_SKIP() << "no MPI";
  ASSERT_EQ(Execute(kAddFeedback + " " + run + " --force").code, 0);
  EXPECT_EQ(tree(kMpiRun + "-n 2 " + grow + " --states 4"), one);
}

TEST_F(StabilizeProgram, PrintsItsSettings) {
  const Outcome outcome = Execute(kAddFeedback + " --print-config");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, HasSubstr("\"torque_cost\": 0.001"));
}

}  // namespace
}  // namespace retrace::apps
