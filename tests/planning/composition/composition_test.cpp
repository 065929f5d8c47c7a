/// Controls that follow one another.
#include "retrace/planning/composition/composition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "long_trials.h"
#include "retrace/batches/library_making.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/control_file.h"
#include "retrace/control/cutting.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/jobs/composition_files.h"
#include "retrace/jobs/composition_job.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/jobs/reconstruction_files.h"
#include "retrace/metrics/posture.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;

/// A library of one walk, tracked: that takes a tenth of a second.
class Composing : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "composing-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    AddWalk("walk", 2.4);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void AddWalk(const std::string& name, double end) {
    JobOptions options;
    options.clip.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
    options.clip.end = end;
    options.configuration.run.method = Method::kTracking;
    const Job job(options);
    WriteRun(library() / name, job, Reconstruct(job, 1));
  }

  CompositionOptions Playing(std::vector<std::string> play) const {
    CompositionOptions options;
    options.library = library();
    options.play = std::move(play);
    options.configuration.sampling.samples = 100;
    options.configuration.sampling.selection.saved = 20;
    options.configuration.sampling.refinement.passes = 0;
    return options;
  }

  std::filesystem::path library() const { return folder_ / "library"; }
  std::filesystem::path folder_;
};

std::string TextOf(const CompositionJob& job, const Composition& result) {
  return control::FormatControl(job.problem.controls[0].run.scene.characters[0], result.control);
}

TEST_F(Composing, PlaysAControlTwiceAndReplaysToTheBit) {
  const CompositionJob job(Playing({"walk", "walk"}));
  const Composition result = Compose(job.problem, 1);
  EXPECT_EQ(result.ending, "completed");
  EXPECT_TRUE(result.success());
  ASSERT_EQ(result.parts.size(), 2u);
  EXPECT_GT(result.control.duration(), 3);
  EXPECT_LT(result.parts[1].distance, 0.3);
  EXPECT_EQ(TextOf(job, Compose(job.problem, 2)), TextOf(job, result));
  results::RunFolder folder(folder_ / "composed", false);
  WriteComposition(folder, job, result, {});
  const StoredRun stored(folder_ / "composed");
  EXPECT_EQ(Verify(stored).difference, "");
  EXPECT_EQ((*stored.manifest)["composition"]["parts"].size(), 2u);
  // Its own control goes on from there as it was only on paper.
  CompositionOptions plain = Playing({"walk", "walk"});
  plain.transition = Transition::kPlain;
  EXPECT_FALSE(Compose(CompositionJob(plain).problem, 1).success());
}

// With so few samples a part may end where nothing leads on.
TEST_F(Composing, WhereNothingLeadsOnEntersThePartBeforeAnew) {
  CompositionOptions options = Playing({"walk", "walk", "walk"});
  options.cuts = 2;
  options.configuration.sampling.samples = 6;
  options.configuration.sampling.selection.saved = 2;
  options.configuration.sampling.max_back_offs = 1;
  int went_back = 0;
  for (uint64_t seed = 1; seed <= 20 && went_back == 0; ++seed) {
    options.configuration.SetSeed(seed);
    const CompositionJob job(options);
    std::vector<CompositionPart> told;
    int taken_first = 0;
    CompositionHooks hooks;
    hooks.on_part = [&](const CompositionPart& part) { told.push_back(part); };
    hooks.on_back = [&](double time) {
      ++went_back;
      taken_first = told.back().tries;
      std::erase_if(told, [&](const CompositionPart& part) {
        return part.first_step * options.configuration.task.world.time_step >= time - 1e-9;
      });
      EXPECT_EQ(told.size(), 1u);
    };
    const Composition result = Compose(job.problem, 1, hooks);
    if (went_back == 0) continue;
    EXPECT_TRUE(result.success()) << result.ending;
    ASSERT_EQ(result.parts.size(), 3u);
    ASSERT_EQ(told.size(), 3u);
    for (size_t p = 0; p < 3; ++p) EXPECT_EQ(told[p].first_step, result.parts[p].first_step);
    EXPECT_NE(result.parts[1].tries, taken_first) << "another way than the one that was taken first";
    EXPECT_EQ(TextOf(job, Compose(job.problem, 3)), TextOf(job, result));
  }
  EXPECT_GT(went_back, 0);
}

