/// The files of a motion that comes in parts.
#include "retrace/runs/stored/run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "control/sample_control.h"
#include "retrace/io/file.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;
using character::Human;
using control::Standing;

class RunFilesTest : public testing::Test {
 protected:
  RunFilesTest() {
    std::string name = (fs::temp_directory_path() / "run-files-XXXXXX").string();
    base_ = ::mkdtemp(name.data());
  }
  ~RunFilesTest() override { fs::remove_all(base_); }

  /// Writes the motion of a control into a new folder, in parts of so many steps.
  fs::path Write(const control::OpenLoopControl& control, const std::string& name, size_t steps_per_part) const {
    const std::vector<character::Pose> poses(61, character::RestPose(Human()));
    const character::ReferenceMotion reference(Human(), 1.0 / 60, poses, 1.0 / 60);
    results::RunFolder folder(base_ / name, false);
    MotionWriter writer(folder, "",
                        {Human(), control.world, &reference, "standing", static_cast<size_t>(control.num_steps())});
    control::ReplayInParts(control::MakeScene(Human(), control), {}, steps_per_part,
                           [&](const control::Trajectory& part) { writer.Add(part); });
    writer.Finish();
    return base_ / name;
  }

  fs::path base_;
};

std::map<std::string, std::string> Contents(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::directory_iterator(folder)) {
    contents[entry.path().filename()] = io::ReadFile(entry.path());
  }
  return contents;
}

TEST_F(RunFilesTest, OfPartsHaveTheBytesOfTheWhole) {
  const control::OpenLoopControl control = Standing(13);  // the last part is shorter than the others
  const auto whole = Contents(Write(control, "whole", static_cast<size_t>(control.num_steps()) + 1));
  EXPECT_EQ(whole.size(), 10u);
  const size_t frame = results::StepsPerFrame(control.world.time_step);
  for (const size_t steps : {frame, 10 * frame, StepsPerPart(control.world.time_step)}) {
    const auto parts = Contents(Write(control, std::to_string(steps), steps));
    ASSERT_EQ(parts.size(), whole.size());
    for (const auto& [name, text] : whole) EXPECT_EQ(parts.at(name), text) << name << " in parts of " << steps;
  }
}

TEST_F(RunFilesTest, APartThatBeginsWithinAFrameOfThePressureMapIsRefused) {
  EXPECT_THROW(Write(Standing(2), "odd", 3), std::invalid_argument);
}

/// The largest memory that a child process has in use while it calls `work` [MB].
template <typename Work>
double MemoryOf(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  struct rusage usage {};
  EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// A minute of motion has 50 MB of states, contacts and torques, and more of pressure maps and tables; motion.bvh alone
// is kept as a text until its end, because it begins with the number of its frames.
TEST_F(RunFilesTest, WritingTakesTheMemoryOfAPartHoweverLongTheMotionIs) {
#ifdef RETRACE_SANITIZED
  GTEST_SKIP() << "sanitizers keep memory that was freed";
#endif
  const auto memory_of = [&](const std::string& name, int seconds) {
    const control::OpenLoopControl control = Standing(10 * seconds);
    return MemoryOf([&] { Write(control, name, StepsPerPart(control.world.time_step)); });
  };
  const double of_seconds = memory_of("seconds", 5);
  const double of_a_minute = memory_of("minute", 60);
  EXPECT_LT(of_a_minute - of_seconds, 20);
  const auto written = [&](const char* name) { return fs::file_size(base_ / name / "trajectory.csv"); };
  EXPECT_GT(written("minute"), 11 * written("seconds"));
}

}  // namespace
}  // namespace retrace::runs
