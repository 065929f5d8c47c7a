/// The program `track`, and `reconstruct` by tracking.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Track : public CommandLine {};

TEST_F(Track, LeavesARunThatVerifiesInAFreshProcess) {
  const std::string run = Path("run");
  const Outcome outcome = Execute(kTrack + " " + kWalkClip + " --end 1 --push trunk,20:0:0,0.3,0.1 --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("mean joint error"));
  for (const char* file : {"control.json", "tracking.csv", "trajectory.csv", "motion.bvh", "manifest.json"}) {
    EXPECT_TRUE(fs::exists(run + "/" + file)) << file;
  }
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  EXPECT_EQ(Execute(kTrack + " " + kWalkClip + " --end 1 --output " + run).code, 2);  // in use
  // The same bytes once more, and others from another start.
  const auto control = [&](const std::string& more) {
    const std::string other = Path("other");
    EXPECT_NE(Execute(kTrack + " " + kWalkClip + " --end 1 --push trunk,20:0:0,0.3,0.1 --force " + more + " --output " +
                      other)
                  .code,
              2);
    return io::ReadFile(other + "/control.json");
  };
  EXPECT_EQ(control(""), io::ReadFile(run + "/control.json"));
  EXPECT_NE(control("--perturbation 0.05"), io::ReadFile(run + "/control.json"));
}

TEST_F(Track, FollowsInAPlane) {
  const std::string run = Path("run"), planar = " --character planar_human";
  const Outcome outcome = Execute(kTrack + " " + kWalkClip + planar + " --end 1.5 --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("a planar character: the motion is put into the plane of its mean heading"));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  const results::Table motion = results::ReadTable(run + "/trajectory.csv");
  for (const char* column : {"root_x", "root_qy", "root_qz"}) {
    for (const double number : motion.Numbers(column)) EXPECT_EQ(number, 0) << column;
  }
  const Outcome stock = Execute(kTrack + " " + kWalkClip + planar + " --end 1.5 --solver stock --dry-run");
  EXPECT_EQ(stock.code, 0) << stock.text;
  const std::string sampled = Path("sampled");
  const Outcome search = Execute(kReconstruct + " " + kWalkClip + planar +
                                 " --end 1 --method sampling --samples 60 --saved 12 --output " + sampled);
  EXPECT_EQ(search.code, 0) << search.text;
  EXPECT_EQ(Execute(kReplay + " " + sampled + " --verify").code, 0);
  ExpectRefusals(kTrack, {{kWalkClip + planar + " --world beam10", 3, "a planar character"}});
}

TEST_F(Track, FollowsWithTheBodyOfTheRecordedPerson) {
  const std::string run = Path("run"), subject = " --character subject";
  const Outcome outcome = Execute(kTrack + " " + kWalkClip + subject + " --end 1 --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("the character is adult with the lengths of the skeleton: "));
  EXPECT_EQ(io::ReadJson(run + "/control.json")["character"]["name"], "subject");
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);

  std::string text = io::ReadFile(kWalkClip);
  for (const char* shin : {"OFFSET 0 -0.42 0", "OFFSET 0 -0.405 0"}) {
    for (size_t at = 0; (at = text.find(shin, at)) != std::string::npos;) {
      text.replace(at, std::string(shin).size(), "OFFSET 0 0 0");
    }
  }
  io::WriteFile(Path("legless.bvh"), text);
  ExpectRefusals(kTrack, {{Path("legless.bvh") + subject, 3, "legless.bvh: found legs of no length, expected"},
                          {kWalkClip + " --character subjects", 2, "subjects"}});
}

TEST_F(Track, RepeatsACycleForAsLongAsOneLikes) {
  for (const char* options : {"--loop 4", "--loop --seconds 4", "--seconds 4 --loop"}) {
    const Outcome outcome = Execute(kTrack + " --dry-run " + kWalkClip + " " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("walk.bvh: 4.00 s")) << options;
  }
  const Outcome part = Execute(kTrack + " --dry-run --start 0.5 --seconds 1 " + kWalkClip);
  EXPECT_THAT(part.text, HasSubstr("walk.bvh: 1.00 s"));
}

TEST_F(Track, FallsBelowTheGates) {
  const Outcome outcome =
      Execute(kTrack + " --dry-run --progress plain " + kWalkClip + " --push trunk,0:0:-900,0.2,0.3");
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("fell, "));
}

TEST_F(Track, AMotionWithinToleranceThatIsFarOffInTheWorldIsDoubtful) {
  const Outcome outcome =
      Execute(kTrack + " --dry-run --progress plain " + kWalkClip + " --end 1 --set /gates/world_position=0.005");
  EXPECT_EQ(outcome.code, 7) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("joint_position"));
  EXPECT_THAT(outcome.text, Not(HasSubstr("failed from")));
  EXPECT_THAT(outcome.text, HasSubstr("doubtful: the joints are more than 0.01 m from the reference in the world"));
}

/// The bundled trot of a quadruped.
TEST_F(Track, ABodyOfAnotherKindIsDoubtful) {
  const std::string trot = std::string(RETRACE_SOURCE_DIR) + "/data/clips/trot.bvh";
  const Outcome outcome = Execute(kTrack + " --dry-run --progress plain " + trot + " --end 0.8");
  EXPECT_EQ(outcome.code, 7) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("a body of other proportions"));
  EXPECT_EQ(Execute(kTrack + " --dry-run --progress plain " + trot + " --end 0.8 --character quadruped").code, 0);
}