// A part that stayed within tolerance, but ended far from where it was to end, had nothing that led on.
TEST_F(Composing, TakesTheWayThatEndsNearestTheEndOfItsControl) {
  CompositionOptions options = Playing({"walk", "walk"});
  options.cuts = 3;
  options.configuration.sampling.samples = 10;
  options.configuration.sampling.selection.saved = 4;
  options.configuration.sampling.max_back_offs = 1;
  int chosen = 0;
  for (uint64_t seed = 1; seed <= 20 && chosen == 0; ++seed) {
    options.configuration.SetSeed(seed);
    const CompositionJob job(options);
    std::vector<CompositionTry> found;
    CompositionHooks hooks;
    hooks.on_try = [&](const CompositionTry& tried) {
      if (tried.found) found.push_back(tried);
    };
    const Composition result = Compose(job.problem, 1, hooks);
    if (found.size() < 2) continue;
    ++chosen;
    const auto best = std::min_element(found.begin(), found.end(),
                                       [](const auto& a, const auto& b) { return a.end_distance < b.end_distance; });
    ASSERT_EQ(result.parts.size(), 2u);
    EXPECT_EQ(result.parts[1].first_step, best->exit_step);
    EXPECT_EQ(result.parts[1].cut_step, best->cut_step);
    const control::Trajectory motion = control::Replay(job.problem.controls[0].character(), result.control);
    EXPECT_NEAR(metrics::StateDistance(job.problem.controls[0].character(), motion.states.back(),
                                       job.problem.controls[0].states.back()),
                best->end_distance, 1e-12);
  }
  EXPECT_GT(chosen, 0);
}

TEST_F(Composing, AnswersAPushAFifthOfASecondLater) {
  CompositionOptions options = Playing({"walk"});
  options.pushes = {"trunk,0:0:-100,0.4,0.2"};
  const CompositionJob job(options);
  const LibraryControl& walk = job.problem.controls[0];
  const Composition result = Compose(job.problem, 1);
  EXPECT_TRUE(result.success()) << result.ending;
  ASSERT_EQ(result.parts.size(), 2u);
  const double h = walk.control.world.time_step;
  EXPECT_EQ(result.parts[1].event, CompositionEvent::kAnswer);
  EXPECT_GE(result.parts[1].first_step * h, 0.6);
  EXPECT_LT(result.parts[1].first_step * h, 0.75);
  // Until then the plan is what it was.
  for (size_t f = 0; result.control.fragments[f].end_step() <= result.parts[1].first_step; ++f) {
    const control::Fragment &now = result.control.fragments[f], &before = walk.control.fragments[f];
    ASSERT_EQ(now.first_step, before.first_step);
    ASSERT_EQ(now.commands.size(), before.commands.size());
    for (size_t i = 0; i < now.commands.size(); ++i) ASSERT_EQ(now.commands[i][0].torque, before.commands[i][0].torque);
  }
  // The control alone does not get over it.
  const control::Trajectory open = control::Replay(walk.character(), walk.control, job.problem.pushes);
  EXPECT_FALSE(metrics::Evaluate(walk.character(), open, *walk.run.characters[0].reference, walk.control.duration(),
                                 walk.run.characters[0].gates)
                   .success());
}

// It was passed over: the first control ends before an answer, and the second one begins before the push.
TEST_F(Composing, AnswersAPushThatBeginsAtTheVeryEndOfAPart) {
  CompositionOptions options = Playing({"walk", "walk"});
  options.pushes = {"trunk,0:0:-100,2.3,0.2"};
  const CompositionJob job(options);
  const Composition result = Compose(job.problem, 1);
  EXPECT_TRUE(result.success()) << result.ending;
  ASSERT_EQ(result.parts.size(), 3u);
  EXPECT_LT(result.parts[1].first_step, result.parts[2].first_step);
  EXPECT_EQ(result.parts[2].event, CompositionEvent::kAnswer);
  EXPECT_GE(result.parts[2].first_step * job.problem.controls[0].control.world.time_step, 2.5);
}

