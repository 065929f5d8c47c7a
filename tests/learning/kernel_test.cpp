#include "retrace/learning/kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/math/random.h"
#include "retrace/optimization/minimize.h"

namespace retrace::learning {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd AnyPoints(Index rows, Index count, uint32_t sample) {
  RandomStream random(5, RandomStage::kTest, sample, 0);
  MatrixXd points(rows, count);
  for (Index j = 0; j < count; ++j) {
    for (Index i = 0; i < rows; ++i) points(i, j) = random.Normal();
  }
  return points;
}

Kernel OfTwoParts() {
  Kernel kernel;
  kernel.variance = 1.7;
  kernel.rates = Eigen::Vector2d(0.4, 1.3);
  kernel.noise = 0.2;
  return kernel;
}

TEST(LearningKernel, IsTheFormula) {
  MatrixXd points(2, 2);
  points << 0, 1, 0, 2;
  const Kernel kernel = OfTwoParts();
  MatrixXd matrix;
  KernelMatrix(kernel, points, matrix);
  EXPECT_EQ(matrix(0, 0), 1.7);
  EXPECT_NEAR(matrix(1, 0), 1.7 * std::exp(-0.5 * (0.4 * 1 + 1.3 * 4)), 1e-15);
  EXPECT_EQ(matrix(0, 1), matrix(1, 0));
  VectorXd values;
  KernelVector(kernel, points, points.col(1), values);
  EXPECT_EQ(values, matrix.col(1));
}

TEST(LearningKernel, ItsGradientsAreThoseOfDifferences) {
  const MatrixXd points = AnyPoints(4, 7, 0);
  const Kernel kernel = OfTwoParts();
  const VectorXd weights = AnyPoints(7, 1, 1).col(0);
  const optimization::SmoothFunction by_place = [&](const VectorXd& x, VectorXd& gradient) {
    VectorXd values;
    MatrixXd rates;
    KernelVector(kernel, points, x, values);
    KernelVectorGradient(kernel, points, x, values, rates);
    gradient = rates * weights;
    return values.dot(weights);
  };
  EXPECT_LT(optimization::GradientError(by_place, AnyPoints(4, 1, 2).col(0), 1e-5), 1e-8);

  // A sum over K + noise I with symmetric weights, by all points and all parameters.
  MatrixXd all = AnyPoints(7, 7, 3);
  all = (all + all.transpose()).eval();
  const optimization::SmoothFunction by_all = [&](const VectorXd& x, VectorXd& gradient) {
    Kernel at;
    at.variance = std::exp(x[28]);
    at.noise = std::exp(x[29]);
    at.rates = x.tail(2).array().exp();
    const MatrixXd moved = x.head(28).reshaped(4, 7);
    MatrixXd matrix;
    KernelMatrix(at, moved, matrix);
    KernelGradient pull;
    PullBack(at, moved, matrix, all, pull);
    gradient.head(28) = pull.points.reshaped();
    gradient[28] = pull.log_variance;
    gradient[29] = pull.log_noise;
    gradient.tail(2) = pull.log_rates;
    return matrix.cwiseProduct(all).sum() + at.noise * all.trace();
  };
  VectorXd start(32);
  start.head(28) = points.reshaped();
  start.tail(4) << 0.3, -1, -0.5, 0.2;
  EXPECT_LT(optimization::GradientError(by_all, start, 1e-5), 1e-8);
}

}  // namespace
}  // namespace retrace::learning
