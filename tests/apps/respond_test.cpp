/// The program `respond`.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "long_trials.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kBrief = " --seconds 1.5 --stand 0.3 --progress plain";
const std::string kFewSamples = kBrief + " --samples 100 --saved 20 --set /refinement/passes=0";

class RespondProgram : public CommandLine {
 protected:
  /// A walk that is hit, and a library of another walk and a stand.
  void SetUp() override {
    CommandLine::SetUp();
    walk_ = Path("walk");
    library_ = Path("library");
    ASSERT_EQ(Execute(kTrack + " " + kWalkClip + " --end 2.4 --output " + walk_).code, 0);
    const std::string clips = std::string(RETRACE_SOURCE_DIR) + "/data/clips/";
    fs::create_directories(Path("clips"));
    for (const char* name : {"walk.bvh", "stand.bvh"}) io::WriteFile(Path("clips/") + name, io::ReadFile(clips + name));
    ASSERT_EQ(Execute(kRecordingLibrary + " " + Path("clips") + " --output " + library_).code, 0);
  }
  std::string Respond(const std::string& push) const {
    return kRespond + " " + walk_ + " --library " + library_ + " --push " + push;
  }
  std::string Command(const std::string& push) const { return Respond(push) + kFewSamples; }
  /// A world with a ball of 3 kg.
  std::string Ball(const std::string& position, const std::string& velocity) const {
    const std::string file = Path("ball.json");
    io::WriteFile(file,
                  R"({"format": "retrace-world", "version": 1, "description": "a ball", "environment": {"bodies": [)"
                  R"({"name": "ball", "sphere": 0.12, "mass": 3, "position": )" +
                      position + R"(, "linear_velocity": )" + velocity + "}]}}");
    return file;
  }
  std::string walk_, library_;
};