TEST_F(Track, StopsOnASignalAndKeepsWhatItHas) {
  const std::string progress = Path("progress");
  const std::string run = Path("run");
  const Outcome outcome = Execute(Once(progress, "kill -s TERM $$") + "exec " + kTrack + " " + kWalkClip +
                                  " --loop 600 --progress json --output " + run + " 2>" + progress);
  EXPECT_EQ(outcome.code, 75);
  EXPECT_THAT(io::ReadFile(progress), HasSubstr("s of 600.00 s, which are in " + run));
  EXPECT_EQ(io::ReadJson(run + "/manifest.json")["status"], "stopped");
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
}

TEST_F(Track, RefusesWhatItCannotDo) {
  ExpectRefusals(
      kTrack, {{"", 2, "track: a clip is needed"},
               {kWalkClip + " --rate 0", 2, "--rate: found 0, expected a number from 1 to 1e+05"},
               {kWalkClip + " --loop never", 2, "--loop: found \"never\", expected nothing or a number, 0.1 to 1200"},
               {kWalkClip + " --seconds nan", 2, "--seconds"},
               {kWalkClip + " --push trunk,1:2,0,0.1", 2, "trunk,1:2,0,0.1"},
               {kWalkClip + " --push tail,1:2:3,0,0.1", 2, "tail"},
               {"missing.bvh", 3, "track: missing.bvh: "},
               {kClip + " --loop 5 --end 0.6", 3, "cycle"},
               {kWalkClip + " --set /tracking/feedback=none", 2, "/tracking/feedback"}});
}

TEST_F(Track, IsAMethodOfReconstruct) {
  const std::string command = kReconstruct + " " + kWalkClip + " --end 1 --samples 60 --saved 12 ";
  const auto used = [&](const std::string& run) { return io::ReadJson(run + "/manifest.json")["method"]["used"]; };
  ASSERT_EQ(Execute(command + "--method tracking --output " + Path("tracked")).code, 0);
  ASSERT_EQ(Execute(command + "--method auto --output " + Path("chosen")).code, 0);
  EXPECT_EQ(used(Path("tracked")), "tracking");
  EXPECT_EQ(used(Path("chosen")), "tracking");
  EXPECT_EQ(io::ReadFile(Path("tracked") + "/control.json"), io::ReadFile(Path("chosen") + "/control.json"));
  EXPECT_EQ(Execute(kReplay + " " + Path("chosen") + " --verify").code, 0);
  // Where the tracked motion exceeds the tolerances, another method takes over: here, because servos of no strength
  // cannot hold. On a moving platform, which parts do not know, that is the search.
  const std::string weak = command + "--method auto --set /run/baseline=reference --set /tracking/torque_limit=1 ";
  const Outcome parts = Execute(weak + "--output " + Path("parts"));
  EXPECT_EQ(parts.code, 0) << parts.text;
  EXPECT_NE(used(Path("parts")), "tracking");
  EXPECT_THAT(parts.text, HasSubstr(": the tracked motion fell after"));
  const Outcome fallen = Execute(weak + "--world platform --output " + Path("fallen"));
  EXPECT_EQ(fallen.code, 0) << fallen.text;
  EXPECT_THAT(fallen.text, HasSubstr("found by    sampling: the tracked motion fell after"));
  EXPECT_EQ(used(Path("fallen")), "sampling");
  ASSERT_EQ(
      Execute(command + "--method sampling --set /run/baseline=reference --world platform --output " + Path("sampled"))
          .code,
      0);
  EXPECT_EQ(io::ReadFile(Path("fallen") + "/control.json"), io::ReadFile(Path("sampled") + "/control.json"));
  ExpectRefusals(kReconstruct, {{kWalkClip + " --method guessing", 2, "--method"},
                                {kWalkClip + " --method tracking --variations 2 --output " + Path("many"), 2,
                                 "the method tracking for several controls"}});
}

TEST_F(Track, ListsOfEvaluateCanBeTracked) {
  const std::string list = Write("list.tsv", "clip\tend\tloop\tseeds\nwalk.bvh\t-\t3\t2\nstand.bvh\t1\t-\t2\n");
  const std::string clips = std::string(RETRACE_SOURCE_DIR) + "/data/clips";
  const Outcome outcome = Execute(kEvaluate + " " + list + " --clips " + clips +
                                  " --method tracking --set /tracking/perturbation=0.05 --output " + Path("out"));
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  const results::Table rows = results::ReadTable(fs::path(Path("out")) / "runs.csv");
  ASSERT_EQ(rows.num_rows(), 4u);
  for (size_t r = 0; r < rows.num_rows(); ++r) {
    EXPECT_EQ(rows.Text("method")[r], "tracking");
    EXPECT_EQ(rows.Text("main")[r], "1");
    EXPECT_EQ(rows.Text("replayed")[r], "1");
  }
  // Another seed is another start.
  EXPECT_NE(rows.Numbers("joint_error_mm")[0], rows.Numbers("joint_error_mm")[1]);
  EXPECT_EQ(Execute(kReplay + " " + Path("out") + "/runs/walk.1 --verify").code, 0);
  // What the tolerances must refuse, they refuse of tracked motions, too.
  const Outcome controls = Execute(kEvaluate + " " + list + " --clips " + clips + " --method tracking --only walk" +
                                   " --controls --output " + Path("controls"));
  EXPECT_EQ(controls.code, 0) << controls.text;
  EXPECT_THAT(controls.text, HasSubstr("4 of 4 negative controls refused"));
}

}  // namespace
}  // namespace retrace::apps
