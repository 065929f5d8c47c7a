/// The states of a motion on the grids of time of the report page.
#include "report/shown_motion.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "character/sample_human.h"

namespace retrace::report {
namespace {

using character::Human;
using character::Pose;
using character::RestPose;
using character::State;
using character::StateOf;

/// The numbers of a packed array.
std::vector<float> Unpacked(const io::Json& array) {
  EXPECT_EQ(array.at("type"), "f32");
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : array.at("data").get<std::string>()) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 255));
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

/// Rises by a millimeter a step.
State Risen(size_t step) {
  Pose pose = RestPose(Human());
  pose.root_position.y() += 0.001 * static_cast<double>(step);
  return StateOf(Human(), pose);
}

control::Trajectory Part(size_t first, size_t steps) {
  control::Trajectory part;
  part.time_step = 1.0 / 240;
  part.first_step = first;
  for (size_t i = 0; i <= steps; ++i) part.states.push_back(Risen(first + i));
  return part;
}

TEST(ShownMotion, HasFramesAndSamplesOfItsGrids) {
  MotionTrace whole(Human(), {4, 2});
  whole.Add(Part(0, 12));
  EXPECT_EQ(whole.steps(), 12u);
  const io::Json json = whole.ToJson();
  EXPECT_NEAR(json.at("duration").get<double>(), 12.0 / 240, 1e-12);
  EXPECT_EQ(json.at("diverged"), false);
  EXPECT_EQ(Unpacked(json.at("frames")).size(), 4 * 7 * Human().bodies.size());
  const std::vector<float> root = Unpacked(json.at("root"));
  ASSERT_EQ(root.size(), 3 * 7u);
  const double start = Risen(0)[static_cast<size_t>(Human().root)].position.y();
  for (size_t k = 0; k < 7; ++k) EXPECT_NEAR(root[3 * k + 1], start + 0.002 * static_cast<double>(k), 1e-6);
  const std::vector<float> center = Unpacked(json.at("center_of_mass"));
  EXPECT_NEAR(center[3 * 6 + 1] - center[1], 0.012, 1e-6);
  for (const float angle : Unpacked(json.at("angles"))) EXPECT_NEAR(angle, 0, 1e-6);
}

TEST(ShownMotion, InPartsIsTheSameAsAWhole) {
  MotionTrace whole(Human(), {4, 2}), parts(Human(), {4, 2});
  whole.Add(Part(0, 13));
  parts.Add(Part(0, 5));
  parts.Add(Part(5, 8));
  EXPECT_EQ(whole.ToJson(), parts.ToJson());
}

TEST(ShownMotion, AReferenceHasTheSameGrids) {
  const character::ReferenceMotion reference(Human(), 1.0 / 120, std::vector<Pose>(25, RestPose(Human())), 1.0 / 60);
  const io::Json json = ReferenceToJson(reference, 1.0 / 240, 12, {4, 2});
  EXPECT_EQ(Unpacked(json.at("frames")).size(), 4 * 7 * Human().bodies.size());
  EXPECT_EQ(Unpacked(json.at("root")).size(), 3 * 7u);
  EXPECT_NEAR(json.at("duration").get<double>(), reference.duration(), 1e-12);
}

}  // namespace
}  // namespace retrace::report
