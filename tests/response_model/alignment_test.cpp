#include "retrace/response_model/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "response_model/sample_walk.h"
#include "retrace/character/reference_motion.h"
#include "retrace/math/rotation.h"
#include "retrace/response_model/judge.h"
#include "retrace/response_model/recording_parts.h"
#include "retrace/response_model/synthesizer.h"

namespace retrace::response_model {
namespace {

/// The bundled walk's cycle, 32 frames, in another time: after so many frames its pose is that of `frame_at`.
std::vector<character::Pose> Warped(size_t count, const std::function<double(double)>& frame_at) {
  const std::vector<character::Pose> walk = SampleWalk(200);
  std::vector<character::Pose> poses;
  for (size_t i = 0; i < count; ++i) {
    const double at = frame_at(static_cast<double>(i));
    const auto before = static_cast<size_t>(at);
    character::Interpolate(walk[before], walk[before + 1], at - std::floor(at), poses.emplace_back());
  }
  return poses;
}

/// Turned about the vertical and moved, as another recording of the same would be.
void TurnAndMove(std::vector<character::Pose>& poses, double angle) {
  const Quat turn = AxisRotation(1, angle);
  for (character::Pose& pose : poses) {
    pose.root_position = turn * pose.root_position + Vec3(3, 0, -2);
    pose.root_orientation = turn * pose.root_orientation;
  }
}

/// Bends the trunk sideways: up to 0.5 rad, by a bump of `width` frames about `middle`.
void Bend(std::vector<character::Pose>& poses, double middle, double width) {
  const character::Character& human = dynamics::Bundled("human");
  const auto joint =
      static_cast<size_t>(std::find_if(human.joints.begin(), human.joints.end(),
                                       [](const character::Joint& j) {
                                         return j.child >= 0 && j.name.find("waist") != std::string::npos;
                                       }) -
                          human.joints.begin());
  const size_t bent = joint < human.joints.size() ? joint : 0;
  for (size_t i = 0; i < poses.size(); ++i) {
    const double x = (static_cast<double>(i) - middle) / width;
    poses[i].joint_rotations[bent] = poses[i].joint_rotations[bent] * AxisRotation(2, 0.5 * std::exp(-x * x));
  }
}

TEST(Alignment, FindsTheTimeOfAMotionThatIsFasterElsewhereAndTurned) {
  // A quarter of a cycle later, a tenth faster.
  Example piece{"piece", Warped(75, [](double i) { return 8 + 1.1 * i; }), {}};
  TurnAndMove(piece.poses, 1.2);
  Bend(piece.poses, 20, 6);
  Push push;
  push.body = dynamics::Bundled("human").FindBody("trunk");
  push.duration = 0.2;
  push.start = 10 * kFrame;
  piece.pushes.push_back(push);
  AlignmentOptions options;
  options.begins_at_push = true;
  const Alignment alignment =
      Align(dynamics::Bundled("human"), {{"normal", SampleWalk(75), {}}, piece}, FeatureOptions(), options);
  EXPECT_NEAR(alignment.period, 32 * kFrame, 1e-9);
  ASSERT_EQ(alignment.examples.size(), 2u);
  const Example& aligned = alignment.examples[1];
  ASSERT_EQ(aligned.times.size(), aligned.poses.size());
  // The cycle that was found begins anywhere; phases count from there, so that their differences are looked at. The
  // clock is a tenth faster while the example responds.
  EXPECT_NEAR((aligned.times[30] - aligned.times[12]) / (18 * kFrame), 1.1, 0.02);
  EXPECT_NEAR(alignment.pieces[0].greatest_rate, 1.1, 0.06);
  // It begins three poses before its push.
  EXPECT_EQ(alignment.pieces[0].first, 7u);
  EXPECT_NEAR(aligned.pushes[0].start, 3 * kFrame, 1e-9);
}

TEST(Alignment, AResponseEndsInTheNormalMotion) {
  // With a manner of its own: the arm is elsewhere all the time.
  Example piece{"piece", Warped(90, [](double i) { return 5 + i; }), {}};
  Bend(piece.poses, 30, 8);
  for (character::Pose& pose : piece.poses) {
    pose.joint_rotations[3] = pose.joint_rotations[3] * AxisRotation(0, 0.15);
  }
  const character::Character& human = dynamics::Bundled("human");
  const FeatureOptions options;
  const Alignment alignment = Align(human, {{"normal", SampleWalk(75), {}}, piece}, options);
  const Example& aligned = alignment.examples[1];
  FeatureMap features(human, options);
  const Eigen::MatrixXd normal = features.ObserveAll(alignment.examples[0].poses);
  const Eigen::MatrixXd response = features.ObserveAll(aligned.poses);
  const double step =
      (normal.rightCols(normal.cols() - 1) - normal.leftCols(normal.cols() - 1)).colwise().norm().mean();
  const auto distance = [&](Eigen::Index i) {
    return (normal.colwise() - response.col(i)).colwise().norm().minCoeff() / step;
  };
  EXPECT_LT(distance(response.cols() - 1), 0.3);
  double farthest = 0;
  for (Eigen::Index i = 0; i < response.cols(); ++i) farthest = std::max(farthest, distance(i));
  EXPECT_GT(farthest, 1);
  // Without a push that is known it begins where it is away already.
  EXPECT_GT(alignment.pieces[0].first, 10u);
  EXPECT_GT(distance(0), 0.4 * farthest);
}

TEST(Alignment, ANormalMotionIsClosed) {
  std::vector<character::Pose> walk = SampleWalk(75);
  for (size_t i = 0; i < walk.size(); ++i) {  // it changes all the time
    walk[i].joint_rotations[3] = walk[i].joint_rotations[3] * AxisRotation(0, 0.001 * static_cast<double>(i));
  }
  const Alignment alignment = Align(dynamics::Bundled("human"), {{"normal", walk, {}}}, FeatureOptions());
  const std::vector<character::Pose>& closed = alignment.examples[0].poses;
  ASSERT_EQ(closed.size(), 67u);
  for (size_t j = 0; j < closed[0].joint_rotations.size(); ++j) {
    EXPECT_LT(AngleBetween(closed[1].joint_rotations[j], closed[33].joint_rotations[j]), 1e-6);
  }
}

TEST(Alignment, RefusesAWalkWithoutStepsAndPiecesThatAreTooShort) {
  const character::Character& human = dynamics::Bundled("human");
  const auto message = [&](std::vector<Example> examples) -> std::string {
    try {
      Align(human, examples, FeatureOptions());
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({{"stands", std::vector<character::Pose>(90, SampleWalk(1)[0]), {}}}),
              testing::HasSubstr("stands: found no cycle in the normal motion in which each foot steps"));
  EXPECT_THAT(message({{"normal", SampleWalk(75), {}}, {"short", SampleWalk(7), {}}}),
              testing::HasSubstr("short: found 7 poses, expected at least 8"));
  EXPECT_THAT(message({}), testing::HasSubstr("no examples"));
}

TEST(Alignment, AModelOfUnlikePiecesWalksOnForAMinuteAndComesBack) {
  // Pieces with other rhythms, headings and manners, which all end away from the normal motion.
  const character::Character& human = dynamics::Bundled("human");
  std::vector<Example> examples = {{"normal", SampleWalk(75), {}}};
  for (const double rate : {0.9, 1.0, 1.15}) {
    Example piece{"piece", Warped(80, [&](double i) { return 3 + 10 * rate + rate * i; }), {}};
    TurnAndMove(piece.poses, 3 * rate);
    Bend(piece.poses, 20, 8);
    for (character::Pose& pose : piece.poses) {
      pose.joint_rotations[3] = pose.joint_rotations[3] * AxisRotation(0, 0.3 * (rate - 0.8));
    }
    examples.push_back(std::move(piece));
  }
  const Alignment alignment = Align(human, examples, FeatureOptions());
  ResponseOptions options = SampleOptions();
  options.clock_period = alignment.period;
  options.observation_mean = true;
  options.plain_radius = 0.5;
  options.longest_response = alignment.longest_response;
  const ResponseLearning learning = LearnResponse(human, alignment.examples, options);
  EXPECT_GT(learning.model.rate_weights.size(), 0);
  Synthesizer synthesizer(learning.model, {});
  synthesizer.Start(learning.model.examples.front(), 5);
  Push push;
  push.body = human.FindBody("trunk");
  push.force = Vec3(60, 0, 0);
  push.start = 60;
  push.duration = 0.2;
  std::vector<character::Pose> walk, pushed;
  for (int i = 0; i < 2100; ++i) {
    synthesizer.Step({&push, 1});
    (i < 1800 ? walk : pushed).push_back(synthesizer.pose());
  }
  const Plausibility plain = Judge(learning.model, walk);
  EXPECT_LT(plain.feet.skating, 0.5 / 60);
  EXPECT_LT(plain.feet.unsupported, 0.5 / 60);
  EXPECT_LT(plain.joint_excess, Radians(5));
  EXPECT_LT(plain.end_distance, 0.5);
  EXPECT_NEAR(plain.period, learning.model.period, 0.01 * learning.model.period);
  EXPECT_LT(Judge(learning.model, pushed).end_distance, 0.5);
}

/// A long walk that turns by 1.5 rad about frame 190, and in which the trunk bends three times.
std::vector<character::Pose> LongRecording() {
  std::vector<character::Pose> poses = SampleWalk(480);
  const std::vector<character::Pose> straight = poses;
  for (size_t i = 1; i < poses.size(); ++i) {
    const Quat turn = AxisRotation(1, 1.5 * std::clamp((static_cast<double>(i) - 170) / 40, 0.0, 1.0));
    poses[i].root_position =
        poses[i - 1].root_position + turn * Vec3(straight[i].root_position - straight[i - 1].root_position);
    poses[i].root_orientation = turn * straight[i].root_orientation;
  }
  for (const double middle : {110, 270, 390}) Bend(poses, middle, 6);
  return poses;
}

TEST(RecordingParts, FindsWhatStandsOutOfAWalk) {
  const character::Character& human = dynamics::Bundled("human");
  const std::vector<character::Pose> poses = LongRecording();
  const RecordingParts apart = TakeApart(human, poses, FeatureOptions());
  ASSERT_TRUE(apart.normal);
  ASSERT_EQ(apart.responses.size(), 3u);
  EXPECT_EQ(apart.left_out + apart.unreturned, 0u);
  EXPECT_EQ(apart.turns, 1u);
  const double middles[] = {110, 270, 390};
  for (size_t k = 0; k < 3; ++k) {
    const RecordingPart& response = apart.responses[k];
    EXPECT_NEAR(static_cast<double>(response.peak), middles[k], 6);
    EXPECT_LT(response.first + 10, response.peak);
    EXPECT_GT(response.last, response.peak + 10);
    EXPECT_LT(response.last - response.first, 75u);
    EXPECT_TRUE(response.peak < apart.normal->first || response.peak > apart.normal->last);
  }
  EXPECT_EQ(apart.normal->last - apart.normal->first, 72u + 2);
  PartOptions two;
  two.most_responses = 2;
  const RecordingParts fewer = TakeApart(human, poses, FeatureOptions(), two);
  EXPECT_EQ(fewer.responses.size(), 2u);
  EXPECT_EQ(fewer.left_out, 1u);
}

TEST(RecordingParts, APlainWalkHasNoResponsesAndStandingNoWalk) {
  const character::Character& human = dynamics::Bundled("human");
  const RecordingParts plain = TakeApart(human, SampleWalk(400), FeatureOptions());
  EXPECT_TRUE(plain.normal);
  EXPECT_TRUE(plain.responses.empty());
  const RecordingParts stands = TakeApart(human, std::vector<character::Pose>(300, SampleWalk(1)[0]), FeatureOptions());
  EXPECT_FALSE(stands.normal);
  EXPECT_TRUE(stands.responses.empty());
  EXPECT_FALSE(TakeApart(human, SampleWalk(60), FeatureOptions()).normal);  // too short to be taken apart
  // What does not return is no response.
  std::vector<character::Pose> ends = SampleWalk(400);
  Bend(ends, 399, 8);
  const RecordingParts unreturned = TakeApart(human, ends, FeatureOptions());
  EXPECT_TRUE(unreturned.responses.empty());
  EXPECT_EQ(unreturned.unreturned, 1u);
}

}  // namespace
}  // namespace retrace::response_model