TEST_F(Composing, AKinematicTransitionIsLabeledAndReplaysToTheBit) {
  CompositionOptions options = Playing({"walk", "walk"});
  options.transition = Transition::kKinematic;
  const CompositionJob job(options);
  const Composition result = Compose(job.problem, 1);
  EXPECT_EQ(result.ending, "completed");
  ASSERT_EQ(result.parts.size(), 2u);
  EXPECT_EQ(result.num_kinematic(), 1u);
  EXPECT_EQ(result.parts[1].transition, Transition::kKinematic);
  EXPECT_GT(result.parts[1].hidden_impulse, 0);
  EXPECT_EQ(result.control.transitions[0].step, result.parts[1].first_step);
  EXPECT_THAT(FormatComposition(job, result), HasSubstr(",plan,kinematic,"));
  results::RunFolder folder(folder_ / "composed", false);
  WriteComposition(folder, job, result, {});
  const StoredRun stored(folder_ / "composed");
  EXPECT_EQ(Verify(stored).difference, "");
  EXPECT_EQ((*stored.manifest)["physical"], false);
  EXPECT_EQ((*stored.manifest)["composition"]["transition"], "kinematic");
  EXPECT_THROW(stored.RequirePhysical("of a test"), UsageError);
  // It is not part of any further composition, and what the others make is physical.
  EXPECT_THROW(ReadLibraryControl(folder_ / "composed"), UsageError);
  CompositionOptions plain = Playing({"walk", "walk"});
  plain.transition = Transition::kPlain;
  EXPECT_EQ(Compose(CompositionJob(plain).problem, 1).num_kinematic(), 0u);
}

/// A walk and a get-up from the belly, both searched; made once, and left out where the recording is not there.
class ComposingFalls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string get_up = std::string(RETRACE_SHARED_DIR) + "/mocap/clips/getup_facedown_dm.bvh";
    if (!std::filesystem::exists(get_up)) return;
    std::string name = (std::filesystem::temp_directory_path() / "composing-falls-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    io::WriteFile(folder_ / "list.tsv", "clip\tname\tend\n" + get_up + "\tget_up\t-\n" + RETRACE_SOURCE_DIR +
                                            "/data/clips/walk.bvh\twalk\t2.2\n");
    LibraryOptions options;
    options.list = folder_ / "list.tsv";
    options.output = folder_ / "library";
    options.job.configuration.run.method = Method::kSampling;
    options.job.configuration.sampling.refinement.passes = 0;
    options.samples = 60;
    options.saved = 12;
    MakeLibrary(options);
  }
  static void TearDownTestSuite() {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  void SetUp() override {
    if (folder_.empty()) GTEST_SKIP() << "there is no ../shared/mocap";
  }

  /// Pushed so hard that no cut is near.
  CompositionOptions Pushed() const {
    CompositionOptions options;
    options.library = folder_ / "library";
    options.play = {"walk"};
    options.pushes = {"trunk,0:0:400,0.4,0.2"};
    options.break_falls = {"none"};
    options.configuration.sampling.samples = 100;
    options.configuration.sampling.selection.saved = 20;
    options.configuration.sampling.refinement.passes = 0;
    return options;
  }

  static std::vector<CompositionEvent> EventsOf(const Composition& result) {
    std::vector<CompositionEvent> events;
    for (const CompositionPart& part : result.parts) events.push_back(part.event);
    return events;
  }

  static void ExpectFallAndGetUp(const CompositionJob& job, const Composition& result) {
    ASSERT_EQ(EventsOf(result), (std::vector{CompositionEvent::kPlan, CompositionEvent::kFall, CompositionEvent::kDrive,
                                             CompositionEvent::kGetUp, CompositionEvent::kResume}));
    const double h = result.control.world.time_step;
    const control::Trajectory motion = control::Replay(job.problem.controls[0].character(), result.control);
    const auto share = [&](int step) {
      const auto root = static_cast<size_t>(job.problem.controls[0].character().root);
      return motion.states[static_cast<size_t>(step)][root].position.y() /
             job.problem.controls[0].character().bodies[root].rest_position.y();
    };
    EXPECT_GE(result.parts[1].first_step * h, 0.6);  // not before the push has ended
    EXPECT_LT(share(result.parts[2].first_step), kLowRoot);
    EXPECT_GT(share(result.control.num_steps()), kStandingRoot);
    // The servos of a falling character are weak, and stronger in the transition to the get-up.
    const auto gain_at = [&](int step) {
      for (const control::Fragment& fragment : result.control.fragments) {
        if (step < fragment.first_step || step >= fragment.end_step() || !fragment.has_commands()) continue;
        return fragment.commands[static_cast<size_t>(step - fragment.first_step)][0].gain;
      }
      return 1.0;
    };
    EXPECT_LT(gain_at(result.parts[1].first_step), 0.5);
    EXPECT_GT(gain_at(result.parts[3].first_step - 1), 0.9);
  }

  inline static std::filesystem::path folder_;
};

