#include "retrace/methods/sampling/proposal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "methods/sampling/small_problem.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::sampling {
namespace {

/// A problem for which samples are drawn.
struct Drawing {
  Drawing() : small(SmallConfiguration(), task::Standing, 0.3), problem(small.problem()) {}
  /// A state in which each joint turns by a rotation vector.
  character::State Turned(const Vec3& turn) const {
    character::Pose pose = task::StandingPose();
    for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
      const character::Joint& joint = task::Human().joints[j];
      const Vec3 own =
          joint.type == character::JointType::kHinge ? Vec3(Vec3::Unit(joint.axis) * turn[joint.axis]) : turn;
      pose.joint_rotations[j] = FromRotationVector(-own) * pose.joint_rotations[j];
    }
    character::State state;
    character::ForwardKinematics(task::Human(), pose, state);
    return state;
  }
  control::Fragment Standing() const { return {0, 12, {task::StandingPose().joint_rotations}}; }

  SmallProblem small;
  Problem problem;
};

TEST(Proposals, TheUndisplacedSampleDrivesAtTheReferenceOrTheMeans) {
  const Drawing drawing;
  Proposal uniform;
  uniform.undisplaced = 3;
  uniform.center = NoOffsets(drawing.problem);
  for (const Quat& offset : uniform.Draw(drawing.problem, 1, 3)) EXPECT_EQ(offset.w(), 1);
  NormalOffsets normal{std::vector<Vec3>(task::Human().joints.size(), Vec3(0.1, -0.2, 0)),
                       std::vector<Vec3>(task::Human().joints.size(), Vec3(0.1, 0.1, 0.1))};
  Proposal fitted;
  fitted.distribution = normal;
  EXPECT_TRUE(fitted.fitted());
  EXPECT_FALSE(uniform.fitted());
  for (const Quat& offset : fitted.Draw(drawing.problem, 1, 0)) {
    EXPECT_LT((RotationVector(offset) - Vec3(0.1, -0.2, 0)).norm(), 1e-12);
  }
}

TEST(Proposals, UniformOffsetsStayWithinTheWindowsAroundTheCenter) {
  Drawing drawing;
  drawing.problem.options.window_scale = 0.5;
  Proposal proposal;
  proposal.center = Offsets(task::Human().joints.size(), AxisRotation(1, 0.3));
  std::vector<Vec3> largest(task::Human().joints.size(), Vec3::Zero());
  for (int sample = 1; sample < 400; ++sample) {
    const std::vector<Vec3> turns = proposal.Displacement(proposal.Draw(drawing.problem, 2, sample));
    for (size_t j = 0; j < turns.size(); ++j) largest[j] = largest[j].cwiseMax(turns[j].cwiseAbs());
  }
  for (size_t j = 0; j < largest.size(); ++j) {
    const Vec3& window = task::Human().joints[j].window;
    for (int a = 0; a < 3; ++a) {
      EXPECT_LE(largest[j][a], 0.5 * window[a] + 1e-9) << task::Human().joints[j].name;
      EXPECT_GE(largest[j][a], 0.45 * window[a] - 1e-9) << task::Human().joints[j].name;
    }
  }
}

TEST(Proposals, NormalOffsetsHaveTheirMeansAndDeviations) {
  const Drawing drawing;
  NormalOffsets normal{std::vector<Vec3>(task::Human().joints.size(), Vec3(0.2, 0, 0)),
                       std::vector<Vec3>(task::Human().joints.size(), Vec3(0.05, 0, 0.1))};
  Proposal proposal;
  proposal.distribution = normal;
  proposal.center = proposal.Undisplaced(drawing.problem);
  Vec3 sum = Vec3::Zero(), squares = Vec3::Zero();
  constexpr int kSamples = 2000;
  for (int sample = 1; sample <= kSamples; ++sample) {
    const Vec3 turn = RotationVector(proposal.Draw(drawing.problem, 0, sample)[0]) - Vec3(0.2, 0, 0);
    sum += turn;
    squares += turn.cwiseAbs2();
  }
  EXPECT_LT((sum / kSamples).norm(), 0.01);
  EXPECT_NEAR(std::sqrt(squares.x() / kSamples), 0.05, 0.004);
  EXPECT_LT(squares.y(), 1e-12);
  EXPECT_NEAR(std::sqrt(squares.z() / kSamples), 0.1, 0.008);
}