TEST_F(RespondProgram, AThrownBallStrikes) {
  const std::string run = Path("run"), ball = Ball("[0, 1, 4.4]", "[0, 2.7, -6]");
  const Outcome outcome = Execute(kRespond + " " + walk_ + " --library " + library_ + " --world " + ball + kFewSamples +
                                  " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_FALSE(manifest.contains("pushes"));
  EXPECT_THAT(manifest["response"]["impact"]["what"].get<std::string>(), HasSubstr("ball, which meets "));
  EXPECT_GT(manifest["response"]["impact"]["start"].get<double>(), 0.2);
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
}

TEST_F(RespondProgram, LeavesARunThatTheOthersTake) {
  const std::string run = Path("run"), command = Command("trunk,0:0:-250,0.6,0.1");
  const Outcome outcome = Execute(command + " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("the run's own control exceeds the tolerances at "));
  EXPECT_THAT(outcome.text, HasSubstr(" m off: found\n"));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  EXPECT_EQ(Execute(kExport + " " + run + " --to all").code, 0);
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["program"], "respond");
  EXPECT_EQ(manifest["pushes"].size(), 1u);
  EXPECT_EQ(manifest["response"]["goes_on"], false);
  // Feedback leads it on from the end of the delay.
  const io::Json chosen = manifest["response"]["candidates"][manifest["response"]["chosen"].get<size_t>()];
  EXPECT_GE(chosen["feedback_from"].get<double>(), 0.75 - 1e-9);
  EXPECT_LT(chosen["feedback_from"].get<double>(), 0.6 + chosen["reached"].get<double>() - 0.2);
  const results::Table parts = results::ReadTable(run + "/composition.csv");
  EXPECT_EQ(parts.Text("event"), (std::vector<std::string>{"plan", "answer"}));
  const double exit = parts.Numbers("end")[0];
  EXPECT_NEAR(exit, 0.75, 0.005);  // 0.15 s after the beginning of the push
  const results::Table candidates = results::ReadTable(run + "/candidates.csv");
  const std::vector<double> found = candidates.Numbers("found"), starts = candidates.Numbers("start");
  EXPECT_EQ(std::count(found.begin(), found.end(), 1), 1);
  EXPECT_GE(*std::min_element(starts.begin(), starts.end()), 0.15);
  EXPECT_EQ(Execute(command + " --output " + run).code, 2);  // in use

  // The same impact without a response, as a run of its own: the same motion until the exit, and down by the end of it.
  const std::string limp = Path("limp");
  fs::create_directories(limp);
  fs::copy_file(run + "/ragdoll.json", limp + "/control.json");
  ASSERT_EQ(Execute(kReplay + " " + limp + " --output " + Path("ragdoll")).code, 0);
  ASSERT_EQ(Execute(kReplay + " " + Path("ragdoll") + " --verify").code, 0);
  const results::Table ragdoll = results::ReadTable(Path("ragdoll/trajectory.csv")),
                       active = results::ReadTable(run + "/trajectory.csv");
  const std::vector<double> times = active.Numbers("time"), heights = active.Numbers("root_y"),
                            limp_heights = ragdoll.Numbers("root_y");
  ASSERT_EQ(limp_heights.size(), heights.size());
  size_t same = 0;
  while (limp_heights[same] == heights[same]) ++same;
  EXPECT_NEAR(times[same], exit, 0.01);
  EXPECT_GT(heights.back(), 0.7);
  EXPECT_LT(limp_heights.back(), 0.4);

  // The same bytes on any number of threads; up to the exit, with all of the push before it, the run's own control.
  ASSERT_EQ(Execute(command + " --threads 1 --output " + Path("again")).code, 0);
  EXPECT_EQ(io::ReadFile(run + "/control.json"), io::ReadFile(Path("again/control.json")));
  ASSERT_EQ(Execute(kReplay + " " + walk_ + " --push trunk,0:0:-250,0.6,0.1 --output " + Path("pushed")).code, 4);
  std::istringstream response(io::ReadFile(run + "/trajectory.csv")), own(io::ReadFile(Path("pushed/trajectory.csv")));
  std::string line, expected;
  for (int row = 0; row <= 180; ++row) {  // the names, then the states up to 0.746 s
    std::getline(response, line);
    std::getline(own, expected);
    ASSERT_EQ(line, expected) << row;
  }
}

TEST_F(RespondProgram, FallsAndGetsUpWhereNothingLeadsOn) {
  const std::string get_up = std::string(RETRACE_SHARED_DIR) + "/mocap/clips/getup_prone_wd2.bvh";
  if (!LongTrials()) GTEST_SKIP() << "it takes half a CPU minute: RETRACE_LONG_TRIALS";
  if (!fs::exists(get_up)) GTEST_SKIP() << "no " << get_up;
  const std::string recordings = Path("get_ups"), library = Path("up"), run = Path("run");
  fs::create_directories(recordings);
  io::WriteFile(recordings + "/getup_prone_wd2.bvh", io::ReadFile(get_up));
  ASSERT_EQ(Execute(kRecordingLibrary + " " + recordings + " --output " + library).code, 0);
  const Outcome outcome = Execute(kRespond + " " + walk_ + " --library " + library +
                                  " --push trunk,0:0:450,0.6,0.1 --latest 0.3" + kFewSamples + " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("falls, and gets up: getup_prone_wd2"));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  const results::Table parts = results::ReadTable(run + "/composition.csv");
  EXPECT_EQ(parts.Text("event"), (std::vector<std::string>{"plan", "fall", "drive", "get_up"}));
  const std::vector<double> starts = parts.Numbers("start"), ends = parts.Numbers("end");
  for (size_t p = 1; p < starts.size(); ++p) EXPECT_EQ(starts[p], ends[p - 1]);
  const io::Json response = io::ReadJson(run + "/manifest.json")["response"];
  const io::Json chosen = response["candidates"][response["chosen"].get<size_t>()];
  EXPECT_NEAR(chosen["lies_at"].get<double>(), starts[2], 1e-9);
  EXPECT_NEAR(0.6 + chosen["start"].get<double>(), starts[3], 0.005);
}

TEST_F(RespondProgram, NoWindowIsNoCandidate) {
  // No frame of the library is between the earliest and the latest start time.
  const Outcome outcome =
      Execute(Respond("trunk,0:0:-250,0.6,0.1") + kBrief + " --open-loop --latest 0.28 --output " + Path("run"));
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("no motion of the library can be entered after the push"));
}

TEST_F(RespondProgram, GoesOnWithItsOwnControlWhereThatHolds) {
  const std::string run = Path("run");
  const Outcome outcome = Execute(Command("trunk,0:0:1,2,0.1") + " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("the run's own control stays within tolerance to its end under the push"));
  EXPECT_EQ(io::ReadJson(run + "/manifest.json")["response"]["goes_on"], true);
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  // A little longer, and an open loop falls: feedback leads on in its own motion.
  const Outcome searched = Execute(Command("trunk,0:0:20,0.6,0.1") + " --output " + Path("searched"));
  EXPECT_EQ(searched.code, 0) << searched.text;
  EXPECT_THAT(searched.text, HasSubstr("its own motion from 0.75 s on, 0.15 s after the push, "));
  EXPECT_EQ(results::ReadTable(Path("searched/composition.csv")).Text("control"),
            (std::vector<std::string>{"walk", "walk"}));
}

TEST_F(RespondProgram, AResponseIsStruckAgain) {
  const std::string first = Path("first"), second = Path("second");
  ASSERT_EQ(Execute(Command("trunk,0:0:-250,0.6,0.1") + " --output " + first).code, 0);
  const Outcome outcome = Execute(kRespond + " " + first + " --library " + library_ + " --push trunk,0:0:80,1.6,0.1" +
                                  kFewSamples + " --output " + second);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(io::ReadJson(second + "/manifest.json")["pushes"].size(), 2u);
  EXPECT_EQ(Execute(kReplay + " " + second + " --verify").code, 0);
}

TEST_F(RespondProgram, ARecordedMotionIsReconstructedFirst) {
  const std::string run = Path("run");
  const Outcome outcome = Execute(kRespond + " " + kWalkClip + " --end 2.4 --library " + library_ +
                                  " --push trunk,0:0:1,2,0.1" + kFewSamples + " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr(": within tolerance, 2.40 s in " + run + "-run\n"));
  EXPECT_EQ(Execute(kReplay + " " + run + "-run --verify").code, 0);
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  ExpectRefusals(kRespond, {{std::string(kWalkClip) + " --end 2.4 --library " + library_ +
                                 " --push trunk,0:0:1,2,0.1 --output " + run,
                             2, "run-run"}});
}

TEST_F(RespondProgram, WithoutTheSearchItFalls) {
  const std::string run = Path("run");
  // So long that its targets would not go into a single fragment of a control file.
  const Outcome outcome = Execute(kRespond + " " + walk_ + " --library " + library_ +
                                  " --push trunk,300:0:-300,0.6,0.1 --stand 9 --open-loop --output " + run);
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  // The tolerances say what is found, and until when it holds.
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["response"]["chosen"], -1);
  const results::Table candidates = results::ReadTable(run + "/candidates.csv");
  const std::vector<double> tried = candidates.Numbers("tried"), found = candidates.Numbers("found"),
                            up = candidates.Numbers("up"), reached = candidates.Numbers("reached");
  EXPECT_GE(std::count(tried.begin(), tried.end(), 1), 1);
  EXPECT_EQ(std::count(found.begin(), found.end(), 0), static_cast<int>(found.size()));
  EXPECT_EQ(std::count(up.begin(), up.end(), 0), static_cast<int>(up.size()));
  double left = 1e9;
  for (const io::Json& gate : manifest["evaluation"]["gates"]) {
    if (gate.contains("first_violation")) left = std::min(left, gate["first_violation"].get<double>());
  }
  EXPECT_NEAR(*std::max_element(reached.begin(), reached.end()), left - 0.6, 1e-9);
}

TEST_F(RespondProgram, AKinematicTransitionIsLabeledAndSmooth) {
  const std::string run = Path("run"), push = "trunk,0:0:-250,0.6,0.1";
  const Outcome outcome = Execute(Respond(push) + kBrief + " --transition kinematic --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("blended in, for an impulse of "));
  EXPECT_THAT(outcome.text, HasSubstr("  not physical: from "));
  const io::Json manifest = io::ReadJson(run + "/manifest.json"), blend = manifest["response"]["blend"];
  EXPECT_EQ(manifest["physical"], false);
  EXPECT_EQ(blend["kind"], "matched");
  EXPECT_NEAR(blend["hidden_impulse"].get<double>() / blend["hidden_share"].get<double>(), 25, 1e-6);
  EXPECT_LT(blend["position_jump"].get<double>(), 0.001);
  EXPECT_LT(blend["begin_velocity_jump"].get<double>(), 0.3);
  EXPECT_LT(blend["end_velocity_jump"].get<double>(), 0.3);
  EXPECT_EQ(results::ReadTable(run + "/composition.csv").Text("transition"),
            (std::vector<std::string>{"", "kinematic"}));
  const io::Json control = io::ReadJson(run + "/control.json");
  EXPECT_EQ(control["version"], 5);
  EXPECT_EQ(control["pushes"].size(), 1u);
  const double end = control["kinematic_ending"]["start"];
  EXPECT_EQ(end, blend["from"]);
  // After its beginning there is no force; until then it is the simulation that leads there, to the bit.
  for (const double time : results::ReadTable(run + "/contacts.csv").Numbers("time")) EXPECT_LE(time, end + 1e-9);
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kExport + " " + run + " --to all").code, 0);
  ASSERT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  EXPECT_THAT(io::ReadFile(Path("report.html")), HasSubstr("Not physical: after "));
  const std::string found = "found a motion with an end that is not simulated, expected a simulated one: ";
  ExpectRefusals(kReplay, {{run, 2, found + "only --verify and --track-only are of use"}});
  ExpectRefusals(kAddFeedback, {{run, 2, found + "feedback is along forces"}});
  ExpectRefusals(kRespond, {{run + " --library " + library_ + " --push trunk,0:0:9,1.6,0.1 --output " + Path("a"), 2,
                             found + "a response is simulated"}});
  // What is beside it is simulated to the end, and pushed likewise.
  const io::Json ragdoll = io::ReadJson(run + "/ragdoll.json");
  EXPECT_FALSE(ragdoll.contains("kinematic_ending"));
  EXPECT_EQ(ragdoll["pushes"], control["pushes"]);
  const io::Json& limp = ragdoll["fragments"].back();
  EXPECT_EQ(limp["gains"], io::Json::array({io::Json(std::vector<double>(limp["gains"][0].size(), 0.01))}));
  EXPECT_NEAR(limp["start"].get<double>() + limp["duration"].get<double>(),
              results::ReadTable(run + "/trajectory.csv").Numbers("time").back(), 1e-9);
  // The same bytes on any number of threads.
  ASSERT_EQ(Execute(Respond(push) + kBrief + " --transition kinematic --threads 1 --output " + Path("again")).code, 0);
  EXPECT_EQ(io::ReadFile(run + "/control.json"), io::ReadFile(Path("again/control.json")));

  // The paper's rule, from 0.1 s on, with its blend, which jumps.
  const std::string paper = Path("paper");
  const Outcome literal = Execute(Respond(push) + " --progress plain --paper --output " + paper);
  EXPECT_EQ(literal.code, 0) << literal.text;
  EXPECT_THAT(literal.text, HasSubstr("what differs from the paper: the second simulation has the friction of the run, "
                                      "0.80, not 0.5"));
  const io::Json of_paper = io::ReadJson(paper + "/manifest.json")["response"];
  EXPECT_EQ(of_paper["blend"]["kind"], "linear");
  EXPECT_EQ(of_paper["blend"]["from"].get<double>(), 0.6);
  EXPECT_LT(of_paper["blend"]["position_jump"].get<double>(), 0.001);
  EXPECT_GT(of_paper["blend"]["end_velocity_jump"].get<double>(), 0.5);
  const results::Table candidates = results::ReadTable(paper + "/candidates.csv");
  const std::vector<double> distances = candidates.Numbers("distance"), starts = candidates.Numbers("start");
  EXPECT_EQ(distances[0], *std::min_element(distances.begin(), distances.end()));
  EXPECT_NEAR(*std::min_element(starts.begin(), starts.end()), 0.1, 1e-9);
  EXPECT_EQ(candidates.Numbers("tried")[0], 1);
  EXPECT_EQ(Execute(kReplay + " " + paper + " --verify").code, 0);
}

TEST_F(RespondProgram, ThePushesAreInTheControl) {
  const std::string run = Path("run"), copy = Path("copy");
  ASSERT_EQ(Execute(Command("trunk,0:0:-250,0.6,0.1") + " --output " + run).code, 0);
  EXPECT_EQ(io::ReadJson(run + "/control.json")["version"], 5);
  // The control alone makes the motion, without its manifest.
  fs::create_directories(copy);
  io::WriteFile(copy + "/control.json", io::ReadFile(run + "/control.json"));
  ASSERT_EQ(Execute(kReplay + " " + copy + " --output " + Path("replayed")).code, 0);
  EXPECT_EQ(io::ReadFile(Path("replayed/trajectory.csv")), io::ReadFile(run + "/trajectory.csv"));
  EXPECT_EQ(io::ReadFile(Path("replayed/control.json")), io::ReadFile(run + "/control.json"));
  EXPECT_EQ(Execute(kReplay + " " + Path("replayed") + " --verify").code, 0);
  // One more push comes to it, and is of the manifest alone.
  Execute(kReplay + " " + run + " --push trunk,0:0:50,1.5,0.1 --output " + Path("pushed"));
  EXPECT_EQ(io::ReadJson(Path("pushed/manifest.json"))["pushes"].size(), 2u);
  EXPECT_EQ(io::ReadJson(Path("pushed/control.json"))["pushes"].size(), 1u);
  EXPECT_EQ(Execute(kReplay + " " + Path("pushed") + " --verify").code, 0);
  io::Json manifest = io::ReadJson(run + "/manifest.json");
  manifest["pushes"][0]["start"] = 0.7;
  io::WriteFile(run + "/manifest.json", manifest.dump());
  ExpectRefusals(kReplay, {{run, 3, "/pushes: found other pushes, expected those of the control first"}});
}

TEST_F(RespondProgram, KeepsWhatItHasWhereNoWayIsFound) {
  const std::string run = Path("run");
  const Outcome outcome =
      Execute(Command("trunk,900:0:0,0.6,0.1") + " --set /search/budget=40 --candidates 1 --output " + run);
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("no way found into 1 motions"));
  EXPECT_EQ(io::ReadJson(run + "/manifest.json")["status"], "partial");
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
}

