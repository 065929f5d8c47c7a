#include "retrace/jobs/response_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "jobs/sample_runs.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/split_text.h"
#include "retrace/jobs/learned_response.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A model of two parts of the walk, learned once in a process.
const response_model::ResponseModel& SampleModel() {
  static const LearnedResponse learned = [] {
    ResponseLearningOptions options;
    const std::string walk = SampleClip("walk").string();
    options.examples = {walk + "@0.2:2.6", walk + "@0.7:2.9"};
    options.model.dimensions = 3;
    options.model.iterations = 30;
    options.model.dynamics_iterations = 20;
    return LearnResponse(options);
  }();
  return learned.learning.model;
}

/// The numbers of the lines of an answer.
std::vector<std::vector<double>> NumbersOf(const std::string& answer) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    std::vector<double>& row = rows.emplace_back();
    for (const std::string& part : io::Split(line, ',')) EXPECT_TRUE(io::ParseNumber(part, row.emplace_back())) << part;
  }
  return rows;
}

/// What is asked for line by line is the motion that is made in one piece.
TEST(ResponseStream, IsTheSynthesisUnderTheSamePushes) {
  const response_model::ResponseModel& model = SampleModel();
  SynthesisOptions options;
  options.seconds = 3;
  ResponseStream stream({&model}, options.synthesis);
  const size_t columns = 9 + 4 * model.character->joints.size();
  EXPECT_EQ(io::Split(stream.Header(), ',').size(), columns);
  std::string answer = stream.Answer("29");
  answer += stream.Answer("");
  options.pushes = {"trunk,40:0:0," + io::Number(stream.time() + model.options.features.frame_time) + ",0.2,0:0:0.1"};
  const Synthesis whole = Synthesize({&model}, options);
  EXPECT_EQ(stream.Answer("trunk,40:0:0,0.2,0:0:0.1"), "");
  answer += stream.Answer("60\r");
  const std::vector<std::vector<double>> rows = NumbersOf(answer);
  ASSERT_EQ(rows.size(), 90u);
  ASSERT_EQ(whole.poses.size(), 91u);
  bool moved = false;
  for (size_t f = 0; f < rows.size(); ++f) {
    ASSERT_EQ(rows[f].size(), columns);
    const character::Pose& pose = whole.poses[f + 1];
    EXPECT_NEAR(rows[f][0], static_cast<double>(f + 1) / 30, 1e-9);
    EXPECT_EQ(rows[f][1], whole.records[f].deviation) << f;
    EXPECT_NEAR((Vec3(rows[f][2], rows[f][3], rows[f][4]) - pose.root_position).norm(), 0, 1e-9) << f;
    const Quat last(rows[f][columns - 4], rows[f][columns - 3], rows[f][columns - 2], rows[f][columns - 1]);
    EXPECT_LT(last.angularDistance(pose.joint_rotations.back()), 1e-6) << f;
    moved = moved || whole.records[f].pushed;
  }
  EXPECT_TRUE(moved);
  EXPECT_NEAR(stream.time(), 3, 1e-9);
}

/// A push off the center of mass turns the body, and one that is over is forgotten.
TEST(ResponseStream, APointOfTheBodyMatters) {
  const response_model::ResponseModel& model = SampleModel();
  const auto pushed = [&](const std::string& push) {
    ResponseStream stream({&model}, {});
    stream.Answer("10");
    if (!push.empty()) stream.Answer(push);
    return stream.Answer("6");
  };
  const std::string nothing = pushed(""), center = pushed("trunk,30:0:0,0.1"),
                    off = pushed("trunk,30:0:0,0.1,0:0:0.15");
  EXPECT_NE(center, nothing);
  EXPECT_NE(off, center);
  EXPECT_EQ(pushed("trunk,30:0:0,0.1,0:0:0"), center);
}

TEST(ResponseStream, RefusesOtherLines) {
  const response_model::ResponseModel& model = SampleModel();
  ResponseStream stream({&model}, {});
  stream.Answer("");
  EXPECT_THAT([&] { stream.Answer("next"); }, ThrowsMessage<InputError>(HasSubstr("standard input:2: found \"next\"")));
  EXPECT_THAT([&] { stream.Answer("0"); }, ThrowsMessage<InputError>(HasSubstr("a whole number of poses")));
  EXPECT_THAT([&] { stream.Answer("1.5"); }, ThrowsMessage<InputError>(HasSubstr("a whole number of poses")));
  EXPECT_THAT([&] { stream.Answer("trnk,1:0:0,0.1"); }, ThrowsMessage<InputError>(HasSubstr("trunk")));
  EXPECT_THAT([&] { stream.Answer("trunk,1:0,0.1"); }, ThrowsMessage<InputError>(HasSubstr("three numbers")));
  EXPECT_THAT([&] { stream.Answer("trunk,1:0:0,-1"); }, ThrowsMessage<InputError>(HasSubstr("from 0 to 60")));
  EXPECT_THROW(ResponseStream({}, {}), InputError);
}

}  // namespace
}  // namespace retrace::runs
