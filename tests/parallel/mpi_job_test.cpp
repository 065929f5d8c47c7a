/// Whole MPI jobs, seen as a shell sees them: exit code, output, and that they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "retrace/parallel/mpi_session.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Ended {
  int exit_code;
  std::string output;
};

/// With `script` in the environment, as SCRIPT.
Ended Shell(const std::string& command, const std::string& script = "") {
  setenv("SCRIPT", script.c_str(), 1);
  std::FILE* pipe = popen(("timeout -k 5 60 " + command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), count);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output};
}

std::string Program(const std::string& scenario) {
  return std::string(RETRACE_MPI_JOB) + " '" + scenario + "'";
}

class MpiJob : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(RETRACE_MPIEXEC).empty()) GTEST_SKIP() << "mpirun is missing";
  }

  static Ended Run(int ranks, const std::string& scenario) {
    return Shell(std::string(RETRACE_MPIEXEC) + " -n " + std::to_string(ranks) + " " + Program(scenario));
  }

  /// A job of four with a timeout of half a second, in which one rank hangs.
  static void ExpectToEndByItself(const std::string& scenario, const std::string& rank, const std::string& why) {
    const Ended job = Run(4, scenario);
    EXPECT_EQ(job.exit_code, 75) << job.output;
    EXPECT_THAT(job.output, HasSubstr(rank + " ("));
    EXPECT_THAT(job.output, HasSubstr(") " + why));
  }
};

TEST_F(MpiJob, KnowsItsRanks) {
  const Ended job = Run(3, "who");
  EXPECT_EQ(job.exit_code, 0);
  for (const char* line : {"active 1, rank 0 of 3", "active 1, rank 1 of 3", "active 1, rank 2 of 3"}) {
    EXPECT_THAT(job.output, HasSubstr(line));
  }
}

/// Open MPI ends a job when another one makes the folder that they share at the same time.
TEST_F(MpiJob, SharesNoFolderWithAnotherJob) {
  const std::string folder = std::string(RETRACE_MPIEXEC) + " -n 1 printenv OMPI_MCA_orte_tmpdir_base";
  const Ended one = Shell(folder);
  const Ended other = Shell(folder);
  EXPECT_EQ(one.exit_code + other.exit_code, 0) << one.output << other.output;
  EXPECT_NE(one.output, other.output);
  for (const Ended& job : {one, other}) {
    EXPECT_FALSE(std::filesystem::exists(job.output.substr(0, job.output.find('\n')))) << "it is left behind";
  }
}

TEST_F(MpiJob, IsActiveWithOneRank) {
  EXPECT_THAT(Run(1, "who").output, HasSubstr("active 1, rank 0 of 1"));
}

TEST_F(MpiJob, EndsWellWhenAllGoesWell) {
  for (const int ranks : {1, 2, 4}) {
    const Ended job = Run(ranks, "all well");
    EXPECT_EQ(job.exit_code, 0) << job.output;
    EXPECT_EQ(job.output, "");
  }
}

TEST_F(MpiJob, EndsWithTheCodeOfATasksException) {
  const Ended job = Run(4, "task fails");
  EXPECT_EQ(job.exit_code, 3) << job.output;
  EXPECT_THAT(job.output, HasSubstr("rank 1 ("));
  EXPECT_THAT(job.output, HasSubstr("): bad character"));
}

TEST_F(MpiJob, EndsWithTheCodeOfItsMaster) {
  const Ended job = Run(3, "master fails");
  EXPECT_EQ(job.exit_code, 5) << job.output;
  EXPECT_THAT(job.output, HasSubstr("no place to write"));
}

TEST_F(MpiJob, EndsWithTheCodeOfAWorkerThatNeverServes) {
  const Ended job = Run(4, "worker fails");
  EXPECT_EQ(job.exit_code, 3) << job.output;
  EXPECT_THAT(job.output, HasSubstr("no file on this host"));
}

TEST_F(MpiJob, EndsWhenAnExceptionEscapesTheSession) {
  EXPECT_EQ(Run(3, "exception escapes").exit_code, 1);
}

TEST_F(MpiJob, EndsWhenAWorkerDies) {
  const Ended job = Run(4, "worker dies");
  EXPECT_THAT(job.output, HasSubstr("rank 1 with PID")) << "the launcher says so, and names its host";
  EXPECT_NE(job.exit_code, 0);
  EXPECT_NE(job.exit_code, 124) << "the job had to be ended by its time limit";
}

TEST_F(MpiJob, EndsWhenAWorkerHangs) {
  ExpectToEndByItself("worker hangs", "rank 2", "has not answered for 1 s");
}

TEST_F(MpiJob, EndsWhenAMemberOfAGroupHangs) {
  ExpectToEndByItself("member hangs", "rank 3", "has not answered for 1 s");
}

TEST_F(MpiJob, EndsWhenALeaderOfAGroupHangs) {
  ExpectToEndByItself("leader hangs", "rank 2", "has not answered for 1 s");
}

/// As batch systems do with a job that has to let another one pass.
TEST_F(MpiJob, OutlivesASuspensionThatIsLongerThanItsPatience) {
  const std::string script = std::string(RETRACE_MPIEXEC) + " -n 3 " + Program("suspended") + R"sh( & job=$!
ranks=
until [ "$(echo $ranks | wc -w)" = 3 ]; do
  sleep 0.1
  ranks=$(for child in $(cat /proc/$job/task/$job/children); do
    for rank in $(cat /proc/$child/task/$child/children); do [ "$(cat /proc/$rank/comm)" != mpi_job ] || echo $rank; done
  done 2>/dev/null)
done
sleep 0.6
kill -STOP $ranks && sleep 1.5 && kill -CONT $ranks && echo suspended
wait $job)sh";
  const Ended ended = Shell("sh -c \"$SCRIPT\"", script);
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_EQ(ended.output, "suspended\n") << "else the job ended before";
}

TEST_F(MpiJob, WaitsForAWorkerThatReportsWork) {
  const Ended job = Run(3, "worker is slow");
  EXPECT_EQ(job.exit_code, 0) << job.output;
  EXPECT_EQ(job.output, "all came back\n");
}

TEST_F(MpiJob, EndsWhenARankHangsBeforeItBegins) {
  ExpectToEndByItself("beginning hangs", "rank 2", "has not begun 1 s after rank 0");
}

TEST_F(MpiJob, EndsWhenARankHangsBeforeItLeaves) {
  ExpectToEndByItself("leaving hangs", "rank 2", "has not left 1 s after rank 0");
}

TEST(PlainProcess, IsAJobOfOne) {
  const Ended process = Shell(Program("who"));
  EXPECT_EQ(process.exit_code, 0);
  EXPECT_EQ(process.output, "active 0, rank 0 of 1\n");
  EXPECT_EQ(Shell(Program("all well")).exit_code, 0);
  EXPECT_EQ(Shell(Program("master fails")).exit_code, 5);
}

TEST(PlainProcess, IsNoPartOfAnotherMpisJob) {
  const Ended process = Shell("env PMI_SIZE=4 PMI_RANK=1 " + Program("all well"));
  EXPECT_EQ(process.exit_code, 2) << process.output;
  EXPECT_THAT(process.output, HasSubstr(MpiSession::built_with_mpi() ? "launcher of another MPI" : "without MPI"));
}

}  // namespace
}  // namespace retrace::parallel
