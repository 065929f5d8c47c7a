#include "retrace/response_model/synthesizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "response_model/sample_walk.h"
#include "retrace/response_model/judge.h"
#include "retrace/response_model/response_player.h"

namespace retrace::response_model {
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
  // Without a clock of its own no example can be learned from, and no motion gone on with.
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
  // Pushes that lead the same walk to different next poses are no function of the last positions; without them it is
  // one.
  ResponseOptions as_recorded = SampleOptions();
  as_recorded.takes_pushes_off = false;
  const std::vector<Example> examples = {{"normal", SampleWalk(72), {}}, SampleDisturbed(150), SampleDisturbed(-150)};
  const double with = LearnResponse(dynamics::Bundled("human"), examples, as_recorded).model.dynamics_kernel.noise;
  const double without =
      LearnResponse(dynamics::Bundled("human"), examples, SampleOptions()).model.dynamics_kernel.noise;
  EXPECT_LT(without, 0.5 * with);
}

TEST(LearnResponse, RefusesWhatCannotBeLearnedFrom) {
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

TEST(LearnResponse, ByAClockPlacesBesideTheNormalMotionLeadBackToIt) {
  // From where no example was, in any latent direction.
  ResponseOptions options = SampleOptions();
  options.clock_period = 32 * kFrame;
  std::vector<Example> examples = SampleExamples();
  for (Example& example : examples) example.clock = 0;
  const ResponseModel model = LearnResponse(dynamics::Bundled("human"), examples, options).model;
  const Eigen::Index d = model.dimensions();
  const Eigen::MatrixXd places = model.latent.latent.leftCols(model.lengths[0]);
  const double step =
      (places.rightCols(places.cols() - 1) - places.leftCols(places.cols() - 1)).colwise().norm().mean();
  learning::Prediction prediction;
  Eigen::VectorXd next;
  for (Eigen::Index k = 0; k < d; ++k) {
    for (const Eigen::Index from : {4, 12, 20, 28}) {
      Eigen::VectorXd aside = Eigen::VectorXd::Zero(d), last(2 * d);
      aside[k] = 3 * step;
      last << places.col(from) + aside, places.col(from + 1) + aside;
      for (Eigen::Index i = 0; i < 240; ++i) {
        model.DynamicsAt(last, static_cast<double>(from + 1 + i + 2) * kFrame, 0, prediction, next);
        last << Eigen::VectorXd(last.tail(d)), next;
      }
      EXPECT_LT((last.tail(d).replicate(1, places.cols()) - places).colwise().norm().minCoeff(), 0.5 * step)
          << "coordinate " << k << " at pose " << from;
    }
  }
}

TEST(ResponsePlayer, SwitchesToTheModelThatWasPushedLikeIt) {
  const character::Character& human = dynamics::Bundled("human");
  const std::vector<Example> examples = SampleExamples();
  const ResponseLearning first = LearnResponse(human, {examples[0], examples[1]}, SampleOptions());
  const ResponseLearning second = LearnResponse(human, {examples[0], examples[2]}, SampleOptions());
  ResponsePlayer player({&first.model, &second.model}, {});
  player.Start(examples[0], 10);
  Synthesizer alone(first.model, {});
  alone.Start(examples[0], 10);
  Push push = SamplePush(0.5);
  push.force = -push.force;
  std::vector<character::Pose> poses;
  for (int i = 0; i < 60; ++i) {
    player.Step({&push, 1});
    alone.Step({&push, 1});
    poses.push_back(player.pose());
    // Until the push, and in the first frame under it, what is shown is what the first model has.
    if (i < 14) {
      EXPECT_LT(DistanceOf(human, player.pose(), alone.pose()).world, 1e-9);
    }
  }
  ASSERT_EQ(player.switches().size(), 1u);
  const ModelSwitch& change = player.switches()[0];
  EXPECT_EQ(change.to, 1u);
  EXPECT_GT(change.difference, 0);
  EXPECT_LT(change.jump, 1e-9);
  EXPECT_LT(Judge(first.model, poses).joint_excess, 0.2);
}

TEST(ResponsePlayer, WithOneModelIsASynthesizer) {
  ResponsePlayer player({&SampleModel()}, {});
  player.Start(SampleModel().examples.front(), 10);
  const Push push = SamplePush(0.5);
  for (const character::Pose& pose : Play(SampleModel(), {}, 40, {push})) {
    EXPECT_EQ(player.pose().root_position, pose.root_position);
    player.Step({&push, 1});
  }
  EXPECT_TRUE(player.switches().empty());
}

TEST(ResponsePlayer, RefusesModelsThatDoNotFit) {
  EXPECT_THROW(ResponsePlayer({}, {}), std::invalid_argument);
  std::vector<Example> examples = SampleExamples();
  examples[0].poses[0].root_position.y() += 0.001;
  const ResponseLearning other = LearnResponse(dynamics::Bundled("human"), examples, SampleOptions());
  EXPECT_THROW(ResponsePlayer({&SampleModel(), &other.model}, {}), std::invalid_argument);
}

TEST(Judge, ForeseesWhatItHasLearnedAndNotAnotherMotion) {
  const ResponseModel& model = SampleModel();
  const double known = OneStepError(model, model.examples[1]);
  std::vector<character::Pose> twice;
  for (size_t i = 0; i < model.examples[0].poses.size(); i += 2) twice.push_back(model.examples[0].poses[i]);
  EXPECT_LT(known, 0.2);
  EXPECT_GT(OneStepError(model, {"twice as fast", twice, {}}), 2 * known);
}

TEST(Judge, CountsCrossings) {
  // Two coordinates cannot hold what leaves the cycle on both sides without crossing it, or itself; five can.
  ResponseOptions flat = SampleOptions();
  flat.dimensions = 2;
  const ResponseLearning two = LearnResponse(dynamics::Bundled("human"), SampleExamples(), flat);
  EXPECT_EQ(CountCrossings(SampleModel()), 0);
  EXPECT_GE(CountCrossings(two.model), CountCrossings(SampleModel()));
  EXPECT_GT(CountCrossings(two.model, {.near = 0.1, .apart = 0.2}),
            CountCrossings(SampleModel(), {.near = 0.1, .apart = 0.2}));
}

TEST(Synthesizer, NeedsFourPoses) {
  Synthesizer synthesizer(SampleModel(), {});
  EXPECT_THROW(synthesizer.Start(SampleModel().examples.front(), 2), std::invalid_argument);
}

}  // namespace
}  // namespace retrace::response_model