TEST_F(ComposingFalls, WhoIsPushedHardFallsRestsGetsUpAndGoesOn) {
  if (!LongTrials()) GTEST_SKIP() << "it takes more than a CPU minute: RETRACE_LONG_TRIALS";
  const CompositionJob job(Pushed());
  ASSERT_EQ(job.problem.get_ups.size(), 1u);
  const Composition result = Compose(job.problem, 1);
  EXPECT_EQ(result.ending, "completed");
  EXPECT_TRUE(result.success());
  ExpectFallAndGetUp(job, result);
  results::RunFolder folder(folder_ / "composed", false);
  WriteComposition(folder, job, result, {});
  EXPECT_EQ(Verify(StoredRun(folder_ / "composed")).difference, "");
}

TEST_F(ComposingFalls, AFallingBodyEntersAControlWhoseCutIsNear) {
  CompositionOptions options = Pushed();
  options.transition = Transition::kKinematic;
  options.break_falls = {"get_up"};
  const CompositionJob job(options);
  ASSERT_EQ(job.problem.break_falls.size(), 1u);
  std::vector<CompositionEvent> told;
  CompositionHooks hooks;
  hooks.on_part = [&](const CompositionPart& part) { told.push_back(part.event); };
  const Composition result = Compose(job.problem, 1, hooks);
  EXPECT_EQ(result.ending, "completed");
  const std::vector<CompositionEvent> events = EventsOf(result);
  ASSERT_EQ(events, (std::vector{CompositionEvent::kPlan, CompositionEvent::kFall, CompositionEvent::kBreakFall,
                                 CompositionEvent::kResume}));
  EXPECT_EQ(told, events);  // each part is reported once
  // It is entered while the body still moves.
  const control::Trajectory motion = control::Replay(job.problem.controls[0].character(), result.control);
  const character::State& entered = motion.states[static_cast<size_t>(result.parts[2].first_step)];
  EXPECT_GT(character::CenterOfMassVelocity(job.problem.controls[0].character(), entered).norm(), 0.3);
  EXPECT_THAT(FormatComposition(job, result), HasSubstr(",break_fall,kinematic,"));

  options.break_falls = {"dance"};
  EXPECT_THROW(CompositionJob{options}, UsageError);
  options.break_falls = {"get_up"};
  options.pushes.clear();
  EXPECT_THROW(CompositionJob{options}, UsageError);
}

TEST_F(ComposingFalls, KinematicallyTheGetUpIsBlendedIn) {
  CompositionOptions options = Pushed();
  options.transition = Transition::kKinematic;
  options.break_falls.clear();
  options.get_ups = {"get_up"};
  const CompositionJob job(options);
  const Composition result = Compose(job.problem, 1);
  EXPECT_EQ(result.ending, "completed");
  ExpectFallAndGetUp(job, result);
  EXPECT_EQ(result.num_kinematic(), 2u);
  results::RunFolder folder(folder_ / "kinematic", false);
  WriteComposition(folder, job, result, {});
  EXPECT_EQ(Verify(StoredRun(folder_ / "kinematic")).difference, "");

  // A character that lies where another run ends gets up from there; the pushes of that run stay in the control.
  control::OpenLoopControl fallen = result.control;
  fallen.fragments = control::Truncate(result.parts[2].first_step, fallen.fragments);
  fallen.transitions.clear();  // all of them come later
  std::filesystem::create_directories(folder_ / "fallen");
  io::WriteFile(folder_ / "fallen/control.json", control::FormatControl(job.problem.controls[0].character(), fallen));
  options.begin = folder_ / "fallen";
  options.pushes.clear();
  const CompositionJob from_there(options);
  EXPECT_EQ(from_there.problem.num_begun, 1u);
  const Composition risen = Compose(from_there.problem, 1);
  EXPECT_EQ(risen.ending, "completed");
  EXPECT_EQ(EventsOf(risen), (std::vector{CompositionEvent::kPlan, CompositionEvent::kFall, CompositionEvent::kDrive,
                                          CompositionEvent::kGetUp, CompositionEvent::kResume}));
  EXPECT_EQ(risen.control.pushes.size(), 1u);
  const control::Trajectory again = control::Replay(job.problem.controls[0].character(), risen.control);
  const auto steps = static_cast<size_t>(fallen.num_steps());
  const control::Trajectory first = control::Replay(job.problem.controls[0].character(), fallen);
  EXPECT_EQ(control::Fingerprint(again.states[steps]), control::Fingerprint(first.states[steps]));
}

