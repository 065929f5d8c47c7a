#include "methods/idling/targets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "character/sample_human.h"

namespace retrace::idling {
namespace {

using control::TargetPose;

TargetPose Turned(double first, double second) {
  return {AxisRotation(2, first), AxisRotation(0, second)};
}

TEST(IdlingTargets, AnglesAreThoseOfTheJoints) {
  const TargetPose rest = Turned(0, 0), turned = Turned(0.3, -0.4);
  EXPECT_NEAR(LargestAngle(rest, turned), 0.4, 1e-12);
  EXPECT_NEAR(RmsAngle(rest, turned), std::sqrt((0.09 + 0.16) / 2), 1e-12);
  EXPECT_NEAR(LargestAngle(turned, rest), 0.4, 1e-12);
  EXPECT_EQ(LargestAngle(turned, turned), 0);
  EXPECT_EQ(RmsAngle({}, {}), 0);
}

TEST(IdlingTargets, BetweenTwoPosesEachJointTurnsEvenly) {
  const TargetPose a = Turned(0.2, 1), b = Turned(1, -1);
  for (const double share : {0.0, 0.25, 1.0}) {
    const TargetPose between = Between(a, b, share), expected = Turned(0.2 + 0.8 * share, 1 - 2 * share);
    EXPECT_NEAR(LargestAngle(between, expected), 0, 1e-9) << share;
  }
}

TEST(IdlingTargets, PerturbationsStayWithinTheirWidths) {
  const std::vector<Vec3> widths = {Vec3(0.1, 0, 0.3), Vec3::Zero()};
  const TargetPose targets = Turned(0.4, 0.5);
  RandomStream random(1, RandomStage::kTest, 0, 0);
  Vec3 largest = Vec3::Zero();
  for (int draw = 0; draw < 500; ++draw) {
    const TargetPose perturbed = Perturbed(targets, widths, random);
    const Vec3 turn = RotationVector(perturbed[0] * targets[0].conjugate());
    largest = largest.cwiseMax(turn.cwiseAbs());
    EXPECT_EQ(perturbed[1].coeffs(), targets[1].coeffs());
  }
  EXPECT_LE(largest.x(), 0.1 + 1e-9);
  EXPECT_GT(largest.x(), 0.09);
  EXPECT_LT(largest.y(), 1e-9);
  EXPECT_LE(largest.z(), 0.3 + 1e-9);
  EXPECT_GT(largest.z(), 0.27);
}

TEST(IdlingTargets, NoiseTurnsHingesAboutTheirAxesAlone) {
  const character::Character& human = character::Human();
  const TargetPose rest(human.joints.size(), Quat::Identity());
  RandomStream random(1, RandomStage::kTest, 1, 0);
  EXPECT_EQ(LargestAngle(WithNoise(rest, human, 0, random), rest), 0);
  Vec3 sum = Vec3::Zero(), squares = Vec3::Zero();
  constexpr int kDraws = 2000;
  const auto hip = static_cast<size_t>(human.FindJoint("left_hip")),
             knee = static_cast<size_t>(human.FindJoint("left_knee"));
  for (int draw = 0; draw < kDraws; ++draw) {
    const TargetPose noisy = WithNoise(rest, human, 0.02, random);
    const Vec3 turn = RotationVector(noisy[hip]), bent = RotationVector(noisy[knee]);
    sum += turn;
    squares += turn.cwiseAbs2();
    EXPECT_EQ(bent.y(), 0);
    EXPECT_EQ(bent.z(), 0);
  }
  for (int a = 0; a < 3; ++a) {
    EXPECT_NEAR(sum[a] / kDraws, 0, 0.002);
    EXPECT_NEAR(std::sqrt(squares[a] / kDraws), 0.02, 0.002);
  }
}

TEST(IdlingTargets, PerlinNoiseIsSmoothInTimeAndOfTheSameSize) {
  const character::Character& human = character::Human();
  const TargetPose rest(human.joints.size(), Quat::Identity());
  const auto hip = static_cast<size_t>(human.FindJoint("left_hip")),
             knee = static_cast<size_t>(human.FindJoint("left_knee"));
  const auto turn = [&](double time, uint64_t seed) {
    return Vec3(RotationVector(WithPerlinNoise(rest, human, 0.02, 0.5, time, seed)[hip]));
  };
  Vec3 sum = Vec3::Zero(), squares = Vec3::Zero();
  double fastest = 0;
  constexpr int kInstants = 20000;
  constexpr double kApart = 0.05;
  for (int i = 0; i < kInstants; ++i) {
    const Vec3 now = turn(i * kApart, 1);
    sum += now;
    squares += now.cwiseAbs2();
    fastest = std::max(fastest, (turn(i * kApart + 1e-4, 1) - now).norm() / 1e-4);
  }
  for (int a = 0; a < 3; ++a) {
    EXPECT_NEAR(sum[a] / kInstants, 0, 0.002);
    EXPECT_NEAR(std::sqrt(squares[a] / kInstants), 0.02, 0.002);
  }
  EXPECT_LT(fastest, 0.3);  // [rad/s]: independent turns would have no rate
  EXPECT_NE(turn(0.7, 1), turn(0.7, 2));
  EXPECT_EQ(turn(0.7, 1), turn(0.7, 1));
  EXPECT_EQ(RotationVector(WithPerlinNoise(rest, human, 0.02, 0.5, 0.7, 1)[knee]).y(), 0);
  EXPECT_EQ(LargestAngle(WithPerlinNoise(rest, human, 0, 0.5, 0.7, 1), rest), 0);
}

}  // namespace
}  // namespace retrace::idling
