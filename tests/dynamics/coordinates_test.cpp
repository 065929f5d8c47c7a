/// Generalized coordinates against the kinematics of bodies, and against differences.
#include "retrace/dynamics/coordinates.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "dynamics/sample_motion.h"
#include "math/any_stream.h"

namespace retrace::dynamics {
namespace {

using character::Pose;
using character::State;
using Eigen::VectorXd;

TEST(Coordinates, CountTheDegreesOfFreedom) {
  for (const char* name : kCharacters) {
    const Coordinates coordinates(Bundled(name));
    EXPECT_EQ(coordinates.size(), Bundled(name).dof()) << name;
    int next = 6;
    for (size_t j = 0; j < Bundled(name).joints.size(); ++j) {
      EXPECT_EQ(coordinates.FirstOf(static_cast<int>(j)), next);
      next += Bundled(name).joints[j].num_axes();
    }
    EXPECT_EQ(coordinates.size(), next);
  }
}

RC_GTEST_PROP(CoordinatesProperty, StatesGiveBackTheirPoseAndVelocity, ()) {
  RandomStream random = AnyStream();
  for (const char* name : kCharacters) {
    const Coordinates coordinates(Bundled(name));
    const Motion motion = AnyMotion(coordinates, random);
    Pose pose;
    VectorXd velocity(coordinates.size()), rest(coordinates.size());
    coordinates.PoseOf(motion.state, pose);
    coordinates.VelocityOf(motion.state, velocity);
    coordinates.Difference(motion.pose, pose, rest);
    RC_ASSERT(rest.cwiseAbs().maxCoeff() < 1e-12);
    RC_ASSERT((velocity - motion.velocity).cwiseAbs().maxCoeff() < 1e-12);
  }
}

RC_GTEST_PROP(CoordinatesProperty, VelocitiesOfBodiesAreTheDerivativesOfTheirPlaces, ()) {
  RandomStream random = AnyStream();
  const double h = 1e-5;
  for (const char* name : kCharacters) {
    const Coordinates coordinates(Bundled(name));
    const Motion motion = AnyMotion(coordinates, random);
    const VectorXd none = VectorXd::Zero(coordinates.size());
    State mean = motion.state;
    character::DifferenceVelocities(StateAfter(coordinates, motion, none, -h), StateAfter(coordinates, motion, none, h),
                                    2 * h, mean);
    for (size_t b = 0; b < mean.size(); ++b) {
      RC_ASSERT((mean[b].linear_velocity - motion.state[b].linear_velocity).norm() < 1e-6);
      RC_ASSERT((mean[b].angular_velocity - motion.state[b].angular_velocity).norm() < 1e-6);
    }
  }
}

RC_GTEST_PROP(CoordinatesProperty, AdvanceGoesWhereDifferenceSays, ()) {
  RandomStream random = AnyStream();
  for (const char* name : kCharacters) {
    const Coordinates coordinates(Bundled(name));
    const Pose from = AnyMotion(coordinates, random).pose, to = AnyMotion(coordinates, random).pose;
    VectorXd displacement(coordinates.size()), rest(coordinates.size());
    coordinates.Difference(from, to, displacement);
    Pose pose = from;
    coordinates.Advance(displacement, pose);
    coordinates.Difference(pose, to, rest);
    RC_ASSERT(rest.cwiseAbs().maxCoeff() < 1e-7);  // the logarithm near half a turn
  }
}

TEST(Coordinates, OfAHingeOnlyTheTurnAboutItsAxisIsSeen) {
  const character::Character& human = Bundled("human");
  const Coordinates coordinates(human);
  const int knee = human.FindJoint("left_knee");
  const character::Joint& joint = human.joints[static_cast<size_t>(knee)];
  ASSERT_EQ(joint.type, character::JointType::kHinge);
  Pose pose = character::RestPose(human);
  pose.joint_rotations[static_cast<size_t>(knee)] = AxisRotation(joint.axis, 0.7);
  State state;
  coordinates.StateOf(pose, VectorXd::Zero(coordinates.size()), state);
  // As the step of a simulation leaves it: bent a little across the axis.
  auto& shin = state[static_cast<size_t>(joint.child)];
  shin.orientation = AxisRotation((joint.axis + 1) % 3, 1e-3) * shin.orientation;
  shin.position += Vec3(1e-3, 0, 2e-3);
  Pose seen;
  coordinates.PoseOf(state, seen);
  EXPECT_LT(AngleBetween(seen.joint_rotations[static_cast<size_t>(knee)], AxisRotation(joint.axis, 0.7)), 1e-5);
  EXPECT_EQ(seen.joint_rotations[static_cast<size_t>(knee)].coeffs()[(joint.axis + 1) % 3], 0);
}

}  // namespace
}  // namespace retrace::dynamics
