/// What all programs do where the machine has no more of something, and what they print of names that others chose.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class Limits : public CommandLine {
 protected:
  /// Commands of all kinds, which write below a folder of that name. They succeed.
  std::vector<std::string> Commands(const std::string& output) {
    if (run_.empty()) run_ = SmallRun("small");
    const std::string out = " --output " + Path(output);
    io::WriteFile(Path("list.tsv"), "clip\tend\tseeds\nsquat.bvh\t0.3\t1\n");
    io::WriteFile(Path("recordings.tsv"), "clip\n" + kClip + "\n");
    const std::string list = Path("list.tsv") + " --clips " + RETRACE_SOURCE_DIR + "/data/clips ";
    return {kInspect + " " + kClip,
            kReconstruct + " " + kClip + kSmall + out,
            kReconstruct + " " + kClip + kSmall + "--threads 3" + out,
            kTrack + " " + kClip + " --end 0.3 --progress none" + out,
            kReplay + " " + run_ + out,
            kExport + " " + run_ + " --to csv,glb" + out,
            kEvaluate + " " + list + "--method tracking --progress none" + out,
            kRecordingLibrary + " " + Path("recordings.tsv") + out,
            kControlLibrary + " " + list + "--method tracking --progress none" + out};
  }

 private:
  std::string run_;
};

// Exit code 5 where a file may not grow: no signal, and what was there before stays.
TEST_F(Limits, AFileThatMayNotGrowIsAnErrorOfOutput) {
  for (const std::string& command : Commands("out")) {
    fs::remove_all(Path("out"));
    const Outcome outcome = Execute("(ulimit -f 2; exec " + command + " >/dev/null)");
    if (command.starts_with(kInspect)) continue;  // which writes no file
    EXPECT_EQ(outcome.code, 5) << command << "\n" << outcome.text;
  }
}

TEST_F(Limits, AReaderThatHasGoneIsNoReasonForAMessage) {
  for (const std::string& command : Commands("out")) {
    fs::remove_all(Path("out"));
    const std::string code = Path("code");
    const Outcome outcome = Execute("bash -c '{ sleep 0.2; " + command + "; echo $? >" + code + "; } | true'");
    EXPECT_EQ(outcome.text, "") << command;
    EXPECT_THAT(io::ReadFile(code), AnyOf("0\n", "4\n", "5\n")) << command;
    if (command.starts_with(kReplay)) {
      EXPECT_TRUE(fs::exists(Path("out/manifest.json")));
    }
  }
}

// From less than the loader needs up to more than enough: one line and an exit code that the manual names.
TEST_F(Limits, MemoryThatRunsOutEndsWithOneLine) {
  for (const std::string& command : Commands("out")) {
    bool starved = false;
    for (int kilobytes = 40000; kilobytes < 500000; kilobytes += kilobytes / 3) {
      fs::remove_all(Path("out"));
      const Outcome outcome = Execute("(ulimit -v " + std::to_string(kilobytes) + "; exec " + command + " >/dev/null)");
      if (outcome.code == 127) continue;  // the loader
      EXPECT_THAT(outcome.code, AnyOf(0, 4, 6)) << command << "\n" << kilobytes << " kB\n" << outcome.text;
      if (outcome.code != 6) continue;
      starved = true;
      EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << command << "\n" << outcome.text;
      EXPECT_THAT(outcome.text, AnyOf(HasSubstr("memory ran out"), HasSubstr("threads can be started"),
                                      HasSubstr("a resource of the system ran out")));
    }
    if (command.find("--threads 3") != std::string::npos) {
      EXPECT_TRUE(starved) << command;
    }
  }
}

TEST_F(Limits, ThreadsThatCannotStartEndWithOneLine) {
  const Outcome outcome = Execute("(ulimit -v 400000; exec " + kReconstruct + " " + kClip + kSmall +
                                  "--threads 256 --output " + Path("out") + ")");
  EXPECT_EQ(outcome.code, 6) << outcome.text;
  EXPECT_THAT(outcome.text, testing::ContainsRegex("reconstruct: only [0-9]+ of 256 threads can be started: "));
}

/// A clip whose name, and the name of one of its joints, hold a terminal's command and look like lines of a program.
TEST_F(Limits, NamesOfOthersAreShownWithEscapes) {
  const std::string evil = "a\x1b[31m\nretrace: all is well\r\x7f";
  std::string text = io::ReadFile(kClip);
  const std::string clip = Path(evil + ".bvh");
  io::WriteFile(clip, text);
  const std::string quoted = "'" + clip + "'", out = " --output '" + Path(evil) + "'";
  const std::string run = "'" + Path(evil) + "'";
  io::Json map = {{"pelvis", evil}};
  io::WriteFile(Path("map.json"), map.dump());
  const std::vector<std::string> commands = {
      kInspect + " " + quoted,
      kInspect + " " + quoted + " --map " + Path("map.json"),
      kTrack + " " + quoted + " --end 0.3" + out,
      kReplay + " " + run,
      kVerify + " " + run,
      kExport + " " + run + " --to csv,glb",
      kReport + " " + run,
      kReconstruct + " " + quoted + " --end 0.3 --method sampling --samples 60 --saved 12 --progress plain --force" +
          out,
      kReconstruct + " " + quoted + " --dry-run",
      kRecordingLibrary + " '" + folder_.string() + "' --output '" + Path("library" + evil) + "'",
      kReplay + " '" + Path("missing" + evil) + "'",
      kRetrace + " '" + evil + "'"};
  for (const std::string& command : commands) {
    const Outcome outcome = Execute(command);
    EXPECT_NE(outcome.code, 1) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("a\\x1b[31m\\nretrace: all is well\\x0d\\x7f")) << command;
    EXPECT_THAT(outcome.text, Not(HasSubstr("\x1b"))) << command;
    EXPECT_THAT(outcome.text, Not(HasSubstr("\nretrace: all"))) << command;
    EXPECT_THAT(outcome.text, Not(HasSubstr("\x7f"))) << command;
  }
}

}  // namespace
}  // namespace retrace::apps
