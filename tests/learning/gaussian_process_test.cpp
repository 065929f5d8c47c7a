#include "retrace/learning/gaussian_process.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "retrace/math/random.h"

namespace retrace::learning {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd Drawn(RandomStream& random, Index rows, Index columns) {
  MatrixXd matrix(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) matrix(i, j) = random.Normal();
  }
  return matrix;
}

TEST(GaussianProcess, OfOneExampleIsTheClosedForm) {
  Kernel kernel;
  kernel.variance = 2;
  kernel.rates[0] = 0.5;
  kernel.noise = 0.1;
  GaussianProcess process;
  ASSERT_TRUE(process.Fit(MatrixXd::Constant(1, 1, 3), MatrixXd::Constant(1, 1, 4), kernel));
  Prediction there;
  process.Predict(VectorXd::Constant(1, 5), there);
  const double k = 2 * std::exp(-0.5 * 0.5 * 4);
  EXPECT_NEAR(there.mean[0], 4 * k / 2.1, 1e-14);
  EXPECT_NEAR(there.variance, 2 - k * k / 2.1, 1e-14);
}

/// With next to no noise the process goes through its examples, and is certain there; far away it knows nothing.
RC_GTEST_PROP(GaussianProcessProperty, GoesThroughItsExamples, (uint32_t seed)) {
  RandomStream random(seed, RandomStage::kTest, 6, 0);
  const MatrixXd points = 3 * Drawn(random, 3, 12), values = Drawn(random, 4, 12);
  Kernel kernel;
  kernel.noise = 1e-9;
  GaussianProcess process;
  RC_PRE(process.Fit(points, values, kernel));
  Prediction there;
  process.Predict(points.col(5), there);
  RC_ASSERT((there.mean - values.col(5)).norm() < 1e-4);
  RC_ASSERT(there.variance < 1e-6);
  process.Predict(VectorXd::Constant(3, 1e3), there);
  RC_ASSERT(there.mean.norm() == 0);
  RC_ASSERT(there.variance == kernel.variance);
}

TEST(GaussianProcess, ItsGradientsAreThoseOfDifferences) {
  RandomStream random(7, RandomStage::kTest, 0, 0);
  Kernel kernel;
  kernel.rates = Eigen::Vector2d(0.6, 0.2);
  GaussianProcess process;
  ASSERT_TRUE(process.Fit(Drawn(random, 4, 20), Drawn(random, 5, 20), kernel));
  const VectorXd weights = Drawn(random, 5, 1), x = Drawn(random, 4, 1);
  Prediction there;
  const optimization::SmoothFunction mean = [&](const VectorXd& at, VectorXd& gradient) {
    process.PredictWithGradients(at, there);
    gradient = there.mean_gradient.transpose() * weights;
    return weights.dot(there.mean);
  };
  const optimization::SmoothFunction variance = [&](const VectorXd& at, VectorXd& gradient) {
    process.PredictWithGradients(at, there);
    gradient = there.variance_gradient;
    return there.variance;
  };
  EXPECT_LT(optimization::GradientError(mean, x, 1e-5), 1e-7);
  EXPECT_LT(optimization::GradientError(variance, x, 1e-5), 1e-7);
}

TEST(GaussianProcess, TheFactorOfItsCovarianceIsOne) {
  RandomStream random(8, RandomStage::kTest, 0, 0);
  const MatrixXd points = Drawn(random, 2, 30);
  MatrixXd matrix, inverse;
  KernelMatrix({}, points, matrix);
  Covariance covariance;
  ASSERT_TRUE(covariance.Factor(matrix, 0.05));
  matrix.diagonal().array() += 0.05;
  covariance.Inverse(inverse);
  EXPECT_LT((inverse * matrix - MatrixXd::Identity(30, 30)).norm(), 1e-11);
  EXPECT_NEAR(covariance.LogDeterminant(), std::log(matrix.determinant()), 1e-9);
}

TEST(GaussianProcess, SaysWhereThereIsNoFactor) {
  GaussianProcess process;
  Kernel kernel;
  kernel.noise = 0;
  EXPECT_FALSE(process.Fit(MatrixXd::Ones(2, 5), MatrixXd::Ones(1, 5), kernel));  // five times the same place
  EXPECT_THROW((void)process.Fit(MatrixXd::Ones(2, 5), MatrixXd::Ones(1, 4), kernel), std::invalid_argument);
  kernel.rates = VectorXd::Ones(3);
  EXPECT_THROW((void)process.Fit(MatrixXd::Ones(2, 5), MatrixXd::Ones(1, 5), kernel), std::invalid_argument);
  MatrixXd values = MatrixXd::Ones(1, 5);
  values(0, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)process.Fit(MatrixXd::Ones(2, 5), values, {}), std::invalid_argument);
}

RC_GTEST_PROP(GaussianProcessProperty, TheGradientOfTheLikelihoodIsThatOfDifferences, (uint32_t seed)) {
  RandomStream random(seed, RandomStage::kTest, 9, 0);
  const MatrixXd points = Drawn(random, 4, 15), values = Drawn(random, 3, 15);
  const VectorXd logarithms = Drawn(random, 4, 1);
  for (const double least_noise : {0.0, 0.5}) {
    RC_ASSERT(optimization::GradientError(KernelObjective(points, values, 2, least_noise), logarithms, 1e-4) < 1e-6);
  }
}

TEST(LearnKernel, ValuesBelowTheLeastNoiseLeaveAVariance) {
  RandomStream random(11, RandomStage::kTest, 0, 0);
  const MatrixXd points = Drawn(random, 2, 30), values = 1e-6 * Drawn(random, 2, 30);
  const LearnedKernel learned = LearnKernel(points, values, {}, {}, 1e-6);
  EXPECT_GT(learned.kernel.variance, 0);
  EXPECT_LT(learned.kernel.variance, 1e-6);
  GaussianProcess process;
  EXPECT_TRUE(process.Fit(points, values, learned.kernel));
}

TEST(LearnKernel, FindsHowAFunctionVariesAndItsNoise) {
  RandomStream random(10, RandomStage::kTest, 0, 0);
  const Index count = 120;
  const MatrixXd points = 2 * Drawn(random, 1, count);
  MatrixXd values(2, count);
  for (Index i = 0; i < count; ++i) {
    values.col(i) << std::sin(2 * points(0, i)) + 0.1 * random.Normal(), std::cos(points(0, i)) + 0.1 * random.Normal();
  }
  const LearnedKernel learned = LearnKernel(points, values, {}, {});
  EXPECT_EQ(learned.minimum.status, optimization::MinimizationStatus::kConverged);
  EXPECT_NEAR(std::sqrt(learned.kernel.noise), 0.1, 0.02);
  GaussianProcess process;
  ASSERT_TRUE(process.Fit(points, values, learned.kernel));
  Prediction there;
  for (const double x : {-2.0, -0.7, 0.1, 1.5}) {
    process.Predict(VectorXd::Constant(1, x), there);
    EXPECT_NEAR(there.mean[0], std::sin(2 * x), 0.1);
    EXPECT_NEAR(there.mean[1], std::cos(x), 0.1);
  }
}

}  // namespace
}  // namespace retrace::learning
