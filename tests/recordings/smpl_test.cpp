/// Motions of SMPL as arrays: every way to write them, and what is refused.
#include "retrace/recordings/smpl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "recordings/npz_writer.h"
#include "recordings/random_clip.h"
#include "recordings/well_formed.h"
#include "retrace/io/error.h"
#include "retrace/recordings/recording.h"

namespace retrace::recordings {
namespace {

using motion::Clip;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Rotations (frames x joints) and positions (frames).
struct SmplMotion {
  std::vector<std::vector<Quat>> turns;
  std::vector<Vec3> places;
};

SmplMotion RandomMotion(uint64_t seed, size_t frames, size_t joints) {
  RandomStream random(seed, RandomStage::kTest, 3, 0);
  SmplMotion motion;
  for (size_t f = 0; f < frames; ++f) {
    motion.places.push_back(motion::laws::RandomVector(random, 1));
    auto& turns = motion.turns.emplace_back();
    for (size_t j = 0; j < joints; ++j) turns.push_back(motion::laws::RandomRotation(random));
    turns[0] = FromRotationVector(motion::laws::RandomVector(random, 0.2));  // upright
    for (const size_t j : {3u, 6u, 9u}) turns[j] = Quat::Identity();
  }
  return motion;
}

enum class Writing { kVectors, kMatrices, kColumns, kColumnsByRows };

std::vector<double> Numbers(const Quat& turn, Writing writing) {
  const Mat3 m = turn.toRotationMatrix();
  switch (writing) {
    case Writing::kVectors: {
      const Vec3 v = RotationVector(turn);
      return {v.x(), v.y(), v.z()};
    }
    case Writing::kMatrices:
      return {m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), m(2, 0), m(2, 1), m(2, 2)};
    case Writing::kColumns:
      return {m(0, 0), m(1, 0), m(2, 0), m(0, 1), m(1, 1), m(2, 1)};
    case Writing::kColumnsByRows:
      return {m(0, 0), m(0, 1), m(1, 0), m(1, 1), m(2, 0), m(2, 1)};
  }
  return {};
}

/// @param flat the numbers of a frame in one row
NpzWriter Write(const SmplMotion& motion, Writing writing, bool flat, const std::string& type = "<f8") {
  const size_t frames = motion.turns.size(), joints = motion.turns[0].size();
  std::vector<double> poses, places;
  size_t numbers = 0;
  for (size_t f = 0; f < frames; ++f) {
    for (const Quat& turn : motion.turns[f]) {
      const std::vector<double> values = Numbers(turn, writing);
      numbers = values.size();
      poses.insert(poses.end(), values.begin(), values.end());
    }
    places.insert(places.end(), motion.places[f].data(), motion.places[f].data() + 3);
  }
  std::vector<size_t> shape = {frames, joints, numbers};
  if (flat) shape = {frames, joints * numbers};
  if (!flat && writing == Writing::kMatrices) shape = {frames, joints, 3, 3};
  NpzWriter writer;
  writer.Add("poses", type, shape, poses);
  writer.Add("trans", type, {frames, 3}, places);
  return writer;
}

template <typename Kind>
std::string Refusal(const NpzWriter& writer, const NameMap& names) {
  try {
    ParseSmpl(writer.Bytes(), "clip.npz", {}, names);
  } catch (const Kind& error) {
    return error.what();
  }
  return "accepted, or another error";
}

void IsTheMotion(const Clip& clip, const SmplMotion& motion, const Quat& up, double tolerance) {
  RC_ASSERT(motion::laws::BrokenPromise(clip) == "");
  RC_ASSERT(clip.frames.size() == motion.turns.size());
  const Vec3 pelvis = SmplSkeleton(true).joints[0].offset;
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    RC_ASSERT((clip.frames[f].translations[0] - up * Vec3(pelvis + motion.places[f])).norm() < tolerance);
    for (size_t j = 0; j < 22; ++j) {
      const Quat expected = j == 0 ? Quat(up * motion.turns[f][0]) : motion.turns[f][j];
      RC_ASSERT(AngleBetween(clip.frames[f].rotations[j], expected) < tolerance);
    }
  }
}

RC_GTEST_PROP(Smpl, EveryWritingReadsBackAsTheSameMotion, ()) {
  const auto joints = *rc::gen::element<size_t>(22, 24, 52, 55).as("joints");
  const auto writing =
      *rc::gen::element(Writing::kVectors, Writing::kMatrices, Writing::kColumns, Writing::kColumnsByRows);
  const auto motion = RandomMotion(*rc::gen::arbitrary<uint64_t>().as("seed"), 3, joints);
  NpzWriter writer = Write(motion, writing, *rc::gen::arbitrary<bool>().as("flat"));
  writer.Add("fps", "<f8", {}, {50});
  const Clip clip = ParseSmpl(writer.Bytes(), "clip.npz");
  RC_ASSERT(std::abs(clip.frame_time - 0.02) < 1e-15);
  RC_ASSERT(clip.frame_time_known);
  IsTheMotion(clip, motion, Quat::Identity(), 1e-6);
}

