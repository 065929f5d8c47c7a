#include "planning/response/kinematic_blend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "character/sample_human.h"
#include "retrace/character/kinematics.h"
#include "retrace/metrics/foot_slide.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {
namespace {

using character::Human;
using character::Pose;
using character::State;

constexpr double kBlendStep = 1.0 / 240;  // [s]
constexpr int kEntered = 120;             // T

using PoseOfTime = std::function<void(double time, Pose& pose)>;

/// Gliding upright along z, the trunk bent by an angle that grows evenly.
PoseOfTime Gliding(double speed, double bend, double bend_rate, double height = 0) {
  return [=](double time, Pose& pose) {
    pose = character::RestPose(Human());
    pose.root_position += Vec3(0, height, speed * time);
    character::RotationOf(Human(), pose, "waist") = AxisRotation(0, bend + bend_rate * time);
  };
}

/// A blend from one motion, which stands for what is simulated, into another one at step kEntered.
struct SampleBlend {
  SampleBlend(Blend blend, const PoseOfTime& simulation, const PoseOfTime& motion) {
    Pose pose;
    for (int step = 0; step <= 2 * kEntered; ++step) {
      simulation((step - kEntered) * kBlendStep, pose);
      simulated.push_back(character::StateOf(Human(), pose));
    }
    for (size_t step = 1; step + 1 < simulated.size(); ++step) {
      character::DifferenceVelocities(simulated[step - 1], simulated[step + 1], 2 * kBlendStep, simulated[step]);
    }
    problem.emplace(BlendProblem{Human(), kBlendStep, blend, 60, 96, kEntered,
                                 std::span<const State>(simulated).first(kEntered + 1), motion, 1});
    ending = BlendIn(*problem);
  }

  /// Poses from T on.
  std::vector<Pose> Entered() const {
    const double lead = (problem->step - ending.first_step) * kBlendStep;
    return {ending.poses.begin() + std::lround(lead / kCompositionFrame), ending.poses.end()};
  }