TEST_F(RespondProgram, RefusesWhatItCannotUse) {
  const std::string push = " --push trunk,0:0:200,0.6,0.1", library = " --library " + library_,
                    output = " --output " + Path("run");
  const std::string far = Ball("[9, 0.2, 0]", "[0, 0, 0]");
  ASSERT_EQ(Execute(kRecordingLibrary + " " + Path("clips") + " --character slim --output " + Path("slim")).code, 0);
  ASSERT_EQ(Execute(Command("trunk,0:0:1,2,0.1") + " --output " + Path("pushed")).code, 0);
  ExpectRefusals(
      kRespond,
      {{walk_ + library + output, 2, "found neither, expected one"},
       {walk_ + library + push + " --world crates" + output, 2, "found both, expected one"},
       {walk_ + library + " --world ice" + output, 3, "found another ground or fixed things"},
       {walk_ + library + " --world vest" + output, 3, "found no body that moves freely"},
       {walk_ + library + " --world " + far + output, 3,
        "nothing that touches the character (of the centers, that of ball"},
       {walk_ + push + output, 2, "--library is required"},
       {Path("nothing") + library + push + output, 3, "nothing"},
       {walk_ + " --library " + Path("clips") + push + output, 3, "found no library.json"},
       {walk_ + " --library " + Path("slim") + push + output, 3,
        "found motions of the character slim, expected motions of that of "},
       {Path("pushed") + library + push + output, 2,
        "found the start 0.60 s, expected one after the run's own push trunk by 0:0:1 N from 2.00 to 2.10 s"},
       {walk_ + library + " --push tail,0:0:1,1,0.1" + output, 2, "push tail,0:0:1,1,0.1: found the body"},
       {walk_ + library + " --push trunk,0:0:1,9,0.1" + output, 2, "push trunk,0:0:1,9,0.1: found the start"},
       {walk_ + library + " --push trunk,1e6:0:0,0.1,0.5" + output, 3, "under which the simulation diverges"},
       {walk_ + library + push + " --latest 0.1" + output, 2, "--latest: found 0.10 s"},
       {walk_ + library + push + " --transition kinematic --open-loop" + output, 2,
        "found a kinematic transition and an open loop, expected one of the two"},
       {walk_ + library + push + " --transition quick" + output, 2, "--transition"},
       {walk_ + library + push + " --blend matched" + output, 2,
        "--blend matched has no effect here: it needs --transition kinematic"},
       {walk_ + library + push + " --paper --candidates 5" + output, 2, "--candidates has no effect here"},
       {walk_ + library + push + " --open-loop --samples 50" + output, 2,
        "--samples has no effect here: it needs no --open-loop"},
       {walk_ + library + push + " --paper --stand 1" + output, 2, "--stand has no effect here"},
       {walk_ + library + push + " --paper --blend matched" + output, 2, "--blend matched has no effect here"},
       {walk_ + library + push + " --start 1" + output, 2, "--start has no effect here"},
       {walk_ + library + push + " --after 1" + output, 2, "for a single character"},
       {walk_ + library + push + " --transition kinematic --seed 2" + output, 2, "--seed has no effect here"},
       {walk_ + library + push + " --set /simulation/friction=0.2" + output, 2,
        "--set /simulation/friction has no effect here: the world is that of the run"},
       {walk_ + library + push + " --candidates 0" + output, 2, "--candidates"},
       {walk_ + library + push + " --output " + walk_ + " --force", 5, "walk"}});
}

}  // namespace
}  // namespace retrace::apps
