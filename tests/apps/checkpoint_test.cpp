/// Runs that are stopped, killed or out of disk, and go on.
#include <csignal>
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "long_trials.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A second or so of one core; `more` comes last.
const std::string kSlow = " --end 0.8 --method sampling --samples 300 --saved 40 --threads 1 ";

class Checkpoints : public CommandLine {
 protected:
  std::string Command(const std::string& run, const std::string& more = "") const {
    return kReconstruct + " " + kWalkClip + kSlow + "--progress none --output " + Path(run) + " " + more;
  }
  /// Resumes `run` and sends a signal after an iteration.
  Outcome Signaled(const std::string& signal) const {
    const std::string progress = Path("progress");
    fs::remove(progress);
    Outcome outcome = Execute(Once(progress, "kill -s " + signal + " $$") + "exec " + kReconstruct + " " + kWalkClip +
                              kSlow + "--progress json --resume --output " + Path("run") + " 2>" + progress);
    outcome.text = io::ReadFile(progress);
    return outcome;
  }
  /// The files that must not depend on how often a run was stopped.
  void ExpectSameBytes(const std::string& run, const std::string& other) const {
    for (const char* file : {"control.json", "costs.csv", "trajectory.csv", "contacts.csv", "motion.bvh"}) {
      EXPECT_TRUE(io::ReadFile(Path(run) + "/" + file) == io::ReadFile(Path(other) + "/" + file)) << file;
    }
    EXPECT_FALSE(fs::exists(Path(run) + "/checkpoint"));
    EXPECT_EQ(Execute(kReplay + " " + Path(run) + " --verify").code, 0);
  }
};

TEST_F(Checkpoints, AStoppedRunGoesOnToTheSameBytes) {
  ASSERT_EQ(Execute(Command("whole", "--sample-costs")).code, 0);
  // A limit of time.
  const Outcome limited = Execute(Command("run", "--time-limit 0.4"));
  EXPECT_EQ(limited.code, 75) << limited.text;
  EXPECT_THAT(limited.text, HasSubstr("the time limit"));
  EXPECT_THAT(limited.text, HasSubstr("stopped with a checkpoint in " + Path("run") + " (--resume continues from it)"));
  EXPECT_FALSE(fs::exists(Path("run") + "/manifest.json"));
  // Signals, again and again.
  for (const char* signal : {"TERM", "INT", "USR1", "TERM"}) {
    const Outcome stopped = Signaled(signal);
    if (stopped.code == 0) break;  // on a fast machine it may be done
    EXPECT_EQ(stopped.code, 75) << stopped.text;
    EXPECT_THAT(stopped.text, HasSubstr("signal"));
  }
  // Killed, which leaves no time to say anything.
  EXPECT_THAT(Signaled("KILL").code, testing::AnyOf(0, 128 + SIGKILL));
  const Outcome last =
      Execute(kReconstruct + " " + kWalkClip +
              " --end 0.8 --method sampling --samples 300 --saved 40 --threads 3 --progress plain --resume "
              "--sample-costs --output " +
              Path("run"));
  EXPECT_EQ(last.code, 0) << last.text;
  ExpectSameBytes("run", "whole");
  // The samples were asked for at the end alone.
  EXPECT_TRUE(io::ReadFile(Path("run/samples.csv")) == io::ReadFile(Path("whole/samples.csv")));
  // Once more: there is nothing left to do.
  const Outcome again = Execute(Command("run", "--resume"));
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.text, HasSubstr("finished before, successfully"));
}

TEST_F(Checkpoints, ThatDoNotFitAreRefusedWithWhatDiffers) {
  ASSERT_EQ(Execute(Command("run", "--time-limit 0.3")).code, 75);
  const std::string checkpoint = Path("run") + "/checkpoint";
  const auto refused = [&](const std::string& command, int code, const std::string& message) {
    const Outcome outcome = Execute(command);
    EXPECT_EQ(outcome.code, code) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(message));
  };
  refused(Command("run"), 2, "--resume continues from it");
  refused(Command("run", "--resume --seed 7"), 2, "/identity/configuration/search/seed was 1 and is 7");
  refused(kReconstruct + " " + kClip + kSlow + "--resume --output " + Path("run"), 2, "/identity/inputs/clip");
  const std::string bytes = io::ReadFile(checkpoint);
  const std::string version = "\"program\":\"";
  const size_t at = bytes.find(version);
  ASSERT_NE(at, std::string::npos);
  // As another version would have written it.
  std::string other = bytes;
  other[at + version.size()] = '9';
  io::WriteFile(checkpoint, other);
  refused(Command("run", "--resume"), 3, "damaged or unknown header");
  io::WriteFile(checkpoint, "nonsense");
  refused(Command("run", "--resume"), 3, "damaged or unknown header");
  // Damage further on costs the iterations from there on, and nothing else.
  std::string damaged = bytes;
  damaged[damaged.size() - 100] ^= 1;
  io::WriteFile(checkpoint, damaged);
  EXPECT_EQ(Execute(Command("run", "--resume")).code, 0);
  ASSERT_EQ(Execute(Command("whole")).code, 0);
  ExpectSameBytes("run", "whole");
  refused(Command("run", "--resume --seed 7"), 2, "found the results of another run");
}

