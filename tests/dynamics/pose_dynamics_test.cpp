/// What poses require, and what they do with forces that satisfy it.
#include "retrace/dynamics/pose_dynamics.h"

#include <gtest/gtest.h>

#include "dynamics/sample_motion.h"
#include "retrace/optimization/quadratic_program.h"

namespace retrace::dynamics {
namespace {

/// The human at rest, upright.
character::ReferenceMotion Still() {
  const character::Character& human = Bundled("human");
  character::Pose pose;
  pose.root_position = human.bodies[static_cast<size_t>(human.root)].rest_position;
  pose.joint_rotations.assign(human.joints.size(), Quat::Identity());
  return {human, 1.0 / 120, std::vector<character::Pose>(4, pose), 1.0 / 60};
}

TEST(PoseDynamics, StandingStillRequiresTheWeightUnderTheCenterOfMass) {
  const character::ReferenceMotion reference = Still();
  PoseDynamics pose(reference, kStandardGravity);
  RequiredForces required;
  pose.SetPose(2);
  pose.Require(required);
  EXPECT_NEAR(required.time, 2.0 / 120, 1e-12);
  EXPECT_LT((required.force - Vec3(0, pose.weight(), 0)).norm(), 1e-9 * pose.weight());
  EXPECT_LT(required.moment.norm(), 1e-9 * pose.weight());
  const Vec3 under(required.center_of_mass.x(), 0, required.center_of_mass.z());
  pose.Press({reference.character().root, required.force, under, 0});
  pose.FindTorques(required);
  EXPECT_LT(required.missing_force.norm(), 1e-9 * pose.weight());
  EXPECT_LT(required.missing_moment.norm(), 1e-9 * pose.weight());
  EXPECT_EQ(required.torques.size(), reference.character().joints.size());
  // The next pose begins without what pressed on this one.
  RequiredForces next;
  pose.SetPose(1);
  pose.Require(next);
  pose.FindTorques(next);
  EXPECT_LT((next.missing_force - next.force).norm(), 1e-9 * pose.weight());
}

TEST(PoseDynamics, ForcesAtPointsPushInsideThePyramidAndAddUp) {
  const character::ReferenceMotion reference = Still();
  PoseDynamics pose(reference, kStandardGravity);
  RequiredForces required;
  pose.SetPose(1);
  pose.Require(required);
  const std::vector<SupportPoint> points = {{0, Vec3(0.1, 0, 0), 1}, {0, Vec3(-0.3, 0, 0), 1}};
  optimization::QuadraticProgram program;
  Eigen::MatrixXd supply;
  pose.Constrain(points, Vec3::Zero(), 0.5, program, supply);
  Eigen::VectorXd forces(6);
  forces << 0.2, 1, 0, -0.1, 0.5, 0.25;
  EXPECT_GE((program.inequality_matrix * forces).minCoeff(), -1e-12) << "the last one is on the edge";
  forces[5] = 0.26;
  EXPECT_LT((program.inequality_matrix * forces).minCoeff(), 0);
  const Eigen::VectorXd sum = supply * forces;
  EXPECT_NEAR(sum[1], 1.5, 1e-12);
  EXPECT_NEAR(sum[5], 0.1 * 1 - 0.3 * 0.5, 1e-12) << "about z";
  pose.Press(points, forces, required);
  ASSERT_EQ(required.support.size(), 1u);
  EXPECT_NEAR(required.support[0].force.y(), 1.5 * pose.weight(), 1e-9);
  EXPECT_NEAR(required.support[0].center.x(), (0.1 * 1 - 0.3 * 0.5) / 1.5, 1e-12);
}

TEST(PoseDynamics, FadesFromOneToNone) {
  EXPECT_EQ(Fade(0.1, {0.2, 0.4}), 1);
  EXPECT_NEAR(Fade(0.3, {0.2, 0.4}), 0.5, 1e-12);
  EXPECT_EQ(Fade(0.5, {0.2, 0.4}), 0);
}

}  // namespace
}  // namespace retrace::dynamics
