#include "retrace/motion/segmentation.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "retrace/io/error.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace::motion {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kFrameTime = 0.01;

/// A pendulum of the given amplitude [m] and period 1 s that starts at one end of its swing.
Eigen::MatrixX3d Pendulum(int frames, double amplitude, double noise = 0) {
  RandomStream random(1, RandomStage::kTest, 0, 0);
  Eigen::MatrixX3d path(frames, 3);
  for (int t = 0; t < frames; ++t) {
    path.row(t) << 0.1 + amplitude * std::cos(2 * kPi * t * kFrameTime), -0.3, 0.2;
    for (int axis = 0; axis < 3; ++axis) path(t, axis) += random.Uniform(-noise, noise);
  }
  return path;
}

TEST(CentroidBoundaries, FallAtTheEndsOfEachSwing) {
  EXPECT_THAT(CentroidBoundaries(Pendulum(220, 0.2), kFrameTime),
              ElementsAre(DoubleNear(0.5, 1e-12), DoubleNear(1, 1e-12), DoubleNear(1.5, 1e-12), DoubleNear(2, 1e-12)));
}

TEST(CentroidBoundaries, NoiseDoesNotAddAny) {
  EXPECT_THAT(CentroidBoundaries(Pendulum(220, 0.2, 0.003), kFrameTime),
              ElementsAre(DoubleNear(0.5, 0.06), DoubleNear(1, 0.06), DoubleNear(1.5, 0.06), DoubleNear(2, 0.06)));
}

TEST(CentroidBoundaries, SwayAndSteadyMotionHaveNone) {
  EXPECT_THAT(CentroidBoundaries(Pendulum(500, 0.02), kFrameTime), IsEmpty());
  Eigen::MatrixX3d line(100, 3);
  for (int t = 0; t < 100; ++t) line.row(t) << t * 0.01, t * 0.02, 0;
  EXPECT_THAT(CentroidBoundaries(line, kFrameTime), IsEmpty());
  EXPECT_THAT(CentroidBoundaries(Eigen::MatrixX3d(0, 3), kFrameTime), IsEmpty());
  EXPECT_THAT(CentroidBoundaries(Eigen::MatrixX3d::Zero(1, 3), kFrameTime), IsEmpty());
}

TEST(CentroidBoundaries, WithoutADropEveryLocalMaximumCounts) {
  Eigen::MatrixX3d path = Eigen::MatrixX3d::Zero(6, 3);
  path.col(0) << 0, 0.1, 0.2, 0.199, 0.3, 0.4;
  CentroidSegmentationOptions options;
  EXPECT_THAT(CentroidBoundaries(path, 1, options), IsEmpty());
  options.min_drop = 0;
  // The second segment starts at 0.2, and only grows.
  EXPECT_THAT(CentroidBoundaries(path, 1, options), ElementsAre(2));
}

RC_GTEST_PROP(CentroidBoundariesProperty, DoNotDependOnTheFrameOfReference, ()) {
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  Eigen::MatrixX3d path(60, 3);
  Vec3 place = Vec3::Zero(), velocity = Vec3::Zero();
  for (int t = 0; t < 60; ++t) {
    for (int axis = 0; axis < 3; ++axis) velocity[axis] += random.Uniform(-0.01, 0.01) - 0.02 * place[axis];
    place += velocity;
    path.row(t) = place;
  }
  const Quat turn = FromRotationVector({random.Uniform(-2, 2), random.Uniform(-2, 2), random.Uniform(-2, 2)});
  const Eigen::RowVector3d shift(random.Uniform(-1, 1), random.Uniform(-1, 1), random.Uniform(-1, 1));
  const Eigen::MatrixX3d turned = (path * turn.toRotationMatrix().transpose()).rowwise() + shift;
  RC_ASSERT(CentroidBoundaries(path, kFrameTime) == CentroidBoundaries(turned, kFrameTime));
}

