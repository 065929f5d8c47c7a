/// Running the program as a user does, in a folder that goes away.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "retrace/io/file.h"
#include "retrace/io/json.h"

namespace retrace::apps {

struct Outcome {
  int code = -1;
  std::string text;  // standard output and error
};

inline Outcome Execute(const std::string& command) {
  Outcome outcome;
  FILE* pipe = ::popen(("exec 2>&1; " + command).c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.text.append(buffer.data(), count);
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// To be put before a command: runs an action beside it, as soon as a file has something in it. A time would be too
/// early on a busy machine. `$$` in the action is the process of a command that begins with `exec`.
inline std::string Once(const std::string& file, const std::string& action) {
  return "(for i in $(seq 1000); do [ -s " + file + " ] && { " + action + "; break; }; sleep 0.02; done) & ";
}

/// A command line that a program refuses: how, and a part of its message.
struct Refusal {
  std::string arguments;
  int code;
  std::string message;
};

inline void ExpectRefusals(const std::string& program, const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    const Outcome outcome = Execute(program + " " + refusal.arguments);
    EXPECT_EQ(outcome.code, refusal.code) << refusal.arguments << "\n" << outcome.text;
    EXPECT_THAT(outcome.text, testing::HasSubstr(refusal.message)) << refusal.arguments;
  }
}

/// The one program, and its commands.
inline const std::string kRetrace = RETRACE_PROGRAM;
/// A program of its own name, which is a link.
inline const std::string kReconstruct = (std::filesystem::path(kRetrace).parent_path() / "reconstruct").string();
inline const std::string kForces = kRetrace + " forces";
inline const std::string kTrack = kRetrace + " track";
inline const std::string kInspect = kRetrace + " inspect";
inline const std::string kIdle = kRetrace + " idle";
inline const std::string kVerify = kRetrace + " verify";
inline const std::string kReplay = kRetrace + " replay";
inline const std::string kReport = kRetrace + " report";
inline const std::string kExport = kRetrace + " export";
inline const std::string kEvaluate = kRetrace + " evaluate";
inline const std::string kCompose = kRetrace + " compose";
inline const std::string kRespond = kRetrace + " respond";
inline const std::string kStrike = kRetrace + " strike";
inline const std::string kAddFeedback = kRetrace + " feedback add";
inline const std::string kGrowFeedback = kRetrace + " feedback grow";
inline const std::string kRecordingLibrary = kRetrace + " library recordings";
inline const std::string kControlLibrary = kRetrace + " library controls";
inline const std::string kLearnModel = kRetrace + " model learn";
inline const std::string kPlayModel = kRetrace + " model play";
inline const std::string kCharacterFromMesh = kRetrace + " character from-mesh";
/// Before "-n N PROGRAM".
inline const std::string kMpiRun =
    "MPIEXEC=" RETRACE_MPIEXEC " timeout -k 5 100 " RETRACE_SOURCE_DIR "/scripts/mpirun ";
inline const std::string kClip = std::string(RETRACE_SOURCE_DIR) + "/data/clips/squat.bvh";
inline const std::string kWalkClip = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
inline const std::string kSmall =
    " --end 0.5 --method sampling --samples 60 --saved 12 --set /refinement/passes=1 --progress none ";

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("retrace_" + std::string(info->name()) + "_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    io::WriteFile(folder_ / name, text);
    return Path(name);
  }
  /// A small reconstruction into a folder of that name, which must end well. Returns its path.
  std::string SmallRun(const std::string& name, const std::string& more = "") const {
    std::string run = Path(name);
    const Outcome outcome = Execute(kReconstruct + " " + kClip + kSmall + more + " --output " + run);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    return run;
  }

  std::filesystem::path folder_;
};

}  // namespace retrace::apps
