/// The same bytes from threads and from MPI ranks, and one message from all of them.
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>

#include "apps/command_line.h"

namespace retrace::apps {
namespace {

using testing::HasSubstr;
using testing::Not;

class Ranks : public CommandLine {
 protected:
  void SetUp() override {
    if (std::string(RETRACE_MPIEXEC).empty()) GTEST_SKIP() << "mpirun is missing";
    CommandLine::SetUp();
  }
  static Outcome Launch(int ranks, const std::string& arguments) {
    return Execute(kMpiRun + "-n " + std::to_string(ranks) + " " + kReconstruct + " " + arguments);
  }
};

TEST_F(Ranks, AreToldWhenASearchHasNoWorkForThem) {
  const auto launch = [&](const std::string& method) {
    return Launch(8, kClip + " --end 0.3 --samples 20 --saved 5 --check-continuation 0 --progress none --method " +
                         method + " --output " + Path(method));
  };
  const Outcome search = launch("sampling");
  EXPECT_THAT(search.text, HasSubstr("8 ranks are more than a search with 20 samples per iteration keeps at work"));
  EXPECT_THAT(search.text, HasSubstr("several controls, side by side"));
  EXPECT_THAT(launch("tracking").text, Not(HasSubstr("8 ranks")));
}

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

TEST_F(Ranks, GiveTheBytesOfThreadsByWindowsToo) {
  const std::string command =
      kWalkClip + " --end 0.6 --method trajectory --set /trajectory/budget=200 --progress none --output ";
  ASSERT_EQ(Execute(kReconstruct + " " + command + Path("threads") + " --threads 1").code, 0);
  const Outcome outcome = Launch(2, command + Path("ranks"));
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  for (const char* file : {"control.json", "windows.csv"}) {
    EXPECT_EQ(io::ReadFile(Path("ranks") + "/" + file), io::ReadFile(Path("threads") + "/" + file)) << file;
  }
}

TEST_F(Ranks, LeaveLogsOfWholeLines) {
  const std::string options = kClip + " --end 0.5 --method sampling --samples 60 --saved 12 --output " + Path("run");
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

TEST_F(Ranks, TakeTheBestOfTheSameSeedsAsThreads) {
  const std::string command =
      kClip + " --end 0.3 --method sampling --samples 40 --saved 8 --check-continuation 0 --best-of 3 ";
  const Outcome threads =
      Execute(kReconstruct + " " + command + "--progress plain --threads 2 --output " + Path("threads"));
  ASSERT_EQ(threads.code, 0) << threads.text;
  EXPECT_THAT(threads.text, HasSubstr("best of 3: "));
  const Outcome ranks = Launch(4, command + "--ranks-per-run 2 --progress none --output " + Path("ranks"));
  ASSERT_EQ(ranks.code, 0) << ranks.text;
  EXPECT_EQ(io::ReadFile(Path("ranks/control.json")), io::ReadFile(Path("threads/control.json")));
  const io::Json best = io::ReadJson(Path("threads/manifest.json"))["best_of"];
  ASSERT_EQ(best["tried"].size(), 3u);
  const std::string chosen = Path("threads") + "/tried/" + std::to_string(best["seed"].get<int>());
  EXPECT_EQ(io::ReadFile(Path("threads/control.json")), io::ReadFile(chosen + "/control.json"));
  for (const std::string& folder : {Path("threads"), chosen}) {
    EXPECT_EQ(Execute(kReplay + " " + folder + " --verify").code, 0) << folder;
  }
  // What was finished is not made again.
  const std::string tried = io::ReadFile(Path("threads/tried.csv"));
  ASSERT_EQ(Execute(kReconstruct + " " + command + "--resume --progress none --output " + Path("threads")).code, 0);
  EXPECT_EQ(io::ReadFile(Path("threads/tried.csv")), tried);
  ExpectRefusals(
      kReconstruct + " " + command + "--output " + Path("threads"),
      {{"", 2, "found a folder with files in it"}, {"--variations 2", 2, "--variations excludes --best-of"}});
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
      {kClip + " --nonsense", 2, "reconstruct: --nonsense: there is no such option"},
      {kClip + kSmall + "--output " + Path("full"), 2, "reconstruct: " + Path("full")},
      {Path("none.bvh"), 3, "reconstruct: " + Path("none.bvh")},
      {kClip + kSmall + "--set /gates/joint_position=1e-6 --set /search/max_back_offs=3 --output " + Path("run"), 4,
       ""},
      {kClip + kSmall + "--variations 2 --max-tries 1 --output " + Path("few"), 2,
       "reconstruct: found at most 1 tries"},
      {kClip + kSmall + "--variations 1 --set /gates/joint_position=1e-6 --set /search/max_back_offs=3 --output " +
           Path("none"),
       4, "reconstruct: found 0 of 1 variations"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = Launch(2, c.arguments);
    EXPECT_EQ(outcome.code, c.code) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(c.message));
    const size_t first = outcome.text.find("reconstruct: ");
    if (c.message.empty()) continue;
    EXPECT_EQ(outcome.text.find("reconstruct: ", first + 1), std::string::npos) << outcome.text;
  }
}

/// The process of a rank of the only job whose command line has `word` in it; 0 when there is none.
pid_t ProcessOfRank(int rank, const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto read = [&](const char* file) {
      std::ifstream stream(entry.path() / file, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    if (read("cmdline").find(word) == std::string::npos) continue;
    const std::string variable = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0';
    if (read("environ").find(variable) != std::string::npos) return std::stoi(name);
  }
  return 0;
}

/// Runs the command and stops one of its ranks, as a hanging disk would, as soon as there is that file.
Outcome HangRank(int rank, const std::string& file, const std::string& command, const std::string& word) {
  std::future<Outcome> outcome = std::async(std::launch::async, [&] { return Execute(command); });
  const auto running = [&] { return outcome.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout; };
  while (running() && !std::filesystem::exists(file)) continue;
  const pid_t process = ProcessOfRank(rank, word);
  EXPECT_GT(process, 0) << "the job ended before its rank was stopped";
  if (process > 0) kill(process, SIGSTOP);
  return outcome.get();
}

TEST_F(Ranks, EndWhenOneHangsAndGoOnLater) {
  const std::string options =
      kWalkClip + " --end 1 --method sampling --samples 300 --saved 40 --progress none --output ";
  const std::string run = Path("run");
  const std::string command = kMpiRun + "-n 2 " + kReconstruct + " " + options + run;
  const Outcome stopped = HangRank(1, run + "/checkpoint", command + " --rank-timeout 1", run);
  EXPECT_EQ(stopped.code, 75) << stopped.text;
  EXPECT_THAT(stopped.text,
              testing::ContainsRegex("reconstruct: rank 1 \\([^)]+\\) has not answered for 1 s: stopped"));
  ASSERT_EQ(Execute(command + " --resume").code, 0);
  ASSERT_EQ(Execute(kReconstruct + " " + options + Path("whole")).code, 0);
  EXPECT_EQ(io::ReadFile(run + "/control.json"), io::ReadFile(Path("whole/control.json")));
}

TEST_F(Ranks, EvaluateNamesOneThatHangs) {
  const std::string list = Write("list.tsv", "clip\tend\tseeds\nwalk.bvh\t1\t2\n");
  // Each rank has a run of its own, and rank 0 looks up when it has done its one.
  const std::string command =
      kMpiRun + "-n 2 " + kEvaluate + " " + list + " --clips " + RETRACE_SOURCE_DIR +
      "/data/clips --method sampling --samples 300 --saved 40 --ranks-per-run 1 --progress none --output " +
      Path("out");
  const Outcome stopped = HangRank(1, Path("out/runs/walk.2/checkpoint"), command + " --rank-timeout 1", Path("out"));
  EXPECT_EQ(stopped.code, 75) << stopped.text;
  EXPECT_THAT(stopped.text,
              testing::ContainsRegex("evaluate: rank 1 \\([^)]+\\) has not answered for [0-9]+ s: stopped, the same "
                                     "command resumes from"));
  const Outcome whole = Execute(command);
  EXPECT_EQ(whole.code, 0) << whole.text;
  EXPECT_TRUE(std::filesystem::exists(Path("out/runs/walk.2/control.json")));
}

TEST_F(Ranks, ThatReadOtherFilesDoNotBegin) {
  std::string clip = io::ReadFile(kClip);
  clip.replace(clip.find("0.0"), 3, "0.1");
  Write("squat.bvh", clip);
  const struct {
    std::string clip;
    std::string message;
  } cases[] = {
      {Path("none.bvh"), "reconstruct: rank 1 \\([^)]+\\): .*/none.bvh: cannot be opened"},
      {Path("squat.bvh"), "reconstruct: rank 1 \\([^)]+\\): /inputs/clip on rank 0 is \"[0-9a-f]+\", and here"}};
  for (const auto& c : cases) {
    const std::string rest = kSmall + "--output " + Path("run");
    const Outcome outcome = Execute(kMpiRun + "-n 1 " + kReconstruct + " " + kClip + rest + " : -n 1 " + kReconstruct +
                                    " " + c.clip + rest);
    EXPECT_EQ(outcome.code, 3) << outcome.text;
    EXPECT_THAT(outcome.text, testing::ContainsRegex(c.message));
    EXPECT_FALSE(std::filesystem::exists(Path("run")));
  }
}

TEST_F(Ranks, ThatUseAnotherSolverDoNotBegin) {
  const std::string rest = kSmall + "--output " + Path("run");
  const std::string alone = kReconstruct + " " + kClip + rest;
  const std::string failing = "env RETRACE_SOLVER_SELF_TEST=fail ";
  const Outcome refused = Execute(kMpiRun + "-n 1 " + alone + " : -n 1 " + failing + alone);
  EXPECT_EQ(refused.code, 3) << refused.text;
  EXPECT_THAT(
      refused.text,
      testing::ContainsRegex("reconstruct: rank 1 \\([^)]+\\): /solver on rank 0 is \"reduced\", and here \"stock\""));
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
  const std::string list = Write("list.tsv", "clip\tend\tseeds\nsquat.bvh\t0.2\t1\n");
  const std::string batch = kEvaluate + " " + list + " --clips " + RETRACE_SOURCE_DIR +
                            "/data/clips --method sampling --samples 40 --saved 8 --progress none --output " +
                            Path("out");
  const Outcome refused_batch = Execute(kMpiRun + "-n 1 " + batch + " : -n 1 " + failing + batch);
  EXPECT_EQ(refused_batch.code, 3) << refused_batch.text;
  EXPECT_THAT(refused_batch.text, HasSubstr("/solvers/0 on rank 0 is \"reduced\", and here \"stock\""));
}

}  // namespace
}  // namespace retrace::apps
