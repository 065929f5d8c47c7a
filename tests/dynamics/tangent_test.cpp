#include "retrace/dynamics/tangent.h"

#include <gtest/gtest.h>

#include "dynamics/sample_motion.h"

namespace retrace::dynamics {
namespace {

double Distance(const character::State& a, const character::State& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max({largest, (a[i].position - b[i].position).norm(),
                        (a[i].orientation.toRotationMatrix() - b[i].orientation.toRotationMatrix()).norm(),
                        (a[i].linear_velocity - b[i].linear_velocity).norm(),
                        (a[i].angular_velocity - b[i].angular_velocity).norm()});
  }
  return largest;
}

TEST(Tangent, ExpandAndReduceAreInverse) {
  for (const char* name : kCharacters) {
    const Coordinates coordinates(Bundled(name));
    RandomStream random(1, RandomStage::kTest, 0, 0);
    for (int trial = 0; trial < 100; ++trial) {
      const Motion motion = AnyMotion(coordinates, random);
      MotionPoint point, again;
      Reduce(coordinates, motion.state, point);
      character::State expanded;
      Expand(coordinates, point, expanded);
      EXPECT_LT(Distance(expanded, motion.state), 1e-12) << name;
      Reduce(coordinates, expanded, again);
      Eigen::VectorXd difference(2 * coordinates.size());
      Difference(coordinates, point, again, difference);
      EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-12) << name;
    }
  }
}

TEST(Tangent, ApplyAndDifferenceAreInverse) {
  for (const char* name : kCharacters) {
    const Coordinates coordinates(Bundled(name));
    RandomStream random(2, RandomStage::kTest, 0, 0);
    for (int trial = 0; trial < 100; ++trial) {
      const Motion from = AnyMotion(coordinates, random), to = AnyMotion(coordinates, random);
      const MotionPoint start{from.pose, from.velocity}, end{to.pose, to.velocity};
      Eigen::VectorXd difference(2 * coordinates.size()), again(2 * coordinates.size());
      Difference(coordinates, start, end, difference);
      MotionPoint point = start;
      Apply(coordinates, difference, point);
      Difference(coordinates, end, point, again);
      EXPECT_LT(again.cwiseAbs().maxCoeff(), 1e-12) << name;
      // And the other way round, below half a turn about each axis.
      const Eigen::VectorXd wanted = AnyVector(random, 2 * coordinates.size(), 1.5);
      point = start;
      Apply(coordinates, wanted, point);
      Difference(coordinates, start, point, again);
      EXPECT_LT((again - wanted).cwiseAbs().maxCoeff(), 1e-12) << name;
    }
  }
}

TEST(Tangent, PointsAreEqualBitByBit) {
  const Coordinates coordinates(Bundled("human"));
  RandomStream random(3, RandomStage::kTest, 0, 0);
  const Motion motion = AnyMotion(coordinates, random);
  const MotionPoint point{motion.pose, motion.velocity};
  EXPECT_TRUE(point == point);
  MotionPoint other = point;
  other.velocity[17] = std::nextafter(other.velocity[17], 10);
  EXPECT_FALSE(other == point);
  other = point;
  other.pose.joint_rotations[5].z() = std::nextafter(other.pose.joint_rotations[5].z(), 2);
  EXPECT_FALSE(other == point);
}

}  // namespace
}  // namespace retrace::dynamics
