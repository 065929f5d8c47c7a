#include "retrace/learning/latent_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "retrace/math/random.h"

namespace retrace::learning {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kPeriod = 32;  // frames

/// A motion of period kPeriod, of which each of the sequences after the first leaves the cycle and comes back to it, as
/// 40 smooth functions of its three coordinates, with noise.
struct Motion {
  MatrixXd observations;
  std::vector<Index> lengths;
};

Motion CycleWithDisturbances(double noise) {
  const std::vector<Index> lengths = {96, 70, 70};
  RandomStream random(11, RandomStage::kTest, 0, 0);
  MatrixXd lift(40, 4);
  for (Index k = 0; k < 4; ++k) {
    for (Index i = 0; i < 40; ++i) lift(i, k) = random.Normal();
  }
  Motion motion{MatrixXd(40, 236), lengths};
  Index row = 0;
  for (size_t s = 0; s < lengths.size(); ++s) {
    for (Index i = 0; i < lengths[s]; ++i, ++row) {
      const auto t = static_cast<double>(i);
      const double phase = 2 * std::acos(-1.0) * t / kPeriod;
      const double away = s == 0 || t < 10 ? 0 : (t - 10) / 4 * std::exp(1 - (t - 10) / 4);
      const double side = s == 1 ? 0.6 : -0.6;
      const Eigen::Vector4d place(std::cos(phase), std::sin(phase), 0.3 * std::sin(2 * phase) + side * away, 1);
      for (Index j = 0; j < 40; ++j) {
        motion.observations(j, row) = std::tanh(0.7 * lift.row(j).dot(place)) + noise * random.Normal();
      }
    }
  }
  motion.observations.colwise() -= motion.observations.rowwise().mean().eval();
  return motion;
}

LatentOptions Few(int iterations) {
  LatentOptions options;
  options.minimization.most_iterations = iterations;
  return options;
}

RC_GTEST_PROP(LatentModelProperty, TheGradientIsThatOfDifferences, (uint32_t seed)) {
  RandomStream random(seed, RandomStage::kTest, 12, 0);
  MatrixXd observations(6, 11);
  for (Index j = 0; j < 11; ++j) {
    for (Index i = 0; i < 6; ++i) observations(i, j) = random.Normal();
  }
  for (const bool back_constraint : {true, false}) {
    LatentOptions options;
    options.dimensions = 2;
    options.back_constraint = back_constraint;
    options.back_rate = 0.1;
    options.start_noise = 0.3;
    options.start_deviation = 0.2;
    options.seed = seed;
    options.least_noise = back_constraint ? 0.2 : 0;
    LatentObjective objective(observations, options);
    RC_ASSERT(optimization::GradientError(std::ref(objective), objective.Start(), 1e-4) < 1e-6);
    RC_ASSERT(objective.Model(objective.Start()).kernel.noise >= options.least_noise + 0.29);
  }
}

TEST(LatentModel, ItsGradientIsRightAtTheSizeOfAWalk) {
  const Motion motion = CycleWithDisturbances(0.02);
  LatentObjective objective(motion.observations, {});
  const VectorXd start = objective.Start();
  // Along single directions: all 710 coordinates would take long.
  VectorXd gradient(start.size()), scratch(start.size());
  objective(start, gradient);
  RandomStream random(13, RandomStage::kTest, 0, 0);
  for (int k = 0; k < 10; ++k) {
    VectorXd direction(start.size());
    for (Index i = 0; i < start.size(); ++i) direction[i] = random.Normal();
    if (k >= 8) direction.setZero(), direction[start.size() - 1 - (k - 8)] = 1;
    const double h = 1e-4 / direction.norm();
    const double difference =
        (objective(start + h * direction, scratch) - objective(start - h * direction, scratch)) / (2 * h);
    EXPECT_NEAR(difference, gradient.dot(direction), 1e-6 * gradient.norm() * direction.norm()) << k;
  }
}

TEST(LatentModel, LearnsACycleAndItsDynamicsGoesOnWithIt) {
  const Motion motion = CycleWithDisturbances(0.02);
  const LearnedModel learned = LearnLatentModel(motion.observations, Few(150));
  const LatentModel& model = learned.model;
  for (size_t k = 1; k < learned.minimum.values.size(); ++k) {
    ASSERT_LE(learned.minimum.values[k], learned.minimum.values[k - 1]);
  }
  // What was observed follows from the latent positions.
  GaussianProcess reconstruction;
  ASSERT_TRUE(reconstruction.Fit(model.latent, model.observations, model.kernel));
  Prediction there;
  double missed = 0;
  for (Index i = 0; i < model.latent.cols(); ++i) {
    reconstruction.Predict(model.latent.col(i), there);
    missed += (there.mean - model.observations.col(i)).squaredNorm();
  }
  EXPECT_LT(std::sqrt(missed / model.observations.squaredNorm()), 0.05);
  // The back constraint leads from what was observed to its latent position.
  EXPECT_LT((model.BackProject(model.observations.col(40)) - model.latent.col(40)).norm(), 1e-6);

  // From two positions of the cycle the dynamics goes round for a minute at 30 frames per second.
  MatrixXd points, values;
  DynamicsExamples(model.latent, motion.lengths, 2, points, values);
  Kernel start;
  start.rates = VectorXd::Ones(2);
  const LearnedKernel kernel = LearnKernel(points, values, start, {});
  GaussianProcess dynamics;
  ASSERT_TRUE(dynamics.Fit(points, values, kernel.kernel));
  VectorXd last = points.col(20);
  const MatrixXd cycle = model.latent.leftCols(96);
  const double step = (cycle.rightCols(95) - cycle.leftCols(95)).colwise().norm().mean();
  int rounds = 0;
  double first_round = 0, last_round = 0, farthest = 0, before = 0;
  for (int i = 0; i < 1800; ++i) {
    dynamics.Predict(last, there);
    last.head(3) = last.tail(3).eval();
    last.tail(3) = there.mean;
    farthest = std::max(farthest, (cycle.colwise() - there.mean).colwise().norm().minCoeff());
    const double now = there.mean[0];
    if (before < 0 && now >= 0) {
      const double at = i - now / (now - before);
      if (rounds == 0) first_round = at;
      last_round = at;
      ++rounds;
    }
    before = now;
  }
  ASSERT_GT(rounds, 10);
  EXPECT_NEAR((last_round - first_round) / (rounds - 1), kPeriod, 0.05 * kPeriod);
  EXPECT_LT(farthest, 1.5 * step);
}

TEST(LatentModel, UnitsOfADimensionChangeItsScaleOnly) {
  const Motion motion = CycleWithDisturbances(0.02);
  MatrixXd other = motion.observations;
  other.row(3) *= 8;
  LatentOptions options = Few(0);
  options.back_constraint = false;
  LatentObjective objective(motion.observations, options), scaled(other, options);
  const VectorXd start = objective.Start();
  VectorXd gradient(start.size()), gradient_scaled(start.size());
  const double value = objective(start, gradient);
  EXPECT_NEAR(scaled(start, gradient_scaled), value + 236 * std::log(8), 1e-6);
  EXPECT_LT((gradient - gradient_scaled).norm(), 1e-9 * gradient.norm());
  EXPECT_NEAR(scaled.Model(start).scales[3], objective.Model(start).scales[3] / 8, 1e-12);
}

TEST(LatentModel, EndsWhenItIsTold) {
  const Motion motion = CycleWithDisturbances(0.02);
  LatentOptions options = Few(50);
  options.after_iteration = [&](int iteration, const LatentModel& model) {
    EXPECT_EQ(model.latent.rows(), 3);
    return iteration < 4;
  };
  const LearnedModel learned = LearnLatentModel(motion.observations, options);
  EXPECT_EQ(learned.minimum.iterations(), 4);
  EXPECT_EQ(learned.minimum.status, optimization::MinimizationStatus::kStopped);
}

TEST(LatentModel, RefusesWhatCannotBeLearned) {
  MatrixXd observations = CycleWithDisturbances(0.02).observations.leftCols(50);
  EXPECT_THROW(LatentObjective(observations.leftCols(3), {}), std::invalid_argument);
  LatentOptions options;
  options.dimensions = 0;
  EXPECT_THROW(LatentObjective(observations, options), std::invalid_argument);
  options = {};
  options.back_rate = 0;
  EXPECT_THROW(LatentObjective(observations, options), std::invalid_argument);
  observations.row(4).setConstant(0.2);
  EXPECT_THROW(LatentObjective(observations, {}), std::invalid_argument);
  observations(4, 2) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(LatentObjective(observations, {}), std::invalid_argument);
}

TEST(DynamicsExamples, LieWithinTheirSequences) {
  MatrixXd latent(1, 7);
  latent << 1, 2, 3, 4, 10, 20, 30;
  const std::vector<Index> lengths = {4, 3};
  MatrixXd points, values, expected_points(2, 3), expected_values(1, 3);
  DynamicsExamples(latent, lengths, 2, points, values);
  expected_points << 1, 2, 10, 2, 3, 20;
  expected_values << 3, 4, 30;
  EXPECT_EQ(points, expected_points);
  EXPECT_EQ(values, expected_values);
}

}  // namespace
}  // namespace retrace::learning