TEST(Smpl, AmassHasItsZAxisUp) {
  const SmplMotion motion = RandomMotion(7, 2, 52);
  NpzWriter writer = Write(motion, Writing::kVectors, true);
  writer.Add("mocap_framerate", "<f8", {}, {120});
  writer.AddObject("gender");
  writer.Add("betas", "<f8", {16}, std::vector<double>(16, 1));
  const Clip clip = ParseRecording({{writer.Bytes(), "clip.npz"}, {}, {}});
  IsTheMotion(clip, motion, ShortestArc(Vec3::UnitZ(), Vec3::UnitY()), 1e-6);
  EXPECT_EQ(clip.unit, 1);
  EXPECT_THAT(clip.notes, Contains("the skeleton is the mean one of SMPL; the shape in the file (betas) is not used"));
}

TEST(Smpl, BonesAreThoseOfTheRestJointsThatAreGiven) {
  const SmplMotion motion = RandomMotion(7, 2, 24);
  NpzWriter writer = Write(motion, Writing::kVectors, true);
  // All of them half as long again, and the body moved.
  const motion::Skeleton mean = SmplSkeleton(true);
  std::vector<Vec3> at(24);
  std::vector<double> numbers;
  for (size_t j = 0; j < 24; ++j) {
    const motion::Joint& joint = mean.joints[j];
    at[j] = joint.parent < 0 ? Vec3(0, 0.1, 0) : Vec3(at[static_cast<size_t>(joint.parent)] + 1.5 * joint.offset);
    numbers.insert(numbers.end(), at[j].data(), at[j].data() + 3);
  }
  writer.Add("rest_joints", "<f8", {24, 3}, numbers);
  const Clip clip = ParseSmpl(writer.Bytes(), "clip.npz");
  EXPECT_EQ(motion::laws::BrokenPromise(clip), "");
  for (size_t j = 1; j < 24; ++j) {
    EXPECT_LT((clip.skeleton.joints[j].offset - 1.5 * mean.joints[j].offset).norm(), 1e-12) << j;
  }
  EXPECT_LT((clip.frames[1].translations[0] - motion.places[1] - Vec3(0, 0.1, 0)).norm(), 1e-12);
  EXPECT_THAT(clip.notes, Contains("bones are those between the joints of rest_joints"));
  NpzWriter few = Write(motion, Writing::kVectors, true);
  few.Add("rest_joints", "<f8", {2, 3}, {0, 0, 0, 0, 0, 0});
  EXPECT_THAT(Refusal<InputError>(few, {}),
              HasSubstr("clip.npz: rest_joints: found 2 x 3 numbers, expected places of at "
                        "least 22 joints x 3 numbers"));
}

TEST(Smpl, ArraysOfOtherNamesAreReadByAMap) {
  const SmplMotion motion = RandomMotion(7, 2, 24);
  NpzWriter writer = Write(motion, Writing::kVectors, true);
  writer.Add("hertz", "<f8", {}, {50});
  const Clip plain = ParseSmpl(writer.Bytes(), "clip.npz");
  EXPECT_FALSE(plain.frame_time_known);
  const Clip clip = ParseSmpl(writer.Bytes(), "clip.npz", {}, {{"fps", "hertz"}});
  EXPECT_NEAR(clip.frame_time, 0.02, 1e-15);
  EXPECT_THAT(Refusal<UsageError>(writer, {{"fps", "rate"}}),
              HasSubstr("clip.npz: found no array \"rate\", expected one of hertz, poses, trans"));
  EXPECT_THAT(Refusal<UsageError>(writer, {{"speed", "hertz"}}), HasSubstr("found \"speed\", expected a name such as"));
}

TEST(Smpl, VideoWithItsYAxisDownIsTurned) {
  SmplMotion motion = RandomMotion(8, 2, 24);
  for (auto& turns : motion.turns) turns[0] = AxisRotation(0, kPi) * turns[0];
  const Clip clip = ParseSmpl(Write(motion, Writing::kMatrices, false).Bytes(), "clip.npz");
  IsTheMotion(clip, motion, AxisRotation(0, kPi), 1e-6);
  EXPECT_FALSE(clip.frame_time_known);
  EXPECT_THAT(clip.notes, Contains(HasSubstr("up is -y in the file")));
}

