/// Spikes of a recording are bridged; what a body can do stays to the bit, and so does what cannot be judged.
#include "retargeting/recorded_spikes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "character/sample_human.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

using ::testing::IsEmpty;

constexpr double kSixtieth = 1.0 / 60;

std::vector<Pose> Walking() {
  return Walk().Poses(Human(), 3, kSixtieth);
}

/// Turns a joint by an angle more at each of the frames.
void Turn(const std::string& joint, size_t first, const std::vector<double>& degrees, std::vector<Pose>& poses) {
  for (size_t i = 0; i < degrees.size(); ++i) {
    Quat& rotation = RotationOf(Human(), poses[first + i], joint);
    rotation = rotation * AxisRotation(0, Radians(degrees[i]));
  }
}

bool AreTheSame(const std::vector<Pose>& a, const std::vector<Pose>& b) {
  for (size_t f = 0; f < a.size(); ++f) {
    if (a[f].root_orientation.coeffs() != b[f].root_orientation.coeffs()) return false;
    for (size_t j = 0; j < a[f].joint_rotations.size(); ++j) {
      if (a[f].joint_rotations[j].coeffs() != b[f].joint_rotations[j].coeffs()) return false;
    }
  }
  return true;
}

TEST(RecordedSpikes, AJointThatJumpsAndReturnsIsTurnedSteadily) {
  const std::vector<Pose> right = Walking();
  std::vector<Pose> poses = right;
  Turn("left_hip", 60, {150, 170, 160}, poses);
  ReferenceReport report;
  BridgeSpikes(Human(), kSixtieth, 1, 0.5, poses, report);
  const auto hip = static_cast<size_t>(Human().FindJoint("left_hip"));
  for (size_t f = 0; f < poses.size(); ++f) {
    const bool bridged = f >= 60 && f < 63;
    EXPECT_LT(AngleBetween(poses[f].joint_rotations[hip], right[f].joint_rotations[hip]), bridged ? Radians(5) : 1e-12)
        << f;
  }
  ASSERT_EQ(report.notes.size(), 1);
  EXPECT_THAT(report.notes[0], ::testing::HasSubstr("left_thigh bridged from 1.48 to 1.55 s: turned by 1"));
  ASSERT_EQ(report.doubts.size(), 1) << "it is warned of";
  EXPECT_THAT(report.doubts[0].text, ::testing::HasSubstr("jump elsewhere and back at 1 instant of the recording"));
}

TEST(RecordedSpikes, ASpikeOfTheRootIsBridgedToo) {
  const std::vector<Pose> right = Walking();
  std::vector<Pose> poses = right;
  poses[80].root_orientation = poses[80].root_orientation * AxisRotation(1, 2);
  ReferenceReport report;
  BridgeSpikes(Human(), kSixtieth, 1, 0, poses, report);
  EXPECT_LT(AngleBetween(poses[80].root_orientation, right[80].root_orientation), Radians(3));
  EXPECT_EQ(report.notes.size(), 1);
}

TEST(RecordedSpikes, AWalkStaysAsItIs) {
  const std::vector<Pose> right = Walking();
  std::vector<Pose> poses = right;
  ReferenceReport report;
  BridgeSpikes(Human(), kSixtieth, 1, 0, poses, report);
  EXPECT_TRUE(AreTheSame(poses, right));
  EXPECT_THAT(report.notes, IsEmpty());
}

TEST(RecordedSpikes, AFastKickIsNone) {
  // A knee that extends by 90 degrees at 30 rad/s and bends again at 12: as fast as any person.
  std::vector<Pose> kicking = Walking();
  Turn("left_knee", 60, {-28, -56, -84, -90, -79, -68, -57, -46, -35, -24, -13, -2}, kicking);
  std::vector<Pose> poses = kicking;
  ReferenceReport report;
  BridgeSpikes(Human(), kSixtieth, 1, 0, poses, report);
  EXPECT_TRUE(AreTheSame(poses, kicking));
}

TEST(RecordedSpikes, AJointThatStaysWhereItJumpedToIsLeftAsItIs) {
  std::vector<Pose> flipped = Walking();
  Turn("left_wrist", 60, std::vector<double>(flipped.size() - 60, 170), flipped);
  std::vector<Pose> poses = flipped;
  ReferenceReport report;
  BridgeSpikes(Human(), kSixtieth, 1, 0, poses, report);
  EXPECT_TRUE(AreTheSame(poses, flipped));
}

TEST(RecordedSpikes, WhatIsPlayedSlowlyIsJudgedAtItsSpeed) {
  std::vector<Pose> fast = Walking();
  Turn("left_wrist", 60, {40, 80, 40}, fast);  // 42 rad/s
  for (const bool slow : {false, true}) {
    std::vector<Pose> poses = fast;
    ReferenceReport report;
    BridgeSpikes(Human(), kSixtieth, slow ? 2 : 1, 0, poses, report);
    EXPECT_EQ(AreTheSame(poses, fast), slow);
  }
}

TEST(RecordedSpikes, SpikesAtOneTimeAreOneNoteAndManyAreCounted) {
  std::vector<Pose> poses = Walking();
  for (size_t f : {20, 40, 60, 80, 100, 120}) {
    Turn("left_hip", f, {150}, poses);
    Turn("right_hip", f, {150}, poses);
  }
  ReferenceReport report;
  BridgeSpikes(Human(), kSixtieth, 1, 0, poses, report);
  ASSERT_EQ(report.notes.size(), 5);
  EXPECT_THAT(report.notes[0], ::testing::StartsWith("left_thigh, right_thigh bridged from"));
  EXPECT_EQ(report.notes[4], "and so at 2 more instants");
}

}  // namespace
}  // namespace retrace::character