/// A joint that ends 0.1 rad short of its target is driven 0.2 rad farther.
TEST(Proposals, TheCenterIsWhatTheUndisplacedSampleMisses) {
  Drawing drawing;
  const Proposal proposal;
  EXPECT_TRUE(proposal.CenterNeedsSimulation(drawing.problem.options));
  const Vec3 missed(0.1, 0, 0);
  Offsets center = proposal.FindCenter(drawing.problem, drawing.Standing(), drawing.Turned(missed));
  for (size_t j = 0; j < center.size(); ++j) {
    const character::Joint& joint = task::Human().joints[j];
    const bool turns = joint.type == character::JointType::kBall || joint.axis == 0;
    EXPECT_LT((RotationVector(center[j]) - (turns ? 2 : 0) * missed).norm(), 1e-6) << joint.name;
  }
  drawing.problem.options.feedforward_limit = 0.15;
  center = proposal.FindCenter(drawing.problem, drawing.Standing(), drawing.Turned(missed));
  EXPECT_NEAR(RotationVector(center[0]).norm(), 0.15, 1e-9);
  drawing.problem.options.feedforward = false;
  EXPECT_FALSE(proposal.CenterNeedsSimulation(drawing.problem.options));
  center = proposal.FindCenter(drawing.problem, drawing.Standing(), drawing.Turned(missed));
  EXPECT_EQ(center[0].w(), 1);
}

TEST(Proposals, TheCenterOfFittedOffsetsIsCorrectedByWhatTheyMissOfTheirGoal) {
  Drawing drawing;
  drawing.problem.options.correction = 1.5;
  NormalOffsets normal{std::vector<Vec3>(task::Human().joints.size(), Vec3(0.05, 0, 0)),
                       std::vector<Vec3>(task::Human().joints.size(), Vec3::Zero())};
  Proposal proposal;
  proposal.distribution = normal;
  EXPECT_FALSE(proposal.CenterNeedsSimulation(drawing.problem.options));
  normal.goal = task::StandingPose().joint_rotations;
  proposal.distribution = normal;
  EXPECT_TRUE(proposal.CenterNeedsSimulation(drawing.problem.options));
  const Offsets center = proposal.FindCenter(drawing.problem, drawing.Standing(), drawing.Turned(Vec3(0.1, 0, 0)));
  EXPECT_LT((RotationVector(center[0]) - Vec3(0.05 + 0.15, 0, 0)).norm(), 1e-6);
}

/// Without random displacements what is left of that of the start state is its share.
TEST(Proposals, SamplesKeepAShareOfTheDisplacementOfTheirStartState) {
  Drawing drawing;
  drawing.problem.options.correlation = 0.6;
  drawing.problem.options.window_scale = 0;
  Proposal proposal;
  proposal.center = NoOffsets(drawing.problem);
  proposal.kept = std::vector<Vec3>(task::Human().joints.size(), Vec3(0.1, 0.1, 0.1));
  const std::vector<Vec3> turns = proposal.Displacement(proposal.Draw(drawing.problem, 0, 1));
  for (size_t j = 0; j < turns.size(); ++j) {
    for (int a = 0; a < 3; ++a) {
      EXPECT_NEAR(turns[j][a], task::Human().joints[j].window[a] > 0 ? 0.06 : 0, 1e-9) << task::Human().joints[j].name;
    }
  }
  proposal.kept.reset();
  EXPECT_LT(proposal.Displacement(proposal.Draw(drawing.problem, 0, 1))[0].norm(), 1e-12);
}

TEST(Proposals, ADrawIsAFunctionOfSeedIterationAndSample) {
  Drawing drawing;
  Proposal proposal;
  proposal.center = NoOffsets(drawing.problem);
  const auto draw = [&](int iteration, int sample) {
    return Vec3(RotationVector(proposal.Draw(drawing.problem, iteration, sample)[0]));
  };
  const Vec3 first = draw(3, 7);
  EXPECT_NE(draw(3, 8), first);
  EXPECT_NE(draw(4, 7), first);
  EXPECT_EQ(draw(3, 7), first);
  drawing.problem.options.seed = 2;
  EXPECT_NE(draw(3, 7), first);
}

}  // namespace
}  // namespace retrace::sampling
