#include "retrace/jobs/learned_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jobs/sample_runs.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/jobs/response_examples.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"
#include "retrace/response_model/response_model.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Two parts of the walk, the second of which is a little out of step with the first.
ResponseLearningOptions FewIterations() {
  ResponseLearningOptions options;
  const std::string walk = SampleClip("walk").string();
  options.examples = {walk + "@0.2:2.6", walk + "@0.7:2.9"};
  options.model.dimensions = 3;
  options.model.iterations = 5;
  options.model.dynamics_iterations = 5;
  return options;
}

/// Learned once in a process.
const LearnedResponse& SampleLearned() {
  static const LearnedResponse learned = LearnResponse(FewIterations());
  return learned;
}

TEST(LearnedResponse, ExamplesArePartsOfRecordings) {
  const LearnedResponse& learned = SampleLearned();
  const response_model::ResponseModel& model = learned.learning.model;
  EXPECT_EQ(model.character, learned.character.get());
  ASSERT_EQ(model.examples.size(), 2u);
  EXPECT_EQ(model.examples[0].name, "walk.bvh");
  EXPECT_TRUE(model.examples[0].pushes.empty());
  // Recordings are brought to one clock, that of the cycle of the normal motion, which is closed.
  EXPECT_NEAR(model.options.clock_period, 32 / 30.0, 1e-9);
  EXPECT_EQ(model.examples[0].poses.size(), 2 * 32u + 3);
  EXPECT_EQ(model.examples[1].times.size(), model.examples[1].poses.size());
  EXPECT_LE(model.examples[1].poses.size(), 67u);
  EXPECT_EQ(model.dimensions(), 3);
  // Each iteration is reported, and L_P falls.
  ASSERT_GE(learned.values.size(), 2u);
  EXPECT_LT(learned.values.back().second, learned.values.front().second);
  EXPECT_THAT(Describe(learned), HasSubstr(" poses of 2 examples, "));
}

