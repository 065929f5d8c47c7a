/// Bounds and tests against published numbers and against the sums that define them.
#include "retrace/metrics/statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace retrace::metrics {
namespace {

/// Probability of exactly k of n.
double Binomial(int k, int n, double p) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) * std::pow(p, k) *
         std::pow(1 - p, n - k);
}

TEST(LowerBound, GivesThePublishedNumbers) {
  const struct {
    int k, n;
    double bound;
  } published[] = {{20, 20, 0.861}, {19, 20, 0.784}, {28, 30, 0.805}, {45, 50, 0.801}, {87, 100, 0.801}};
  for (const auto& row : published) EXPECT_NEAR(LowerBound(row.k, row.n), row.bound, 5e-4) << row.k << " of " << row.n;
  // All of n: the n-th root of 5 %.
  EXPECT_NEAR(LowerBound(5, 5), std::pow(0.05, 0.2), 1e-12);
  EXPECT_NEAR(UpperBound(0, 5), 1 - std::pow(0.05, 0.2), 1e-12);
}

TEST(LowerBound, AtTheEdges) {
  EXPECT_EQ(LowerBound(0, 7), 0);
  EXPECT_EQ(LowerBound(0, 0), 0);
  EXPECT_EQ(UpperBound(7, 7), 1);
  EXPECT_EQ(UpperBound(0, 0), 1);
  EXPECT_THROW(LowerBound(3, 2), std::invalid_argument);
  EXPECT_THROW(LowerBound(-1, 2), std::invalid_argument);
  EXPECT_THROW(UpperBound(1, 2, 1), std::invalid_argument);
}

RC_GTEST_PROP(LowerBoundProperty, IsWhereTheTailIsFivePercent, ()) {
  const int n = *rc::gen::inRange(1, 60).as("n");
  const int k = *rc::gen::inRange(1, n + 1).as("k");
  const double p = LowerBound(k, n);
  double tail = 0;
  for (int i = k; i <= n; ++i) tail += Binomial(i, n, p);
  RC_ASSERT(std::abs(tail - 0.05) < 1e-9);
  // Failures are the successes of the opposite.
  RC_ASSERT(std::abs(UpperBound(n - k, n) - (1 - p)) < 1e-9);
}

TEST(McNemarTest, OfKnownTables) {
  EXPECT_EQ(McNemarTest(0, 0), 1);
  EXPECT_EQ(McNemarTest(3, 3), 1);
  EXPECT_NEAR(McNemarTest(5, 0), 2 * std::pow(0.5, 5), 1e-15);
  EXPECT_NEAR(McNemarTest(1, 8), 2 * (1 + 9) / 512.0, 1e-14);
  EXPECT_EQ(McNemarTest(2, 11), McNemarTest(11, 2));
  EXPECT_THROW(McNemarTest(-1, 2), std::invalid_argument);
}

TEST(QuartilesOf, InterpolatesBetweenOrderStatistics) {
  const Quartiles odd = QuartilesOf({5, 1, 4, 2, 3});
  EXPECT_EQ(odd.first, 2);
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.third, 4);
  // numpy.quantile([1, 2, 3, 4], [.25, .5, .75])
  const Quartiles even = QuartilesOf({4, 3, 2, 1});
  EXPECT_DOUBLE_EQ(even.first, 1.75);
  EXPECT_DOUBLE_EQ(even.median, 2.5);
  EXPECT_DOUBLE_EQ(even.third, 3.25);
  const Quartiles one = QuartilesOf({std::numeric_limits<double>::quiet_NaN(), 7});
  EXPECT_EQ(one.first, 7);
  EXPECT_EQ(one.third, 7);
  EXPECT_TRUE(std::isnan(QuartilesOf({}).median));
}

TEST(FiveNumbersOf, HasTheQuartilesBetweenTheEnds) {
  const FiveNumbers numbers = FiveNumbersOf({4, std::numeric_limits<double>::quiet_NaN(), 3, 1, 2});
  EXPECT_EQ(numbers.least, 1);
  EXPECT_DOUBLE_EQ(numbers.first_quartile, 1.75);
  EXPECT_DOUBLE_EQ(numbers.median, 2.5);
  EXPECT_DOUBLE_EQ(numbers.third_quartile, 3.25);
  EXPECT_EQ(numbers.most, 4);
  EXPECT_TRUE(std::isnan(FiveNumbersOf({}).least));
  EXPECT_TRUE(std::isnan(FiveNumbersOf({}).median));
  EXPECT_TRUE(std::isnan(FiveNumbersOf({}).most));
}

}  // namespace
}  // namespace retrace::metrics
