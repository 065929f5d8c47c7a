#include "retrace/response_model/features.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "dynamics/sample_motion.h"
#include "retrace/math/rotation.h"
#include "retrace/response_model/example.h"
#include "retrace/response_model/response_model.h"

namespace retrace::response_model {
namespace {

/// Poses that follow one another by little.
std::vector<character::Pose> ThreePoses(const dynamics::Coordinates& coordinates, RandomStream& random) {
  std::vector<character::Pose> poses;
  character::Pose pose = dynamics::AnyMotion(coordinates, random).pose;
  // Upright: where the root is upside down there is no heading.
  pose.root_orientation =
      AxisRotation(1, random.Uniform(-3, 3)) * FromRotationVector(0.3 * Vec3(random.Normal(), 0, random.Normal()));
  for (int i = 0; i < 3; ++i) {
    coordinates.Advance(dynamics::AnyVector(random, coordinates.size(), 0.05), pose);
    poses.push_back(pose);
  }
  return poses;
}

TEST(Features, JacobianIsThatOfDifferences) {
  for (const double velocity_time : {0.0, 0.1}) {
    FeatureOptions options;
    options.velocity_time = velocity_time;
    FeatureMap features(dynamics::Bundled("human"), options);
    RandomStream random(1, RandomStage::kTest, 0, 0);
    const std::vector<character::Pose> poses = ThreePoses(features.coordinates(), random);
    Posture postures[3];
    for (size_t k = 0; k < 3; ++k) features.Observe(poses[k], k == 2, postures[k]);
    Eigen::MatrixXd jacobian;
    features.CombineJacobian(postures[1], postures[2], jacobian);
    ASSERT_EQ(jacobian.rows(), features.size());
    constexpr double kStep = 1e-5;
    for (int j = 0; j < features.coordinates().size(); ++j) {
      Eigen::VectorXd values[2];
      for (const int sign : {0, 1}) {
        character::Pose moved = poses[2];
        features.coordinates().Advance(
            (sign == 0 ? -kStep : kStep) * Eigen::VectorXd::Unit(features.coordinates().size(), j), moved);
        features.Observe(moved, false, postures[2]);
        features.Combine(postures[0], postures[1], postures[2], values[sign]);
      }
      const Eigen::VectorXd difference = (values[1] - values[0]) / (2 * kStep);
      EXPECT_LT((difference - jacobian.col(j)).cwiseAbs().maxCoeff(), 1e-7) << j;
    }
  }
}

RC_GTEST_PROP(Features, AreThoseOfTheMotionWhereverItIs, ()) {
  FeatureMap features(dynamics::Bundled("human"), {});
  RandomStream random(*rc::gen::arbitrary<uint32_t>(), RandomStage::kTest, 0, 0);
  std::vector<character::Pose> poses = ThreePoses(features.coordinates(), random);
  const Eigen::VectorXd before = features.ObserveAll(poses).col(0);
  const Quat heading = AxisRotation(1, random.Uniform(-3, 3));
  const Vec3 offset(random.Normal(), 0, random.Normal());
  for (character::Pose& pose : poses) {
    pose.root_position = heading * pose.root_position + offset;
    pose.root_orientation = heading * pose.root_orientation;
  }
  RC_ASSERT((features.ObserveAll(poses).col(0) - before).cwiseAbs().maxCoeff() < 1e-10);
}

TEST(Features, EachHasAName) {
  const FeatureMap features(dynamics::Bundled("human"), {});
  const std::vector<std::string> names = features.Names();
  EXPECT_EQ(names.size(), static_cast<size_t>(features.size()));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

RC_GTEST_PROP(Push, ItsMomentumComesOutWhole, ()) {
  RandomStream random(*rc::gen::arbitrary<uint32_t>(), RandomStage::kTest, 0, 0);
  constexpr double kFrame = 1.0 / 30;
  Push push;
  push.start = random.Uniform(0.1, 0.5);
  push.duration = random.Uniform(0.001, 0.4);
  double sum = 0;
  for (int i = 0; i < 40; ++i) {
    const double share = ShareOf(push, i * kFrame, kFrame);
    RC_ASSERT(share >= 0 && share <= 1 + 1e-12);
    sum += share * kFrame;
  }
  RC_ASSERT(std::abs(sum - push.duration) < 1e-12);
}

}  // namespace
}  // namespace retrace::response_model
