/// Controls that follow one another.
#include "retrace/runs/composition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/runs/reconstruction.h"

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
    options.configuration.sampling.smoothing.passes = 0;
    return options;
  }

  std::filesystem::path library() const { return folder_ / "library"; }
  std::filesystem::path folder_;
};

std::string TextOf(const CompositionJob& job, const Composition& result) {
  return control::FormatControl(job.controls[0].run.scene.characters[0], result.control);
}

TEST_F(Composing, PlaysAControlTwiceAndReplaysToTheBit) {
  const CompositionJob job(Playing({"walk", "walk"}));
  const Composition result = Compose(job, 1);
  EXPECT_EQ(result.ending, "completed");
  EXPECT_TRUE(result.success());
  ASSERT_EQ(result.parts.size(), 2u);
  EXPECT_GT(result.control.duration(), 3);
  EXPECT_LT(result.parts[1].distance, 0.3);
  EXPECT_EQ(TextOf(job, Compose(job, 2)), TextOf(job, result));
  results::RunFolder folder(folder_ / "composed", false);
  WriteComposition(folder, job, result, {});
  const StoredRun stored(folder_ / "composed");
  EXPECT_EQ(stored.Verify().difference, "");
  EXPECT_EQ(stored.manifest["composition"]["parts"].size(), 2u);
  // Its own control goes on from there as it was only on paper.
  CompositionOptions plain = Playing({"walk", "walk"});
  plain.transition = Transition::kPlain;
  EXPECT_FALSE(Compose(CompositionJob(plain), 1).success());
}

TEST_F(Composing, AnswersAPushAFifthOfASecondLater) {
  CompositionOptions options = Playing({"walk"});
  options.pushes = {"trunk,0:0:-100,0.4,0.2"};
  const CompositionJob job(options);
  const LibraryControl& walk = job.controls[0];
  const Composition result = Compose(job, 1);
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
  const control::Trajectory open = control::Replay(walk.character(), walk.control, job.pushes);
  EXPECT_FALSE(metrics::Evaluate(walk.character(), open, *walk.run.characters[0].reference, walk.control.duration(),
                                 walk.run.characters[0].gates)
                   .success());
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
  EXPECT_THAT(message(Playing({"walk", "dance"})), HasSubstr("--play: found \"dance\", expected one of walk"));
  EXPECT_THAT(message(Playing({})), HasSubstr("--play: found no name"));
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
  EXPECT_THAT(message(every), HasSubstr("found no --seconds"));
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
  EXPECT_TRUE(job.get_ups.empty());
  const Composition result = Compose(job, 1);
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
  ASSERT_EQ(job.pushes.size(), 2u);
  for (size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(job.pushes[p].start, 10.0 * static_cast<double>(p + 1));
    EXPECT_NEAR(job.pushes[p].force.norm(), 300, 1e-9);
    EXPECT_EQ(job.pushes[p].force, again.pushes[p].force);
    EXPECT_NE(job.pushes[p].force, other.pushes[p].force);
  }
  EXPECT_NE(job.pushes[0].force, job.pushes[1].force);
}

}  // namespace
}  // namespace retrace::runs
