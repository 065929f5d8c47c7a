#include "retrace/metrics/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <unsupported/Eigen/SpecialFunctions>
#include <utility>

namespace retrace::metrics {
namespace {

// The probability of at least k successes of n at a rate of p: the regularized incomplete beta function.
double AtLeast(int k, int n, double p) {
  return k == 0 ? 1 : Eigen::numext::betainc(double(k), double(n - k + 1), p);
}

// The rate at which at least k successes of n have a probability of `probability`, to the last bit: the probability
// rises with the rate.
double RateOf(int k, int n, double probability) {
  double low = 0, high = 1;
  while (true) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    (AtLeast(k, n, middle) < probability ? low : high) = middle;
  }
}

void CheckCounts(int k, int n, double confidence) {
  if (k < 0 || k > n || !(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("bound of a success rate: counts or confidence out of range");
  }
}

}  // namespace

double LowerBound(int k, int n, double confidence) {
  CheckCounts(k, n, confidence);
  return k == 0 ? 0 : RateOf(k, n, 1 - confidence);
}

double UpperBound(int k, int n, double confidence) {
  CheckCounts(k, n, confidence);
  return k == n ? 1 : RateOf(k + 1, n, confidence);
}

double McNemarTest(int b, int c) {
  if (b < 0 || c < 0) throw std::invalid_argument("McNemar's test of negative counts");
  if (b + c == 0) return 1;
  return std::min(1.0, 2 * AtLeast(std::max(b, c), b + c, 0.5));
}

Quartiles QuartilesOf(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return {kNone, kNone, kNone};
  }
  auto from = values.begin();
  const auto at = [&](double p) {  // of rising p: what is before `from` is not greater than what follows
    const double x = p * static_cast<double>(values.size() - 1);
    const auto i = static_cast<ptrdiff_t>(x);
    const double t = x - static_cast<double>(i);
    const auto found = values.begin() + i;
    std::nth_element(from, found, values.end());
    from = found;
    return t == 0 ? *found : *found + t * (*std::min_element(found + 1, values.end()) - *found);
  };
  const double first = at(0.25), median = at(0.5), third = at(0.75);
  return {first, median, third};
}

FiveNumbers FiveNumbersOf(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const bool none = values.empty();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  FiveNumbers numbers{none ? kNone : *least, 0, 0, 0, none ? kNone : *most};
  const Quartiles quartiles = QuartilesOf(std::move(values));
  numbers.first_quartile = quartiles.first;
  numbers.median = quartiles.median;
  numbers.third_quartile = quartiles.third;
  return numbers;
}

}  // namespace retrace::metrics