TEST(Smpl, RootAndBodyMayBeApartAndSeveralPeopleInOneFile) {
  const SmplMotion people[] = {RandomMotion(9, 3, 22), RandomMotion(10, 3, 22)};
  std::vector<double> root, body, places;
  for (const SmplMotion& person : people) {
    for (size_t f = 0; f < 3; ++f) {
      for (size_t j = 0; j < 22; ++j) {
        const Vec3 v = RotationVector(person.turns[f][j]);
        auto& list = j == 0 ? root : body;
        list.insert(list.end(), v.data(), v.data() + 3);
      }
      places.insert(places.end(), person.places[f].data(), person.places[f].data() + 3);
    }
  }
  NpzWriter writer;
  writer.Add("root_orient", "<f8", {2, 3, 3}, root);
  writer.Add("pose_body", "<f8", {2, 3, 63}, body);
  writer.Add("trans", "<f8", {2, 3, 3}, places);
  const std::string bytes = writer.Bytes();
  IsTheMotion(ParseSmpl(bytes, "pair.npz"), people[0], Quat::Identity(), 1e-6);
  IsTheMotion(ParseSmpl(bytes, "pair.npz", {"", "2"}), people[1], Quat::Identity(), 1e-6);
  try {
    ParseSmpl(bytes, "pair.npz", {"", "3"});
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "pair.npz: found no performer \"3\", expected a number from 1 to 2");
  }
}

TEST(Smpl, OtherTypesOfNumbersAndOrders) {
  const SmplMotion motion = RandomMotion(11, 2, 24);
  IsTheMotion(ParseSmpl(Write(motion, Writing::kVectors, true, "<f4").Bytes(), "a.npz"), motion, Quat::Identity(),
              1e-5);
  IsTheMotion(ParseSmpl(Write(motion, Writing::kVectors, true, ">f8").Bytes(), "a.npz"), motion, Quat::Identity(),
              1e-6);
  IsTheMotion(ParseSmpl(Write(motion, Writing::kVectors, false, "F<f8").Bytes(), "a.npz"), motion, Quat::Identity(),
              1e-6);
}

std::string Refusal(const std::string& bytes) {
  try {
    ParseSmpl(bytes, "a.npz");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Smpl, WhatIsNoMotionIsRefusedWithTheArray) {
  EXPECT_THAT(Refusal("no archive"), HasSubstr("a.npz: found what is no zip archive ("));
  EXPECT_THAT(Refusal(""), HasSubstr("a.npz: found an empty file, expected an archive of arrays"));
  NpzWriter other;
  other.Add("weights", "<f8", {2}, {1, 2});
  EXPECT_THAT(Refusal(other.Bytes()), HasSubstr("a.npz: found the arrays weights, expected poses, pose, "));
  NpzWriter shape;
  shape.Add("poses", "<f8", {2, 10}, std::vector<double>(20, 0));
  EXPECT_THAT(Refusal(shape.Bytes()),
              HasSubstr("a.npz: poses: found 2 x 10 numbers, expected frames of rotations of 22 "));
  NpzWriter places;
  places.Add("poses", "<f8", {2, 66}, std::vector<double>(132, 0));
  places.Add("trans", "<f8", {3, 3}, std::vector<double>(9, 0));
  EXPECT_EQ(Refusal(places.Bytes()), "a.npz: trans: found 3 x 3 numbers, expected 2 x 3 numbers, as there are frames");
  NpzWriter nan;
  nan.Add("poses", "<f8", {2, 66}, std::vector<double>(132, NAN));
  EXPECT_THAT(Refusal(nan.Bytes()), HasSubstr("a.npz: poses: frame 1, joint 0: found the number nan"));
  NpzWriter skewed;
  skewed.Add("poses", "<f8", {1, 22, 3, 3}, std::vector<double>(198, 0.5));
  EXPECT_THAT(Refusal(skewed.Bytes()), HasSubstr("found a matrix that is no rotation"));
  NpzWriter rate;
  rate.Add("poses", "<f8", {2, 66}, std::vector<double>(132, 0));
  rate.Add("fps", "<f8", {}, {0});
  EXPECT_EQ(Refusal(rate.Bytes()), "a.npz: fps: found 0, expected 1 to 10000 frames per second");
}

TEST(Smpl, SizesThatTheBytesDoNotBearOutAllocateNothing) {
  for (const std::vector<size_t>& shape : {std::vector<size_t>{1000000, 66}, {size_t{1} << 40, size_t{1} << 40}}) {
    NpzWriter writer;
    writer.AddHeaderOnly("poses", "<f8", shape);
    EXPECT_THAT(Refusal(writer.Bytes()), HasSubstr("a.npz: poses: found "));
  }
}

}  // namespace
}  // namespace retrace::recordings