TEST_F(Checkpoints, BadLimitsAreRefused) {
  ExpectRefusals(kReconstruct, {{kClip + " --time-limit soon", 2, "the duration \"soon\": expected seconds"},
                                {kClip + " --time-limit 1:2:3:4", 2, "expected seconds"},
                                {kClip + " --time-limit 0", 2, "expected seconds"},
                                {kClip + " --time-limit -5", 2, "the duration \"-5\": expected"}});
}

TEST_F(Checkpoints, OfVariationsGoOnToo) {
  const std::string options =
      kWalkClip + " --end 0.4 --method sampling --samples 100 --saved 20 --threads 1 --progress none --variations 3 " +
      "--set /run/baseline=reference --set /refinement/passes=1";
  const std::string command = kReconstruct + " " + options + " --output ";
  ASSERT_EQ(Execute(command + Path("whole")).code, 0);
  int stops = 0;
  Outcome outcome;
  do {
    outcome = Execute(command + Path("run") + " --resume --time-limit 0.25");
  } while (outcome.code == 75 && ++stops < 50);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_GT(stops, 0);
  for (const char* number : {"1", "2", "3"}) {
    ExpectSameBytes(std::string("run/") + number, std::string("whole/") + number);
  }
  EXPECT_EQ(io::ReadFile(Path("run/spread.csv")), io::ReadFile(Path("whole/spread.csv")));
}

TEST_F(Checkpoints, OfABatchGoOnWithTheSameCommand) {
  const std::string list = Write("list.tsv", "clip\tstart\tend\nsquat.bvh\t0\t0.6\nwalk.bvh\t0\t0.6\n");
  const std::string command =
      kEvaluate + " " + list + " --clips " + fs::path(kClip).parent_path().string() +
      " --seeds 2 --threads 2 --method sampling --samples 120 --saved 20 --set /run/tail=0.2 --progress none --output ";
  ASSERT_EQ(Execute(command + Path("whole")).code, 0);
  int stops = 0;
  Outcome outcome;
  do {
    outcome = Execute(command + Path("run") + " --time-limit 0.4");
    if (outcome.code == 75) {
      EXPECT_THAT(outcome.text, HasSubstr("the same command resumes"));
    }
  } while (outcome.code == 75 && ++stops < 50);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_GT(stops, 0);
  for (const char* run : {"squat.1", "squat.2", "walk.1", "walk.2"}) {
    const std::string file = std::string("/runs/") + run + "/control.json";
    EXPECT_TRUE(io::ReadFile(Path("run") + file) == io::ReadFile(Path("whole") + file)) << run;
    EXPECT_FALSE(fs::exists(Path("run") + "/runs/" + run + "/checkpoint"));
  }
}

/// A call that changes a file of the run fails, as on a full disk: one message, exit code 5, and what was computed is
/// not lost. Every third call fails in a run of its own; in long trials, every call.
TEST_F(Checkpoints, SurviveFailedWrites) {
  const std::string options =
      kClip + " --end 0.3 --method sampling --samples 20 --saved 5 --set /run/tail=0.2 --set /refinement/passes=1 " +
      "--progress none --threads 1 --output ";
  ASSERT_EQ(Execute(kReconstruct + " " + options + Path("whole")).code, 0);
  const int step = LongTrials() ? 1 : 3;
  int at = 0;
  for (bool failed = true; failed;) {
    at += step;
    const std::string run = "run" + std::to_string(at);
    const std::string command = kReconstruct + " " + options + Path(run);
    const Outcome outcome = Execute("RETRACE_FAIL_AT=" + std::to_string(at) + " RETRACE_FAIL_IN=" + Path(run) +
                                    " LD_PRELOAD=" RETRACE_FAIL_WRITE " " + command);
    failed = outcome.code != 0;
    if (failed) {
      ASSERT_EQ(outcome.code, 5) << "call " << at << ": " << outcome.text;
      EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << outcome.text;
      EXPECT_FALSE(fs::exists(Path(run) + "/manifest.json"));
      for (const auto& entry : fs::directory_iterator(Path(run))) {
        EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << "call " << at << " leaves " << entry;
      }
      ASSERT_EQ(Execute(command + " --resume --force").code, 0) << "call " << at;
    }
    EXPECT_TRUE(io::ReadFile(Path(run) + "/control.json") == io::ReadFile(Path("whole") + "/control.json"));
    fs::remove_all(Path(run));
    ASSERT_LT(at, 500);
  }
  EXPECT_GT(at, 20) << "the failing calls were not met";
}

TEST_F(Checkpoints, AVanishedFolderIsToldOf) {
  const std::string run = Path("run");
  const Outcome outcome = Execute(Once(run + "/checkpoint", "rm -r " + run) + Command("run"));
  EXPECT_EQ(outcome.code, 5) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr(run + "/checkpoint: was removed or replaced"));
}

}  // namespace
}  // namespace retrace::apps
