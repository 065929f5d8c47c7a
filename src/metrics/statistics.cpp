#include "retrace/metrics/statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace retrace::metrics {
namespace {

using Binomial = boost::math::binomial_distribution<double>;

void CheckCounts(int k, int n, double confidence) {
  if (k < 0 || k > n || !(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("bound of a success rate: counts or confidence out of range");
  }
}

}  // namespace

double LowerBound(int k, int n, double confidence) {
  CheckCounts(k, n, confidence);
  return k == 0 ? 0 : Binomial::find_lower_bound_on_p(n, k, 1 - confidence);
}

double UpperBound(int k, int n, double confidence) {
  CheckCounts(k, n, confidence);
  return k == n ? 1 : Binomial::find_upper_bound_on_p(n, k, 1 - confidence);
}

double McNemarTest(int b, int c) {
  if (b < 0 || c < 0) throw std::invalid_argument("McNemar's test of negative counts");
  if (b + c == 0) return 1;
  return std::min(1.0, 2 * boost::math::cdf(Binomial(b + c, 0.5), std::min(b, c)));
}

Quartiles QuartilesOf(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return {kNone, kNone, kNone};
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](double p) {
    const double x = p * static_cast<double>(values.size() - 1);
    const auto i = static_cast<size_t>(x);
    const double t = x - static_cast<double>(i);
    return t == 0 ? values[i] : values[i] + t * (values[i + 1] - values[i]);
  };
  return {at(0.25), at(0.5), at(0.75)};
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
