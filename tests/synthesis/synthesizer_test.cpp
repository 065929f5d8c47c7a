#include "retrace/synthesis/synthesizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/synthesis/judge.h"
#include "synthesis/sample_walk.h"

namespace retrace::synthesis {
namespace {

std::vector<character::Pose> Play(const ResponseModel& model, const SynthesisOptions& options, int frames,
                                  const std::vector<Push>& pushes) {
  Synthesizer synthesizer(model, options);
  synthesizer.Start(model.examples.front(), 10);
  std::vector<character::Pose> poses = {synthesizer.pose()};
  for (int i = 0; i < frames; ++i) {
    synthesizer.Step(pushes);
    poses.push_back(synthesizer.pose());
  }
  return poses;
}

Push SamplePush(double start) {
  Push push;
  push.body = dynamics::Bundled("human").FindBody("trunk");
  push.force = Vec3(40, 0, 0);
  push.start = start;
  push.duration = 0.2;
  return push;
}

TEST(Synthesizer, WalksOnItsCycleForAMinute) {
  const ResponseModel& model = SampleModel();
  const Plausibility figures = Judge(model, Play(model, {}, 1800, {}));
  EXPECT_LT(figures.end_distance, 1);
  EXPECT_NEAR(figures.period, model.period, 0.05 * model.period);
  EXPECT_LT(figures.joint_excess, 0.1);
  EXPECT_LT(figures.height_excess, 0.01);
  EXPECT_LT(figures.slide, figures.example_slide + 0.01);
}

TEST(Synthesizer, APushLeadsAsideAndBack) {
  const ResponseModel& model = SampleModel();
  const std::vector<character::Pose> walk = Play(model, {}, 200, {});
  const std::vector<character::Pose> pushed = Play(model, {}, 200, {SamplePush(0.5)});
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(pushed[i].root_position, walk[i].root_position);
  double largest = 0;
  for (size_t i = 15; i < 45; ++i) {
    largest = std::max(largest, DistanceOf(*model.character, pushed[i], walk[i]).heading);
  }
  EXPECT_GT(largest, 0.005);
  EXPECT_GT(pushed[45].root_position.x(), walk[45].root_position.x() + 0.01);
  EXPECT_LT(Judge(model, pushed).end_distance, 1);
}

TEST(Synthesizer, AClockKeepsTheRhythm) {
  ResponseOptions options = SampleOptions();
  options.clock_period = 32 * kFrame;
  std::vector<Example> examples = SampleExamples();
  for (Example& example : examples) example.clock = 0;
  const ResponseLearning learning = LearnResponse(dynamics::Bundled("human"), examples, options);
  ASSERT_EQ(learning.model.dynamics_kernel.parts(), 3);
  const auto apart = [](const ResponseModel& model, size_t frame) {
    return DistanceOf(*model.character, Play(model, {}, 200, {SamplePush(0.5)})[frame], Play(model, {}, 200, {})[frame])
        .heading;
  };
  EXPECT_GT(apart(learning.model, 20), 0.002);
  EXPECT_LT(apart(learning.model, 200), 0.5 * apart(SampleModel(), 200));
  // Without a clock of its own no example can be learnt from, and no motion gone on with.
  Synthesizer synthesizer(learning.model, {});
  Example without = examples[0];
  without.clock.reset();
  EXPECT_THROW(synthesizer.Start(without, 10), std::invalid_argument);
  examples[1].clock.reset();
  EXPECT_THROW(LearnResponse(dynamics::Bundled("human"), examples, options), std::invalid_argument);
}

TEST(Synthesizer, GivesTheSameBytesTwice) {
  const ResponseLearning first = LearnResponse(dynamics::Bundled("human"), SampleExamples(), SampleOptions());
  EXPECT_EQ(first.model.back_weights, SampleModel().back_weights);
  const std::vector<character::Pose> a = Play(first.model, {}, 60, {SamplePush(0.5)});
  const std::vector<character::Pose> b = Play(SampleModel(), {}, 60, {SamplePush(0.5)});
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].root_position, b[i].root_position);
    EXPECT_EQ(a[i].root_orientation.coeffs(), b[i].root_orientation.coeffs());
  }
}

TEST(Synthesizer, TheLetterOfThePaperPlays) {
  ResponseOptions options = PaperOptions();
  options.iterations = 40;
  const ResponseLearning learning = LearnResponse(dynamics::Bundled("human"), SampleExamples(), options);
  EXPECT_EQ(learning.model.dimensions(), 3);
  Synthesizer synthesizer(learning.model, PaperSynthesis());
  synthesizer.Start(learning.model.examples.front(), 10);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(std::isfinite(synthesizer.Step({}).likelihood));
}

TEST(LearnResponse, TakingThePushesOffLeavesLessToTheDynamics) {
  // Pushes that lead the same walk to different next poses are no function of the last places; without them it is one.
  ResponseOptions as_recorded = SampleOptions();
  as_recorded.takes_pushes_off = false;
  const std::vector<Example> examples = {{"normal", SampleWalk(72), {}}, SampleDisturbed(150), SampleDisturbed(-150)};
  const double with = LearnResponse(dynamics::Bundled("human"), examples, as_recorded).model.dynamics_kernel.noise;
  const double without =
      LearnResponse(dynamics::Bundled("human"), examples, SampleOptions()).model.dynamics_kernel.noise;
  EXPECT_LT(without, 0.5 * with);
}

TEST(LearnResponse, RefusesWhatCannotBeLearntFrom) {
  const character::Character& human = dynamics::Bundled("human");
  const auto message = [&](std::vector<Example> examples) {
    try {
      LearnResponse(human, std::move(examples), SampleOptions());
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(message({}), testing::HasSubstr("no examples"));
  std::vector<Example> few = SampleExamples();
  few[1].poses.resize(4);
  EXPECT_THAT(message(few), testing::HasSubstr("disturbed: found 4 poses, expected at least 5"));
  std::vector<Example> short_walk = SampleExamples();
  short_walk[0].poses.resize(12);
  EXPECT_THAT(message(short_walk), testing::HasSubstr("normal: found no cycle in the normal motion"));
}

TEST(Synthesizer, NeedsFourPoses) {
  Synthesizer synthesizer(SampleModel(), {});
  EXPECT_THROW(synthesizer.Start(SampleModel().examples.front(), 2), std::invalid_argument);
}

}  // namespace
}  // namespace retrace::synthesis