/// A list with the bundled walk, in a folder of its own.
class MakingLibraries : public Composing {
 protected:
  LibraryOptions Options(const std::string& rows) const {
    const std::filesystem::path list = folder_ / "list.tsv";
    io::WriteFile(list, "clip\tname\tend\n" + rows);
    LibraryOptions options;
    options.list = list;
    options.clips = std::string(RETRACE_SOURCE_DIR) + "/data/clips";
    options.output = folder_ / "made";
    options.job.configuration.run.method = Method::kTracking;
    options.seeds = 1;
    return options;
  }
  std::string MessageOf(const std::string& index) const {
    io::WriteFile(folder_ / "made" / kLibraryFile, index);
    CompositionOptions options = Playing({"walk", "walk"});
    options.library = folder_ / "made";
    try {
      const CompositionJob job(options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(MakingLibraries, IsPortableAndHoldsItsControlsByHash) {
  const LibraryOptions options = Options("walk.bvh\twalk\t2.4\nwalk.bvh\tshort\t1.0\n");
  int made = 0;
  const MadeLibrary library = MakeLibrary(options, [&](const results::RunRow&) { ++made; });
  EXPECT_EQ(library.Judge(), ExitCode::kSuccess);
  ASSERT_EQ(library.index.controls.size(), 2u);
  EXPECT_EQ(library.index.controls[0].name, "short");
  EXPECT_TRUE(library.index.controls[0].cuts.empty());  // shorter than what must be left
  EXPECT_EQ(library.index.controls[1].cuts.size(), 10u);
  EXPECT_EQ(made, 2);
  MakeLibrary(options, [&](const results::RunRow&) { ++made; });
  EXPECT_EQ(made, 2);  // what is there stays
  std::filesystem::rename(folder_ / "made", folder_ / "moved");
  CompositionOptions playing = Playing({"walk", "walk"});
  playing.library = folder_ / "moved";
  EXPECT_EQ(CompositionJob(playing).problem.controls.size(), 1u);
  std::filesystem::rename(folder_ / "moved", folder_ / "made");

  const std::string text = io::ReadFile(folder_ / "made" / kLibraryFile);
  EXPECT_EQ(MessageOf(text), "");
  const io::Json index = io::ParseJson(text, "library.json");
  const auto changed = [&](const std::string& pointer, const io::Json& value) {
    io::Json other = index;
    other[io::Json::json_pointer(pointer)] = value;
    return MessageOf(other.dump());
  };
  EXPECT_THAT(changed("/character/sha256", "0"), HasSubstr("another character, expected that of"));
  EXPECT_THAT(changed("/world/sha256", "0"), HasSubstr("another world, expected that of"));
  EXPECT_THAT(changed("/controls/1/sha256", "0"), HasSubstr("walk/control.json: found another control, expected that"));
  EXPECT_THAT(changed("/controls/1/cuts/3/state", "0"), HasSubstr("other bits at its cut at 0.30 s"));
  EXPECT_THAT(changed("/controls/1/cuts/3/time", 1.5),
              HasSubstr("/controls/1/cuts/3/time: found a cut with 0.90 s of its control left, expected one with a "
                        "continuation of 1.5 s at least"));
  EXPECT_THAT(changed("/controls", io::Json::array()),
              HasSubstr("/controls: found an array of 0, expected at least one"));
  EXPECT_THAT(changed("/controls/1/name", "../walk"), HasSubstr("expected the name of a sub-folder"));
  EXPECT_THAT(changed("/controls/1/name", "short"), HasSubstr("expected a name that no other control has"));
  EXPECT_THAT(changed("/format", "x"), HasSubstr("expected \"retrace-library\""));
}

TEST_F(MakingLibraries, RefusesAFolderOfOthersAndControlsThatCannotFollow) {
  std::filesystem::create_directories(folder_ / "made");
  io::WriteFile(folder_ / "made" / "letter.txt", "");
  const LibraryOptions options = Options("walk.bvh\twalk\t2\n");
  EXPECT_THROW(MakeLibrary(options), UsageError);
  std::filesystem::remove(folder_ / "made" / "letter.txt");
  io::WriteFile(options.list, "clip\tname\tend\tcharacter\nwalk.bvh\twalk\t1.2\thuman\nwalk.bvh\tother\t1.2\tadult\n");
  EXPECT_THROW(MakeLibrary(options), InputError);
  io::WriteFile(options.list, "clip\tname\nnone.bvh\twalk\n");
  const MadeLibrary none = MakeLibrary(options);
  EXPECT_EQ(none.Judge(), ExitCode::kBelowGate);
  EXPECT_THAT(none.rows.at(0).message, HasSubstr("none.bvh is missing"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "made" / kLibraryFile));
}

TEST_F(Composing, RefusesWhatCannotFollow) {
  const auto message = [](const CompositionOptions& options) -> std::string {
    try {
      const CompositionJob job(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(Playing({"walk", "dance"})), HasSubstr("play: found \"dance\", expected one of walk"));
  EXPECT_THAT(message(Playing({})), HasSubstr("play: found no name"));
  AddWalk("short", 0.8);
  EXPECT_THAT(message(Playing({"walk", "short"})), HasSubstr("too short to go on with"));
  JobOptions heavy;
  heavy.clip.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
  heavy.character = "adult";
  heavy.configuration.run.method = Method::kTracking;
  const Job job(heavy);
  WriteRun(library() / "adult", job, Reconstruct(job, 1));
  EXPECT_THAT(message(Playing({"walk", "adult"})), HasSubstr("another character"));
  CompositionOptions empty = Playing({"walk"});
  empty.library = folder_;
  EXPECT_THAT(message(empty), HasSubstr("no run, expected a sub-folder with a control.json"));
  CompositionOptions pushed = Playing({"walk"});  // then all of the library is read
  pushed.pushes = {"trunk,0:0:100,0.4,0.2"};
  EXPECT_THAT(message(pushed), HasSubstr("another character"));
  CompositionOptions every = Playing({"walk"});
  every.push_every = "trunk,300,10,0.2";
  EXPECT_THAT(message(every), HasSubstr("found no seconds"));
  CompositionOptions rising = Playing({"walk"});
  rising.get_ups = {"walk"};
  EXPECT_THAT(message(rising), HasSubstr("get_ups: found no push"));
  every.seconds = 20;
  every.push_every = "trunk,300,0.1,0.2";
  EXPECT_THAT(message(every), HasSubstr("expected BODY,NEWTON,INTERVAL,DURATION"));
}

TEST_F(Composing, TellsWhenNothingInTheLibraryGetsUp) {
  CompositionOptions options = Playing({"walk"});
  options.pushes = {"trunk,4000:0:0,0.4,0.2"};
  options.cuts = 1;
  options.configuration.sampling.samples = 4;
  options.configuration.sampling.selection.saved = 2;
  options.configuration.sampling.budget = 20;
  const CompositionJob job(options);
  EXPECT_TRUE(job.problem.get_ups.empty());
  const Composition result = Compose(job.problem, 1);
  EXPECT_FALSE(result.success());
  EXPECT_THAT(result.ending, HasSubstr("0.40 s, and the library has no get-up"));
}

TEST_F(Composing, PushesAtIntervalsAreAFunctionOfTheSeed) {
  CompositionOptions options = Playing({"walk"});
  options.seconds = 25;
  options.push_every = "trunk,300,10,0.2";
  const CompositionJob job(options), again(options);
  options.configuration.sampling.seed = 2;
  const CompositionJob other(options);
  ASSERT_EQ(job.problem.pushes.size(), 2u);
  for (size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(job.problem.pushes[p].start, 10.0 * static_cast<double>(p + 1));
    EXPECT_NEAR(job.problem.pushes[p].force.norm(), 300, 1e-9);
    EXPECT_EQ(job.problem.pushes[p].force, again.problem.pushes[p].force);
    EXPECT_NE(job.problem.pushes[p].force, other.problem.pushes[p].force);
  }
  EXPECT_NE(job.problem.pushes[0].force, job.problem.pushes[1].force);
}

}  // namespace
}  // namespace retrace::runs
