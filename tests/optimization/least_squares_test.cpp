/// Least squares with sparse derivatives.
#include "retrace/optimization/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace retrace::optimization {
namespace {

using Eigen::VectorXd;

TEST(LeastSquares, SolvesALinearProblemInTheMannerOfTheNormalEquations) {
  // A line through (0, 1), (1, 2), (2, 2): intercept 7/6, slope 1/2.
  const auto line = [](const VectorXd& x, Residuals& out) {
    const double values[] = {1, 2, 2};
    for (int t = 0; t < 3; ++t) out.Add(x[0] + t * x[1] - values[t], {{0, 1}, {1, t}});
  };
  const Minimum minimum = MinimizeSquares(line, VectorXd::Zero(2), {});
  EXPECT_EQ(minimum.status, MinimizationStatus::kConverged);
  EXPECT_NEAR(minimum.x[0], 7.0 / 6, 1e-9);
  EXPECT_NEAR(minimum.x[1], 0.5, 1e-9);
  EXPECT_NEAR(minimum.value, 0.5 / 6, 1e-12);
}

TEST(LeastSquares, FollowsACurvedValley) {
  const auto rosenbrock = [](const VectorXd& x, Residuals& out) {
    out.Add(10 * (x[1] - x[0] * x[0]), {{0, -20 * x[0]}, {1, 10}});
    out.Add(1 - x[0], {{0, -1}});
  };
  VectorXd start(2);
  start << -1.2, 1;
  const Minimum minimum = MinimizeSquares(rosenbrock, start, {});
  EXPECT_NEAR(minimum.x[0], 1, 1e-6);
  EXPECT_NEAR(minimum.x[1], 1, 1e-6);
  for (size_t k = 1; k < minimum.values.size(); ++k) EXPECT_LT(minimum.values[k], minimum.values[k - 1]);
}

TEST(LeastSquares, SumsDerivativesByTheSameUnknownAndLeavesUnknownsThatNothingDependsOn) {
  const auto twice = [](const VectorXd& x, Residuals& out) { out.Add(2 * x[0] - 6, {{0, 1}, {0, 1}}); };
  VectorXd start(2);
  start << 1, 5;
  const Minimum minimum = MinimizeSquares(twice, start, {});
  EXPECT_NEAR(minimum.x[0], 3, 1e-9);
  EXPECT_EQ(minimum.x[1], 5);
}

TEST(LeastSquares, TakesLongCoursesInLinearTimeAndGivesTheSameBitsAgain) {
  constexpr Eigen::Index kCount = 20000;
  const auto course = [](const VectorXd& x, Residuals& out) {
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const double angle = 0.01 * static_cast<double>(i);
      out.Add(std::exp(x[i]) - 2 - std::sin(angle), {{i, std::exp(x[i])}});
      if (i > 0) out.Add(0.1 * (x[i] - x[i - 1]), {{i, 0.1}, {i - 1, -0.1}});
    }
  };
  const Minimum first = MinimizeSquares(course, VectorXd::Zero(kCount), {});
  const Minimum again = MinimizeSquares(course, VectorXd::Zero(kCount), {});
  EXPECT_EQ(first.status, MinimizationStatus::kConverged);
  EXPECT_NEAR(first.x[157], std::log(3), 0.01);
  EXPECT_TRUE(first.x == again.x);
}

TEST(LeastSquares, EndsWhereThereIsNoValueAndRefusesWhatIsNoProblem) {
  const auto none = [](const VectorXd&, Residuals& out) { out.Add(std::numeric_limits<double>::quiet_NaN(), {}); };
  EXPECT_EQ(MinimizeSquares(none, VectorXd::Zero(1), {}).status, MinimizationStatus::kNotFinite);
  const auto foreign = [](const VectorXd& x, Residuals& out) { out.Add(x[0], {{1, 1}}); };
  EXPECT_THROW(MinimizeSquares(foreign, VectorXd::Zero(1), {}), std::invalid_argument);
  EXPECT_THROW(MinimizeSquares(foreign, VectorXd(), {}), std::invalid_argument);
  const auto changing = [](const VectorXd& x, Residuals& out) {
    for (int k = 0; k < (x[0] == 1 ? 1 : 2); ++k) out.Add(x[0], {{0, 1}});
  };
  EXPECT_THROW(MinimizeSquares(changing, VectorXd::Ones(1), {}), std::invalid_argument);
  SquaresOptions options;
  options.most_iterations = -1;
  EXPECT_THROW(MinimizeSquares(none, VectorXd::Ones(1), options), std::invalid_argument);
}

TEST(LinearSquares, SolvesTheNormalEquationsOfEachColumn) {
  // A line through four points, and one through two constants.
  Eigen::SparseMatrix<double> rows(4, 2);
  const std::vector<double> at = {0, 1, 2, 4};
  for (int i = 0; i < 4; ++i) {
    rows.insert(i, 0) = 1;
    rows.insert(i, 1) = at[static_cast<size_t>(i)];
  }
  Eigen::MatrixXd wanted(4, 2);
  wanted << 1, 3, 3, 3, 2, 3, 6, 3;
  const Eigen::MatrixXd dense(rows);
  const Eigen::MatrixXd expected = (dense.transpose() * dense).inverse() * (dense.transpose() * wanted);
  LinearSquares squares(rows);
  EXPECT_NEAR((squares.Solve(wanted) - expected).norm(), 0, 1e-12);
  EXPECT_NEAR((squares.Solve(wanted).col(1) - Eigen::Vector2d(3, 0)).norm(), 0, 1e-12);

  squares.SetRows(2 * rows);
  EXPECT_NEAR((squares.Solve(wanted) - 0.5 * expected).norm(), 0, 1e-12);
}

}  // namespace
}  // namespace retrace::optimization