TEST(LearnedResponse, AUserSaysWhatPushedARecording) {
  ResponseLearningOptions options = FewIterations();
  const std::string walk = options.examples[1];
  options.examples[1] = walk + ",push=trunk:0:0:80:1.2-1.4:0:0.1:0";
  const LearnedResponse learned = LearnResponse(options);
  const response_model::ResponseModel& model = learned.learning.model;
  ASSERT_EQ(model.examples[1].pushes.size(), 1u);
  const response_model::Push& push = model.examples[1].pushes[0];
  EXPECT_EQ(push.body, model.character->FindBody("trunk"));
  EXPECT_EQ(push.force, Vec3(0, 0, 80));
  EXPECT_EQ(push.point, Vec3(0, 0.1, 0));
  EXPECT_NEAR(push.duration, 0.2, 1e-9);
  // The example begins at some time after 0.1 s before the push.
  EXPECT_LE(push.start, 4.01 / 30);
  // The recording can be compared with: the synthesis goes on under the push that was named.
  SynthesisOptions compared;
  compared.seconds = 0.5;
  compared.against = walk + ",push=trunk:0:0:80:1.2-1.4";
  const Synthesis synthesis = Synthesize({&model}, compared);
  ASSERT_EQ(synthesis.pushes.size(), 1u);
  EXPECT_GE(synthesis.errors.size(), 14u);
  EXPECT_EQ(synthesis.nearest, model.examples[1].name);
  const auto refusal = [&](const std::string& push_text) -> std::string {
    options.examples[1] = walk + push_text;
    try {
      LearnResponse(options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(",pull=trunk:0:0:1:1-2"), HasSubstr(",push=BODY:FX:FY:FZ:FROM-TO may stand"));
  EXPECT_THAT(refusal(",push=tail:0:0:1:1-2"), HasSubstr("a body of the character instead of \"tail\""));
  EXPECT_THAT(refusal(",push=trunk:0:0:1:2-1"), HasSubstr("a push that ends after it began"));
  EXPECT_THAT(refusal(",push=trunk:0:0:x:1-2"), HasSubstr("instead of \"x\""));
  EXPECT_THAT(refusal(",push=trunk:0:0:1:1"), HasSubstr("FROM-TO in seconds instead of \"1\""));
  EXPECT_THAT(refusal(",push=trunk:1:1-2"), HasSubstr("expected BODY:FX:FY:FZ:FROM-TO or"));
}

TEST(LearnedResponse, WhatNoExampleIsLikeIsDoubtful) {
  const response_model::ResponseModel& model = SampleLearned().learning.model;
  SynthesisOptions options;
  options.seconds = 1;
  EXPECT_THAT(Synthesize({&model}, options).doubts, testing::IsEmpty());
  options.pushes = {"trunk,900:0:0,0.2,0.3"};
  EXPECT_THAT(Synthesize({&model}, options).doubts, testing::Not(testing::IsEmpty()));
}

/// One plain and three pushed pieces of recordings of a person, which are not part of the repository.
TEST(LearnedResponse, PiecesOfRecordingsGiveAModelThatWalksOnAndComesBack) {
  const std::filesystem::path clips = std::filesystem::path(RETRACE_SOURCE_DIR) / "../shared/mocap/more/clips";
  if (!std::filesystem::exists(clips / "walk_pushed_tiling.amc")) GTEST_SKIP() << "no recordings at " << clips;
  ResponseLearningOptions options;
  options.skeleton = clips / "wd2_tiling.asf";
  options.examples = {(clips / "walk_long_tiling.amc@3:6").string()};
  for (const char* part : {"@10:14", "@18:22", "@38:42"}) {
    options.examples.push_back((clips / "walk_pushed_tiling.amc").string() + part);
  }
  const LearnedResponse learned = LearnResponse(options);
  const response_model::ResponseModel& model = learned.learning.model;
  SynthesisOptions play;
  play.seconds = 60;
  const Synthesis walk = Synthesize({&model}, play);
  EXPECT_LT(60 * walk.plausibility.feet.skating, 0.5);
  EXPECT_LT(60 * walk.plausibility.feet.unsupported, 0.5);
  EXPECT_LT(walk.plausibility.joint_excess, Radians(5));
  EXPECT_LT(walk.plausibility.end_distance, 0.3);
  EXPECT_THAT(walk.doubts, testing::IsEmpty());
  play.seconds = 12.2;
  for (const char* force : {"80:0:0", "-80:0:0", "0:0:80", "0:0:-80"}) {
    play.pushes = {std::string("trunk,") + force + ",2,0.2"};
    EXPECT_LT(Synthesize({&model}, play).plausibility.end_distance, 0.3) << force;
  }
  // Several segments, in sequence, and during recovery: feet stand.
  play.seconds = 20;
  play.pushes = {"trunk,50:0:0,2,0.2",          "pelvis,0:0:-60,4.5,0.2",  "head,-40:0:0,5.3,0.2",
                 "left_upper_arm,0:0:50,9,0.2", "trunk,-40:0:-40,9.9,0.2", "pelvis,70:0:0,14,0.2"};
  const Synthesis many = Synthesize({&model}, play);
  EXPECT_LT(20 * many.plausibility.feet.unsupported, 0.35);
  EXPECT_LT(many.plausibility.end_distance, 0.3);
}

TEST(LearnedResponse, ALongRecordingIsTakenApart) {
  const std::filesystem::path clips = std::filesystem::path(RETRACE_SOURCE_DIR) / "../shared/mocap/more/clips";
  if (!std::filesystem::exists(clips / "walk_pushed_tiling.amc")) GTEST_SKIP() << "no recordings at " << clips;
  ResponseLearningOptions options;
  options.skeleton = clips / "wd2_tiling.asf";
  options.examples = {(clips / "walk_pushed_tiling.amc").string()};
  options.find_pushes = false;
  const ResponseExamples read = ReadExamples(options);
  ASSERT_EQ(read.examples.size(), 7u);
  EXPECT_EQ(read.clock_period, 0);
  // The person was pushed about every 6.5 s, and turns between.
  std::vector<double> begins;
  for (const response_model::Example& example : read.examples) {
    begins.push_back(*example.clock);
    EXPECT_LT(example.poses.size(), 120u);
  }
  for (const double push : {5.0, 11.5, 18.4, 31.9, 38.2}) {
    EXPECT_THAT(begins, testing::Contains(testing::AllOf(testing::Gt(push - 1.5), testing::Lt(push)))) << push;
  }
  EXPECT_THAT(read.parts, testing::Contains(HasSubstr("walk_pushed_tiling.amc: the normal motion from ")));
  EXPECT_THAT(read.parts, testing::Contains(HasSubstr(" unusual parts are turns")));
  options.most_responses = 2;
  EXPECT_EQ(ReadExamples(options).examples.size(), 3u);
}

TEST(LearnedResponse, RecordingsMayStayAsTheyAre) {
  ResponseLearningOptions options = FewIterations();
  options.clock = false;
  const LearnedResponse learned = LearnResponse(options);
  const response_model::ResponseModel& model = learned.learning.model;
  EXPECT_EQ(model.options.clock_period, 0);
  EXPECT_EQ(model.examples[0].poses.size(), 73u);  // 2.4 s of 30 frames
  EXPECT_EQ(model.examples[1].poses.size(), 67u);
  EXPECT_TRUE(model.examples[1].times.empty());
}

TEST(LearnedResponse, AFolderHasTheModelAgain) {
  const SampleFolder samples;
  WriteLearnedResponse(samples / "model", false, SampleLearned());
  for (const char* file : {"model.json", "learning.csv", "latent.csv", "latent.svg"}) {
    EXPECT_TRUE(std::filesystem::exists(samples / "model" / file)) << file;
  }
  EXPECT_THROW(WriteLearnedResponse(samples / "model", false, SampleLearned()), UsageError);
  EXPECT_NO_THROW(WriteLearnedResponse(samples / "model", true, SampleLearned()));
  for (const std::filesystem::path& place : {samples / "model", samples / "model" / "model.json"}) {
    const response_model::StoredModel stored = LoadResponseModel(place);
    EXPECT_EQ(response_model::ToJson(stored.model), response_model::ToJson(SampleLearned().learning.model));
  }
  EXPECT_THROW(LoadResponseModel(samples / "none"), Error);
  const std::string learning = io::ReadFile(samples / "model" / "learning.csv");
  EXPECT_THAT(learning, testing::StartsWith("iteration,value\n"));
  EXPECT_EQ(std::count(learning.begin(), learning.end(), '\n'), std::ssize(SampleLearned().values) + 1);
  const std::string places = io::ReadFile(samples / "model" / "latent.csv");
  EXPECT_THAT(places, testing::StartsWith("example,time,pushed,latent_1,latent_2,latent_3\n"));
  EXPECT_EQ(std::count(places.begin(), places.end(), '\n'), SampleLearned().learning.model.num_observations() + 1);
}

TEST(LearnedResponse, ASynthesisGoesOnForAsLongAsItIsAsked) {
  const response_model::ResponseModel& model = SampleLearned().learning.model;
  SynthesisOptions options;
  options.seconds = 0.5;
  const Synthesis plain = Synthesize({&model}, options);
  EXPECT_EQ(plain.poses.size(), 16u);
  EXPECT_EQ(plain.records.size(), 15u);
  EXPECT_TRUE(plain.pushes.empty());
  EXPECT_TRUE(plain.errors.empty());
  EXPECT_FALSE(plain.one_step_error);
  // It begins with the normal motion's fourth pose.
  EXPECT_LT((plain.poses[0].root_position - model.examples[0].poses[3].root_position).norm(), 1e-9);
  options.pushes = {"trunk,60:0:0,0.2,0.1"};
  const Synthesis pushed = Synthesize({&model}, options), again = Synthesize({&model}, options);
  EXPECT_EQ(pushed.poses.back().root_position, again.poses.back().root_position);
  EXPECT_EQ(pushed.poses[6].root_position, plain.poses[6].root_position);  // up to the push
  EXPECT_NE(pushed.poses.back().root_position, plain.poses.back().root_position);
  EXPECT_FALSE(pushed.records[4].pushed);
  EXPECT_TRUE(pushed.records[7].pushed);
}

TEST(LearnedResponse, ASynthesisIsWrittenAsAKinematicMotion) {
  const response_model::ResponseModel& model = SampleLearned().learning.model;
  SynthesisOptions options;
  options.seconds = 0.5;
  options.pushes = {"trunk,60:0:0,0.2,0.1"};
  const Synthesis synthesis = Synthesize({&model}, options);
  const SampleFolder samples;
  WriteSynthesis(samples / "played", false, model, options, synthesis, "synthesize");
  EXPECT_THROW(WriteSynthesis(samples / "played", false, model, options, synthesis, ""), UsageError);
  const motion::Clip clip = motion::ReadBvh(samples / "played" / "synthesis.bvh");
  EXPECT_EQ(clip.frames.size(), synthesis.poses.size());
  const io::Json json = io::ReadJson(samples / "played" / "synthesis.json");
  EXPECT_EQ(json["physical"], false);
  EXPECT_EQ(json["frames"], 16);
  EXPECT_EQ(json["pushes"][0]["body"], "trunk");
  EXPECT_FALSE(std::filesystem::exists(samples / "played" / "errors.csv"));
  const std::string picture = io::ReadFile(samples / "played" / "latent.svg");
  EXPECT_EQ(picture, LatentPicture(model, &synthesis));
  EXPECT_THAT(picture, HasSubstr("stroke-dasharray"));
  EXPECT_THAT(LatentPicture(model), testing::Not(HasSubstr("stroke-dasharray")));
  EXPECT_THAT(Describe(model, synthesis), HasSubstr("  16 poses, "));
}

TEST(LearnedResponse, RefusesWhatIsNoExample) {
  const auto refusal = [](const std::function<void(ResponseLearningOptions&)>& change) -> std::string {
    ResponseLearningOptions options = FewIterations();
    change(options);
    try {
      LearnResponse(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string walk = SampleClip("walk").string();
  EXPECT_THAT(refusal([](auto& o) { o.examples.pop_back(); }),
              HasSubstr("examples: found 1, expected the normal motion and at least one that is disturbed"));
  for (const char* part : {"@2", "@2:1", "@a:b", "@-1:2", "@0:1e9"}) {
    EXPECT_THAT(refusal([&](auto& o) { o.examples[1] = walk + part; }), HasSubstr("with @START:END in seconds"))
        << part;
  }
  EXPECT_THAT(refusal([&](auto& o) { o.examples[1] = walk + "@50:60"; }), HasSubstr("expected a part of it"));
  EXPECT_NE(refusal([](auto& o) { o.examples[1] = "none.bvh"; }), "");
  EXPECT_THAT(refusal([&](auto& o) { o.examples[0] = walk + "@0.2:0.4"; }), HasSubstr("examples"));  // no cycle
}

TEST(LearnedResponse, RefusesPushesAndRunsThatDoNotFit) {
  const response_model::ResponseModel& model = SampleLearned().learning.model;
  SynthesisOptions options;
  options.seconds = 0.2;
  options.pushes = {"tail,60:0:0,0.2,0.1"};
  EXPECT_THAT([&] { Synthesize({&model}, options); }, ThrowsMessage<UsageError>(HasSubstr("tail")));
  for (const char* point : {"0:0", "0:0:a", "0:11:0"}) {
    options.pushes = {std::string("trunk,60:0:0,0.1,0.1,") + point};
    EXPECT_THAT([&] { Synthesize({&model}, options); },
                ThrowsMessage<UsageError>(HasSubstr("expected three numbers X:Y:Z from -10 to 10")))
        << point;
  }
  EXPECT_THROW(Synthesize({}, {}), InputError);
  const SampleFolder samples;
  WriteTrackedRun(samples / "run", TrackedOptions("walk", 0.3));
  SynthesisOptions against;
  against.against = samples / "run";
  EXPECT_THAT([&] { Synthesize({&model}, against); },
              ThrowsMessage<InputError>(HasSubstr("found a run without pushes, expected one that was pushed")));
}

}  // namespace
}  // namespace retrace::runs