TEST(DetectContact, HasHysteresis) {
  Eigen::VectorXd height(9), speed = Eigen::VectorXd::Zero(9);
  height << 0.1, 0.05, 0.03, 0.05, 0.06, 0.08, 0.06, 0.05, 0.03;
  ContactOptions options;
  options.min_duration = 0;
  EXPECT_THAT(DetectContact(height, speed, kFrameTime, options),
              ElementsAre(false, false, true, true, true, false, false, false, true));
  speed << 0, 0, 0.5, 0.5, 0.3, 0.5, 0.9, 0.5, 0.5;
  height.setZero();
  EXPECT_THAT(DetectContact(height, speed, kFrameTime, options),
              ElementsAre(true, true, true, true, true, true, false, false, false));
}

TEST(FillShortRuns, TakesTheShortestFirstAndLeavesTheEnds) {
  const auto fill = [](std::vector<bool> flags) { return FillShortRuns(flags, 0.01, 0.03); };
  EXPECT_THAT(fill({true, false, false, true}), ElementsAre(true, true, true, true));
  EXPECT_THAT(fill({true, false, false, false, true}), ElementsAre(true, false, false, false, true));
  EXPECT_THAT(fill({true, false}), ElementsAre(true, false));
  EXPECT_THAT(fill({false, true, true, false, true, true, false, false}),
              ElementsAre(false, true, true, true, true, true, false, false));
  EXPECT_THAT(fill({}), IsEmpty());
}

TEST(SwitchTimes, AreHalfWayBetweenFrames) {
  EXPECT_THAT(SwitchTimes({true, true, false, false, true}, 0.1),
              ElementsAre(DoubleNear(0.15, 1e-15), DoubleNear(0.35, 1e-15)));
  EXPECT_THAT(SwitchTimes({}, 0.1), IsEmpty());
}

TEST(MergeBoundaries, TrustsEarlierSourcesMore) {
  MergeOptions options;
  options.min_gap = 0.1;
  options.end = 2;
  EXPECT_THAT(MergeBoundaries({{1.0, 0.5, 0.05}, {0.95, 0.7, 0.42, 1.95}, {0.75, 1.5}}, options),
              ElementsAre(0.5, 0.7, 1.0, 1.5));
  EXPECT_THAT(MergeBoundaries({}, options), IsEmpty());
}

RC_GTEST_PROP(MergeBoundariesProperty, KeepsTheGapAndLeavesNoRoom, ()) {
  std::vector<std::vector<double>> sources(2);
  std::vector<double> all;
  for (auto& source : sources) {
    for (const int i : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 2000))) source.push_back(i * 1e-3);
    all.insert(all.end(), source.begin(), source.end());
  }
  MergeOptions options;
  options.end = 2;
  std::vector<double> merged = MergeBoundaries(sources, options);
  RC_ASSERT(MergeBoundaries({merged}, options) == merged);
  merged.insert(merged.begin(), options.start);
  merged.push_back(options.end);
  for (size_t i = 1; i < merged.size(); ++i) RC_ASSERT(merged[i] - merged[i - 1] >= options.min_gap);
  for (const double time : all) {
    double nearest = 1e9;
    for (const double other : merged) nearest = std::min(nearest, std::abs(time - other));
    RC_ASSERT(nearest < options.min_gap);
  }
}

TEST(Segmentation, RefusesOptionsThatMakeNoSense) {
  const Eigen::MatrixX3d path = Pendulum(10, 1);
  EXPECT_THROW(CentroidBoundaries(path, 0), UsageError);
  EXPECT_THROW(CentroidBoundaries(path, 0.01, {.min_distance = 0}), UsageError);
  EXPECT_THROW(CentroidBoundaries(path, 0.01, {.min_drop = -1}), UsageError);
  const Eigen::VectorXd zeros = Eigen::VectorXd::Zero(3);
  EXPECT_THROW(DetectContact(zeros, Eigen::VectorXd::Zero(2), 0.01), UsageError);
  EXPECT_THROW(DetectContact(zeros, zeros, 0.01, {.enter_height = 1}), UsageError);
  EXPECT_THROW(DetectContact(zeros, zeros, 0.01, {.enter_speed = 1}), UsageError);
  EXPECT_THROW(MergeBoundaries({}, {.min_gap = 0, .end = 1}), UsageError);
  EXPECT_THROW(MergeBoundaries({{std::nan("")}}, {.end = 1}), UsageError);
}

}  // namespace
}  // namespace retrace::motion
