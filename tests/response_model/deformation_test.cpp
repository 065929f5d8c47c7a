#include "retrace/response_model/deformation.h"

#include <gtest/gtest.h>

#include "response_model/sample_walk.h"

namespace retrace::response_model {
namespace {

/// A frame of the walk, and the push that acts there for all of it.
struct Frame {
  Frame() : features(dynamics::Bundled("human"), {}), poses(SampleWalk(20)) {
    push.body = dynamics::Bundled("human").FindBody("trunk");
    push.force = Vec3(40, 10, -80);
    push.start = -1;
    push.duration = 2;
    features.Observe(poses[8], false, now);
    features.Observe(poses[9], false, next);
  }
  Eigen::VectorXd Displacement(const DeformationOptions& options) {
    PushDeformation deformation(dynamics::Bundled("human"), options);
    Eigen::VectorXd displacement;
    EXPECT_TRUE(
        deformation.Solve(poses[8], {&push, 1}, 0, kFrame, features.points(), now.feet, next.feet, displacement));
    return displacement;
  }

  FeatureMap features;
  std::vector<character::Pose> poses;
  Push push;
  Posture now, next;
};

TEST(PushDeformation, IsTheAccelerationOfForwardDynamics) {
  Frame frame;
  DeformationOptions options;
  options.joint_inertia = 0;
  options.foot_weight = 0;
  const Eigen::VectorXd displacement = frame.Displacement(options);
  dynamics::CharacterDynamics dynamics(dynamics::Bundled("human"));
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(dynamics.size());
  dynamics.SetMotion(frame.poses[8], rest);
  std::vector<dynamics::Wrench> wrenches(dynamics::Bundled("human").bodies.size());
  Eigen::VectorXd without(dynamics.size()), with(dynamics.size());
  dynamics.ForwardDynamics(rest, wrenches, without);
  wrenches[static_cast<size_t>(frame.push.body)].force = frame.push.force;
  dynamics.ForwardDynamics(rest, wrenches, with);
  EXPECT_LT((displacement - kFrame * kFrame * (with - without)).norm(), 1e-9 * displacement.norm());
  // So the center of mass moves as that of all masses together.
  Eigen::MatrixXd jacobian(3, dynamics.size());
  dynamics.CenterOfMassJacobian(jacobian);
  const Vec3 expected = kFrame * kFrame / dynamics::Bundled("human").total_mass() * frame.push.force;
  EXPECT_LT((jacobian * displacement - expected).norm(), 1e-9 * expected.norm());
}

TEST(PushDeformation, AStandingFootStays) {
  Frame frame;
  DeformationOptions held, free;
  free.foot_weight = 0;
  int standing = 0;
  for (size_t i = 0; i < frame.now.feet.size(); ++i) {
    if ((frame.next.feet[i] - frame.now.feet[i]).norm() / kFrame > held.standing_speed) continue;
    if (frame.now.feet[i].y() > held.standing_height) continue;
    ++standing;
    const auto moved = [&](const DeformationOptions& options) {
      character::Pose pose = frame.poses[8];
      frame.features.coordinates().Advance(frame.Displacement(options), pose);
      Posture posture;
      frame.features.Observe(pose, false, posture);
      return (posture.feet[i] - frame.now.feet[i]).norm();
    };
    EXPECT_LT(moved(held), 0.05 * moved(free));
  }
  EXPECT_GT(standing, 0);
}

TEST(PushDeformation, ThePapersIsTheSmallestOfItsObjective) {
  Frame frame;
  DeformationOptions options = PaperOptions().deformation;
  const Eigen::VectorXd displacement = frame.Displacement(options);
  dynamics::CharacterDynamics dynamics(dynamics::Bundled("human"));
  const Eigen::Index n = dynamics.size();
  dynamics.SetMotion(frame.poses[8], Eigen::VectorXd::Zero(n));
  Eigen::MatrixXd mass(n, n), jacobian(3, n);
  dynamics.MassMatrix(mass);
  dynamics.PointJacobian(frame.push.body, dynamics.CenterOf(frame.push.body), jacobian);
  const Eigen::VectorXd forces = jacobian.transpose() * frame.push.force;
  const auto objective = [&](const Eigen::VectorXd& dq) {
    double value = (mass * dq / (kFrame * kFrame) - forces).squaredNorm();
    size_t i = 0;
    for (const ObservedPoint& point : frame.features.points()) {
      if (!point.foot) continue;
      const Vec3 place = frame.now.feet[i];
      const double speed = (frame.next.feet[i] - place).norm() / kFrame;
      ++i;
      if (speed > options.standing_speed || place.y() > options.standing_height) continue;
      dynamics.PointJacobian(point.body, place, jacobian);
      value += options.foot_weight * (jacobian * dq).squaredNorm();
    }
    return value;
  };
  RandomStream random(3, RandomStage::kTest, 0, 0);
  const double least = objective(displacement);
  for (int trial = 0; trial < 20; ++trial) {
    EXPECT_GT(objective(displacement + dynamics::AnyVector(random, static_cast<int>(n), 1e-6)), least);
  }
}

TEST(PushDeformation, IsNothingWhereNoPushActs) {
  Frame frame;
  frame.push.start = 5;
  PushDeformation deformation(dynamics::Bundled("human"), {});
  Eigen::VectorXd displacement;
  EXPECT_FALSE(deformation.Solve(frame.poses[8], {&frame.push, 1}, 0, kFrame, frame.features.points(), frame.now.feet,
                                 frame.next.feet, displacement));
  EXPECT_EQ(displacement.norm(), 0);
}

}  // namespace
}  // namespace retrace::response_model
