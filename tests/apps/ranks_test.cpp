/// The same bytes from threads and from MPI ranks, and one message from all of them.
#include <sstream>

#include "apps/command_line.h"

namespace retrace::apps {
namespace {

class Ranks : public CommandLine {
 protected:
  void SetUp() override {
    if (std::string(RETRACE_MPIEXEC).empty()) GTEST_SKIP() << "mpirun is missing";
    CommandLine::SetUp();
  }
  static Outcome Launch(int ranks, const std::string& arguments) {
    // Containers run as root, have fewer cores than ranks and forbid reading another process's memory.
    return Execute(
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
        "OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none timeout -k 5 100 " +
        std::string(RETRACE_MPIEXEC) + " -n " + std::to_string(ranks) + " " + kReconstruct + " " + arguments);
  }
};

TEST_F(Ranks, GiveTheBytesOfThreads) {
  const std::string threads = SmallRun("threads", "--threads 1");
  for (const int ranks : {1, 2, 4}) {
    const std::string run = Path(std::to_string(ranks));
    const Outcome outcome = Launch(ranks, kClip + kSmall + "--output " + run);
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_EQ(outcome.text, "");
    for (const char* file : {"control.json", "trajectory.csv", "contacts.csv", "costs.csv"}) {
      EXPECT_EQ(io::ReadFile(run + "/" + file), io::ReadFile(threads + "/" + file))
          << file << ", " << ranks << " ranks";
    }
    EXPECT_EQ(io::ReadJson(run + "/manifest.json")["workers"], (io::Json{{"kind", "ranks"}, {"count", ranks}}));
  }
  EXPECT_EQ(Execute(kReplay + " " + Path("4") + " --verify").code, 0);
}

TEST_F(Ranks, LeaveLogsOfWholeLines) {
  const std::string options = kClip + " --end 0.5 --samples 60 --saved 12 --output " + Path("run");
  const Outcome json = Launch(2, options + " --progress json");
  ASSERT_EQ(json.code, 0) << json.text;
  std::istringstream lines(json.text);
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const io::Json record = io::ParseJson(line, "line");
    EXPECT_EQ(record.at("iteration"), count) << "one line per iteration, from rank 0 alone";
    EXPECT_GT(record.at("samples_per_second"), 0);
  }
  EXPECT_EQ(count, io::ReadJson(Path("run/manifest.json"))["search"]["distinct_saved"].size());
  const Outcome plain = Launch(2, options + " --force");
  ASSERT_EQ(plain.code, 0) << plain.text;
  EXPECT_EQ(plain.text.find('\r'), std::string::npos) << "no bar in a file";
  size_t fragments = 0;
  for (size_t at = 0; (at = plain.text.find("fragment ", at)) != std::string::npos; ++at) ++fragments;
  EXPECT_EQ(fragments, count);
}

TEST_F(Ranks, FindTheVariationsOfThreads) {
  const std::string threads = Path("threads");
  const std::string arguments = kWalkClip + kSmall + "--variations 2 --output ";
  ASSERT_EQ(Execute(kReconstruct + " " + arguments + threads + " --threads 1").code, 0);
  const std::string ranks = Path("ranks");
  const Outcome outcome = Launch(2, arguments + ranks);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.text, "");
  for (const char* file : {"variations.csv", "spread.csv", "1/control.json", "2/control.json", "2/costs.csv"}) {
    EXPECT_EQ(io::ReadFile(ranks + "/" + file), io::ReadFile(threads + "/" + file)) << file;
  }
  EXPECT_NE(io::ReadFile(ranks + "/1/control.json"), io::ReadFile(ranks + "/2/control.json"));
  EXPECT_EQ(io::ReadJson(ranks + "/2/manifest.json")["workers"], (io::Json{{"kind", "ranks"}, {"count", 2}}));
}

TEST_F(Ranks, EndWithTheCodeAndOneMessage) {
  std::filesystem::create_directories(Path("full"));
  Write("full/notes.txt", "mine");
  const struct {
    std::string arguments;
    int code;
    std::string message;
  } cases[] = {
      {kClip + " --nonsense", 2, "reconstruct: The following argument was not expected: --nonsense"},
      {kClip + kSmall + "--output " + Path("full"), 2, "reconstruct: " + Path("full")},
      {Path("none.bvh"), 3, "reconstruct: " + Path("none.bvh")},
      {kClip + kSmall + "--set /gates/joint_position=1e-6 --set /search/max_rewinds=3 --output " + Path("run"), 4, ""},
      {kClip + kSmall + "--variations 2 --max-tries 1 --output " + Path("few"), 2, "reconstruct: found --max-tries 1"},
      {kClip + kSmall + "--variations 1 --set /gates/joint_position=1e-6 --set /search/max_rewinds=3 --output " +
           Path("none"),
       4, "reconstruct: found 0 of 1 variations"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = Launch(2, c.arguments);
    EXPECT_EQ(outcome.code, c.code) << outcome.text;
    EXPECT_THAT(outcome.text, testing::HasSubstr(c.message));
    const size_t first = outcome.text.find("reconstruct: ");
    if (c.message.empty()) continue;
    EXPECT_EQ(outcome.text.find("reconstruct: ", first + 1), std::string::npos) << outcome.text;
  }
}

}  // namespace
}  // namespace retrace::apps