  std::vector<State> simulated;
  std::optional<BlendProblem> problem;
  control::KinematicEnding ending;
};

double LargestTurn(const Pose& a, const Pose& b) {
  double largest = AngleBetween(a.root_orientation, b.root_orientation);
  for (size_t j = 0; j < a.joint_rotations.size(); ++j) {
    largest = std::max(largest, AngleBetween(a.joint_rotations[j], b.joint_rotations[j]));
  }
  return largest;
}

TEST(KinematicBlend, ALinearOneIsTheMotionFromTheBlowOn) {
  const PoseOfTime motion = Gliding(1, 0.2, 0.1);
  const SampleBlend sample(Blend::kLinear, Gliding(0.5, 0, 0), motion);
  EXPECT_EQ(sample.ending.first_step, 60);
  EXPECT_EQ(sample.ending.step, kEntered);
  EXPECT_EQ(sample.ending.frame_time, kCompositionFrame);
  ASSERT_EQ(sample.ending.poses.size(), 151u);  // a quarter of a second, then a second
  Pose expected;
  for (size_t f = 0; f < sample.ending.poses.size(); ++f) {
    motion(static_cast<double>(f) * kCompositionFrame - 0.25, expected);
    EXPECT_LT((sample.ending.poses[f].root_position - expected.root_position).norm(), 1e-12);
    EXPECT_LT(LargestTurn(sample.ending.poses[f], expected), 1e-9);
  }
}

TEST(KinematicBlend, AMatchedOneBeginsWithThePoseAndTheVelocityOfTheSimulation) {
  const PoseOfTime simulation = Gliding(0.8, 0.3, -0.4, 0.05), motion = Gliding(1.5, 0, 0.2);
  const SampleBlend sample(Blend::kMatched, simulation, motion);
  const std::vector<Pose> poses = sample.Entered();
  ASSERT_EQ(poses.size(), 121u);
  Pose expected;
  simulation(0, expected);
  EXPECT_LT((poses[0].root_position - expected.root_position).norm(), 1e-9);
  EXPECT_LT(LargestTurn(poses[0], expected), 1e-6);
  // One frame on, what fades away has changed by the second order of a frame alone.
  simulation(kCompositionFrame, expected);
  EXPECT_LT((poses[1].root_position - expected.root_position).norm(), 1e-4);
  EXPECT_LT(LargestTurn(poses[1], expected), 2e-4);
}

TEST(KinematicBlend, AMatchedOneEndsInTheMotionItself) {
  const PoseOfTime motion = Gliding(1.5, 0, 0.2);
  const SampleBlend sample(Blend::kMatched, Gliding(0.5, 0.3, -0.4, 0.05), motion);
  const std::vector<Pose> poses = sample.Entered();
  Pose expected;
  motion(0.3, expected);
  // Along the ground it goes on from where the blend ends: 0.3 s in which half of the difference is left in the mean.
  const Vec3 offset = poses[36].root_position - expected.root_position;
  EXPECT_NEAR(offset.y(), 0, 1e-9);
  EXPECT_NEAR(offset.z(), -0.5 * 0.3 * 1.0, 1e-6);
  for (size_t f = 36; f < poses.size(); ++f) {
    motion(static_cast<double>(f) * kCompositionFrame, expected);
    EXPECT_LT((poses[f].root_position - expected.root_position - offset).norm(), 1e-9);
    EXPECT_LT(LargestTurn(poses[f], expected), 1e-9);
  }
}

/// What joins without a difference is what it would be in one motion.
TEST(KinematicBlend, WhereNothingDiffersNothingIsHidden) {
  const PoseOfTime motion = Gliding(1, 0.1, 0.5);
  const SampleBlend sample(Blend::kMatched, motion, motion);
  EXPECT_EQ(sample.ending.first_step, sample.ending.step);
  Pose expected;
  for (size_t f = 0; f < sample.ending.poses.size(); ++f) {
    motion((sample.ending.first_step - kEntered) * kBlendStep + static_cast<double>(f) * kCompositionFrame, expected);
    EXPECT_LT((sample.ending.poses[f].root_position - expected.root_position).norm(), 1e-9);
    EXPECT_LT(LargestTurn(sample.ending.poses[f], expected), 1e-6);
  }
  const ResponseBlend blend = MeasureBlend(*sample.problem, sample.ending, sample.simulated, sample.simulated);
  EXPECT_LT(blend.position_jump, 1e-6);
  EXPECT_LT(blend.begin_velocity_jump, 1e-3);
  EXPECT_LT(blend.end_velocity_jump, 1e-3);
  EXPECT_TRUE(blend.smooth());
  EXPECT_NEAR(blend.to - kEntered * kBlendStep, 0.3, kBlendStep);
  EXPECT_NEAR(blend.foot_slide, blend.motion_foot_slide, 1e-6);
  EXPECT_NEAR(blend.motion_foot_slide, 1, 1e-6);  // it glides
}

/// Bodies that are torn from one another at T are shown by their poses from shortly before on.
TEST(KinematicBlend, BeginsBeforeBodiesAreTornApart) {
  const PoseOfTime motion = Gliding(0, 0, 0);
  SampleBlend sample(Blend::kMatched, motion, motion);
  const auto hand = static_cast<size_t>(Human().FindBody("left_hand"));
  for (int step = kEntered - 9; step <= kEntered; ++step) {
    sample.simulated[static_cast<size_t>(step)][hand].position.x() += 0.02;
  }
  const control::KinematicEnding ending = BlendIn(*sample.problem);
  EXPECT_EQ(ending.first_step, ending.step);
  EXPECT_LE(ending.first_step, kEntered - 10);
  EXPECT_GE(ending.first_step, kEntered - 24);  // a tenth of a second
  // But not before the run's own control ends.
  sample.problem->exit_step = kEntered - 4;
  EXPECT_GE(BlendIn(*sample.problem).first_step, kEntered - 4);
}

/// A motion that sinks for a while is raised there, and nowhere else, by a smooth curve.
TEST(KinematicBlend, WhatIsInTheFloorIsLifted) {
  control::KinematicEnding ending{0, 0, kCompositionFrame, {}};
  const Pose standing = character::RestPose(Human());
  for (int f = 0; f < 240; ++f) {
    Pose pose = standing;
    const double s = (f - 100) / 40.0;
    if (s > 0 && s < 1) pose.root_position.y() -= 0.2 * std::pow(std::sin(std::numbers::pi * s), 2);
    ending.poses.push_back(pose);
  }
  EXPECT_GT(LiftOutOfFloor(Human(), ending), 0.15);
  std::vector<State> states;
  for (const Pose& pose : ending.poses) character::ForwardKinematics(Human(), pose, states.emplace_back());
  EXPECT_LT(metrics::DeepestPoint(Human(), states), 0.005);
  EXPECT_NEAR(ending.poses[50].root_position.y(), standing.root_position.y(), 1e-9);
  EXPECT_NEAR(ending.poses[200].root_position.y(), standing.root_position.y(), 1e-9);
  for (size_t f = 1; f + 1 < ending.poses.size(); ++f) {
    const double bend = ending.poses[f + 1].root_position.y() - 2 * ending.poses[f].root_position.y() +
                        ending.poses[f - 1].root_position.y();
    EXPECT_LT(std::abs(bend), 0.004) << f;
  }
}

TEST(KinematicBlend, AJumpIsMeasured) {
  const PoseOfTime standing = Gliding(0, 0, 0);
  const SampleBlend sample(Blend::kMatched, standing, standing);
  // What is shown stands 5 cm beside what it should.
  std::vector<State> shown = sample.simulated;
  for (size_t step = static_cast<size_t>(sample.ending.step); step < shown.size(); ++step) {
    character::Translate(shown[step], Vec3(0, 0.05, 0));
  }
  const ResponseBlend blend = MeasureBlend(*sample.problem, sample.ending, shown, sample.simulated);
  EXPECT_NEAR(blend.position_jump, 0.05, 1e-6);
  EXPECT_FALSE(blend.smooth());
}

}  // namespace
}  // namespace retrace::runs
