/// Legs over the gait cycle, of a walk that is made up: feet that strike by the clock, and joints that turn as told.
#include "report/shown_cycles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/packed.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::report {
namespace {

constexpr double kStep = 1.0 / 240;  // [s]
constexpr double kStride = 1;        // [s]
constexpr double kFirst = 0.2;       // first strike of the left foot [s]
constexpr double kSwing = 0.3;       // [rad]
constexpr double kMoment = 40;       // [N m]

const character::Character& Walker() {
  static const character::Character human =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  return human;
}

double Phase(double time, bool left) {
  return (time - kFirst - (left ? 0 : 0.5 * kStride)) / kStride;
}

/// The hip swings once in a stride, forward at the strike; the foot is on the ground for 60 % of it.
control::Trajectory Walk(double seconds, bool both_feet = true) {
  const character::Character& human = Walker();
  control::Trajectory walk;
  walk.time_step = kStep;
  const auto steps = static_cast<size_t>(std::lround(seconds / kStep));
  for (size_t i = 0; i <= steps; ++i) {
    const double time = static_cast<double>(i) * kStep;
    character::Pose pose;
    pose.root_position = human.bodies[static_cast<size_t>(human.root)].rest_position;
    pose.joint_rotations.assign(human.joints.size(), Quat::Identity());
    std::vector<Vec3> torques(human.joints.size(), Vec3::Zero());
    std::vector<simulation::Contact> contacts;
    for (const bool left : {true, false}) {
      const std::string side = left ? "left_" : "right_";
      const auto hip = static_cast<size_t>(human.FindJoint(side + "hip"));
      const double swing = std::cos(2 * kPi * Phase(time, left));
      pose.joint_rotations[hip] = AxisRotation(0, -kSwing * swing);
      torques[hip] = Vec3(kMoment * swing, 0, 0);
      const double phase = Phase(time, left);
      if (phase < 0 || phase - std::floor(phase) > 0.6 || !(left || both_feet)) continue;
      simulation::Contact& contact = contacts.emplace_back();
      contact.body = human.FindBody(side + "foot");
      contact.normal = Vec3::UnitY();
      contact.force = Vec3(0, 700, 0);
    }
    character::ForwardKinematics(human, pose, walk.states.emplace_back());
    if (i == 0) continue;
    walk.contacts.push_back(contacts);
    walk.torques.push_back(torques);
  }
  return walk;
}

std::vector<float> ValuesOf(const io::Json& side, const std::string& name, const char* kind = "mean") {
  for (const io::Json& curve : side["curves"]) {
    if (curve["name"] == name) return Unpack<float>(curve.at(kind));
  }
  ADD_FAILURE() << "no curve " << name;
  return std::vector<float>(101);
}

TEST(LegRecord, CurvesGoFromStrikeToStrike) {
  LegRecord record(Walker());
  record.Add(Walk(4.5));
  const io::Json json = record.ToJson(nullptr);
  ASSERT_EQ(json["left"]["strides"].size(), 4u);
  ASSERT_EQ(json["right"]["strides"].size(), 3u);
  EXPECT_NEAR(json["left"]["strides"][1]["start"].get<double>(), kFirst + kStride, 2 * kStep);
  EXPECT_NEAR(json["right"]["strides"][0]["start"].get<double>(), kFirst + 0.5 * kStride, 2 * kStep);
  for (const char* side : {"left", "right"}) {
    const auto flexion = ValuesOf(json[side], "hip_flexion"), moment = ValuesOf(json[side], "hip_extension_moment"),
               force = ValuesOf(json[side], "vertical_force");
    ASSERT_EQ(flexion.size(), 101u);
    for (size_t k = 0; k <= 100; k += 10) {
      const double swing = std::cos(2 * kPi * static_cast<double>(k) / 100);
      EXPECT_NEAR(flexion[k], Degrees(kSwing) * swing, 0.6) << side << " " << k;
      EXPECT_NEAR(moment[k], kMoment * swing / Walker().total_mass(), 0.03 * kMoment / Walker().total_mass()) << k;
      EXPECT_NEAR(ValuesOf(json[side], "knee_flexion")[k], 0, 1e-3);
    }
    EXPECT_NEAR(force[30], 700 / Walker().total_mass(), 0.05);
    EXPECT_NEAR(force[80], 0, 0.05);
    EXPECT_LT(ValuesOf(json[side], "hip_flexion", "deviation")[30], 0.5);
  }
}

TEST(LegRecord, PartsAreTheWhole) {
  const control::Trajectory walk = Walk(2.5);
  LegRecord whole(Walker()), parts(Walker());
  whole.Add(walk);
  const size_t cut = walk.num_steps() / 2;
  control::Trajectory first = walk, second = walk;
  first.states.resize(cut + 1);
  first.contacts.resize(cut);
  first.torques.resize(cut);
  const auto at = static_cast<std::ptrdiff_t>(cut);
  second.first_step = cut;
  second.states.erase(second.states.begin(), second.states.begin() + at);
  second.contacts.erase(second.contacts.begin(), second.contacts.begin() + at);
  second.torques.erase(second.torques.begin(), second.torques.begin() + at);
  parts.Add(first);
  parts.Add(second);
  EXPECT_EQ(whole.ToJson(nullptr), parts.ToJson(nullptr));
}

TEST(LegRecord, HoppingOnOneLegIsNoGait) {
  LegRecord record(Walker());
  record.Add(Walk(4.5, false));
  EXPECT_TRUE(record.ToJson(nullptr).is_null());
}

TEST(LegRecord, AFootThatStandsAtTheStartDoesNotStrike) {
  control::Trajectory walk = Walk(3.5);
  const auto cut = static_cast<std::ptrdiff_t>(std::lround((kFirst + 0.1) / kStep));  // the left foot is down
  walk.states.erase(walk.states.begin(), walk.states.begin() + cut);
  walk.contacts.erase(walk.contacts.begin(), walk.contacts.begin() + cut);
  walk.torques.erase(walk.torques.begin(), walk.torques.begin() + cut);
  LegRecord record(Walker());
  record.Add(walk);
  const io::Json json = record.ToJson(nullptr);
  ASSERT_EQ(json["left"]["strides"].size(), 2u);
  EXPECT_NEAR(json["left"]["strides"][0]["start"].get<double>(), kStride - 0.1, 2 * kStep);
}

TEST(LegRecord, AFewStepsInALongMotionAreNoGait) {
  control::Trajectory walk = Walk(2.5);
  for (int i = 0; i < 2000; ++i) {
    walk.states.push_back(walk.states.back());
    walk.contacts.emplace_back();
    walk.torques.emplace_back(Walker().joints.size(), Vec3::Zero());
  }
  LegRecord record(Walker());
  record.Add(walk);
  EXPECT_TRUE(record.ToJson(nullptr).is_null());
}

TEST(LegRecord, OfACharacterWithoutTwoLegsThereIsNone) {
  const character::Character dog =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/quadruped.json");
  LegRecord record(dog);
  control::Trajectory still;
  still.time_step = kStep;
  still.states.emplace_back(dog.bodies.size());
  record.Add(still);
  EXPECT_TRUE(record.ToJson(nullptr).is_null());
}

}  // namespace
}  // namespace retrace::report
