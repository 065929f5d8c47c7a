#include "retrace/optimization/minimize.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "retrace/math/random.h"

namespace retrace::optimization {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Minimizer kBoth[] = {Minimizer::kLbfgs, Minimizer::kScaledConjugateGradients};

MinimizationOptions With(Minimizer minimizer, int most_iterations = 1000, double tolerance = 1e-9) {
  MinimizationOptions options;
  options.minimizer = minimizer;
  options.most_iterations = most_iterations;
  options.gradient_tolerance = tolerance;
  return options;
}

double RosenbrockValley(const VectorXd& x, VectorXd& gradient) {
  double sum = 0;
  gradient.setZero();
  for (Index i = 0; i + 1 < x.size(); ++i) {
    const double bend = x[i + 1] - x[i] * x[i];
    sum += 100 * bend * bend + (1 - x[i]) * (1 - x[i]);
    gradient[i] += -400 * bend * x[i] - 2 * (1 - x[i]);
    gradient[i + 1] += 200 * bend;
  }
  return sum;
}

TEST(Minimize, FindsTheEndOfACurvedValley) {
  for (const Minimizer minimizer : kBoth) {
    const Minimum minimum = Minimize(RosenbrockValley, VectorXd::Constant(10, -0.5), With(minimizer, 3000));
    EXPECT_EQ(minimum.status, MinimizationStatus::kConverged) << NameOf(minimum.status);
    EXPECT_LT((minimum.x - VectorXd::Ones(10)).norm(), 1e-6);
  }
}

/// A convex quadratic function has its minimum where a linear system says.
RC_GTEST_PROP(MinimizeProperty, SolvesLinearSystems, (uint32_t seed)) {
  RandomStream random(seed, RandomStage::kTest, 4, 0);
  const Index n = 1 + static_cast<Index>(random.NextBits() % 12);
  MatrixXd root(n, n);
  VectorXd b(n);
  for (Index j = 0; j < n; ++j) {
    b[j] = random.Normal();
    for (Index i = 0; i < n; ++i) root(i, j) = random.Normal();
  }
  const MatrixXd a = root * root.transpose() + 0.1 * MatrixXd::Identity(n, n);
  const SmoothFunction function = [&](const VectorXd& x, VectorXd& gradient) {
    gradient = a * x - b;
    return 0.5 * x.dot(a * x) - b.dot(x);
  };
  for (const Minimizer minimizer : kBoth) {
    const Minimum minimum = Minimize(function, VectorXd::Zero(n), With(minimizer, 5000, 1e-8));
    RC_ASSERT(minimum.gradient_size < 1e-5 * (1 + std::abs(minimum.value)));
    RC_ASSERT((a * minimum.x - b).norm() < 1e-4 * (1 + b.norm()));
    for (size_t k = 1; k < minimum.values.size(); ++k) RC_ASSERT(minimum.values[k] <= minimum.values[k - 1]);
  }
}

TEST(Minimize, GoesBackFromWhereThereIsNoValue) {
  // The logarithm has none below zero, where long first steps lead.
  const SmoothFunction function = [](const VectorXd& x, VectorXd& gradient) {
    gradient[0] = 1 - 1 / (100 * x[0]);
    return x[0] > 0 ? x[0] - std::log(x[0]) / 100 : std::numeric_limits<double>::quiet_NaN();
  };
  for (const Minimizer minimizer : kBoth) {
    const Minimum minimum = Minimize(function, VectorXd::Constant(1, 3), With(minimizer));
    EXPECT_NEAR(minimum.x[0], 0.01, 1e-6) << NameOf(minimum.status);
  }
}

TEST(Minimize, SaysHowItEnded) {
  const SmoothFunction nowhere = [](const VectorXd&, VectorXd& gradient) {
    gradient.setZero();
    return std::numeric_limits<double>::infinity();
  };
  // A gradient that points uphill.
  const SmoothFunction wrong = [](const VectorXd& x, VectorXd& gradient) {
    gradient = -2 * x;
    return x.squaredNorm();
  };
  for (const Minimizer minimizer : kBoth) {
    const VectorXd start = VectorXd::Constant(4, -0.5);
    EXPECT_EQ(Minimize(nowhere, start, With(minimizer)).status, MinimizationStatus::kNotFinite);
    const Minimum misled = Minimize(wrong, start, With(minimizer));
    EXPECT_EQ(misled.status, MinimizationStatus::kNoDescent);
    EXPECT_EQ(misled.x, start);
    const Minimum brief = Minimize(RosenbrockValley, start, With(minimizer, 5));
    EXPECT_EQ(brief.status, MinimizationStatus::kIterationLimit);
    EXPECT_EQ(brief.iterations(), 5);
    MinimizationOptions options = With(minimizer);
    std::vector<double> seen;
    options.after_iteration = [&](int iteration, const VectorXd&, double value) {
      seen.push_back(value);
      return iteration < 3;
    };
    const Minimum stopped = Minimize(RosenbrockValley, start, options);
    EXPECT_EQ(stopped.status, MinimizationStatus::kStopped);
    EXPECT_EQ(seen, std::vector<double>(stopped.values.begin() + 1, stopped.values.end()));
    EXPECT_EQ(Minimize(RosenbrockValley, VectorXd::Ones(4), With(minimizer)).iterations(), 0);
  }
  EXPECT_THROW(Minimize(RosenbrockValley, VectorXd(), {}), std::invalid_argument);
  EXPECT_THROW(Minimize(RosenbrockValley, VectorXd::Ones(2), With(kBoth[0], -1)), std::invalid_argument);
}

TEST(Minimize, TheErrorOfAGradientIsSeen) {
  const VectorXd x = VectorXd::LinSpaced(6, -1, 0.7);
  EXPECT_LT(GradientError(RosenbrockValley, x, 1e-5), 1e-8);
  const SmoothFunction wrong = [](const VectorXd& at, VectorXd& gradient) {
    const double value = RosenbrockValley(at, gradient);
    gradient[2] *= 1.01;
    return value;
  };
  EXPECT_GT(GradientError(wrong, x, 1e-5), 1e-4);
}

}  // namespace
}  // namespace retrace::optimization
