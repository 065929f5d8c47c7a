#include "retrace/methods/sampling/selection.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace retrace::sampling {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The rule by brute force: sort, discard, and for each of the spread costs look at every sample. Where the closest one
/// is taken already, the next more costly free one is saved, else the next cheaper one.
std::vector<size_t> ByBruteForce(const std::vector<double>& costs, const SelectionOptions& options) {
  std::vector<size_t> order;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (std::isfinite(costs[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return costs[a] < costs[b]; });
  if (order.empty()) return {};
  const double kept = std::floor(static_cast<double>(order.size()) * (1 - options.discarded));
  order.resize(std::max<size_t>(1, static_cast<size_t>(kept)));
  const double low = costs[order.front()];
  const double high = costs[order.back()];
  std::vector<int> times(order.size(), 0);
  for (int i = 0; i < options.saved; ++i) {
    const double x = low + (high - low) * std::pow(static_cast<double>(i) / options.saved, options.exponent);
    size_t closest = 0;
    for (size_t r = 1; r < order.size(); ++r) {
      if (std::abs(costs[order[r]] - x) < std::abs(costs[order[closest]] - x)) closest = r;
    }
    if (options.distinct) {
      size_t r = closest;
      while (r < order.size() && times[r] > 0) ++r;
      if (r == order.size()) {
        for (r = closest; r > 0 && times[r] > 0;) --r;
      }
      if (times[r] > 0) continue;  // all are taken
      closest = r;
    }
    ++times[closest];
  }
  std::vector<size_t> chosen;
  for (size_t r = 0; r < order.size(); ++r) chosen.insert(chosen.end(), static_cast<size_t>(times[r]), order[r]);
  return chosen;
}

rc::Gen<double> Costs() {
  return rc::gen::weightedOneOf<double>(
      {{6, rc::gen::map(rc::gen::inRange(0, 1000000), [](int i) { return 1e-5 * i; })},
       {3, rc::gen::map(rc::gen::inRange(0, 8), [](int i) { return 0.5 * i; })},
       {1, rc::gen::element(kInfinity, std::nan(""), 1e12)}});
}

SelectionOptions SomeOptions() {
  SelectionOptions options;
  options.saved = *rc::gen::inRange(1, 60);
  options.discarded = 0.1 * *rc::gen::inRange(0, 10);
  options.exponent = *rc::gen::element(1.0, 2.0, 6.0, 12.0);
  options.distinct = *rc::gen::arbitrary<bool>();
  return options;
}

TEST(Selection, IsTheRuleByBruteForce) {
  ASSERT_TRUE(rc::check([] {
    const auto costs = *rc::gen::container<std::vector<double>>(Costs());
    const SelectionOptions options = SomeOptions();
    RC_ASSERT(SelectSamples(costs, options).samples == ByBruteForce(costs, options));
  }));
}

TEST(Selection, KeepsItsPromises) {
  ASSERT_TRUE(rc::check([] {
    const auto costs = *rc::gen::container<std::vector<double>>(Costs());
    SelectionOptions options = SomeOptions();
    options.distinct = true;
    const Selection selection = SelectSamples(costs, options);
    options.distinct = false;
    const Selection literal = SelectSamples(costs, options);
    const auto finite =
        static_cast<size_t>(std::count_if(costs.begin(), costs.end(), [](double c) { return std::isfinite(c); }));
    const auto kept =
        finite == 0 ? 0
                    : std::max<size_t>(
                          1, static_cast<size_t>(std::floor(static_cast<double>(finite) * (1 - options.discarded))));

    const std::set<size_t> distinct(selection.samples.begin(), selection.samples.end());
    RC_ASSERT(distinct.size() == selection.samples.size());
    RC_ASSERT(selection.distinct == distinct.size());
    RC_ASSERT(distinct.size() == std::min(kept, static_cast<size_t>(options.saved)));
    RC_ASSERT(literal.samples.size() == (finite == 0 ? 0 : static_cast<size_t>(options.saved)));
    RC_ASSERT(literal.distinct == std::set<size_t>(literal.samples.begin(), literal.samples.end()).size());
    RC_ASSERT(selection.distinct_literal == literal.distinct);
    RC_ASSERT(literal.distinct_literal == literal.distinct);
    RC_ASSERT(literal.distinct <= selection.distinct);
    for (const Selection& s : {selection, literal}) {
      for (size_t i = 0; i < s.samples.size(); ++i) {
        RC_ASSERT(std::isfinite(costs[s.samples[i]]));
        if (i > 0) RC_ASSERT(costs[s.samples[i - 1]] <= costs[s.samples[i]]);
      }
      // The cheapest is always saved; of equal ones the first.
      if (finite > 0) {
        const auto best = std::min_element(costs.begin(), costs.end(), [](double a, double b) {
          return (std::isnan(a) ? kInfinity : a) < (std::isnan(b) ? kInfinity : b);
        });
        RC_ASSERT(s.samples.front() == static_cast<size_t>(best - costs.begin()));
      }
    }
  }));
}

TEST(Selection, OfThePapersSizeSavesFewByTheLetter) {
  std::vector<double> costs;
  for (int i = 0; i < 1400; ++i) costs.push_back(10 + 5 * std::sqrt(i / 1400.0));  // cheap samples are rare
  SelectionOptions options;
  options.saved = 200;
  const Selection selection = SelectSamples(costs, options);
  EXPECT_EQ(selection.samples.size(), 200u);
  EXPECT_EQ(selection.distinct, 200u);
  EXPECT_LT(selection.distinct_literal, 150u);
  EXPECT_GT(selection.distinct_literal, 20u);
}

TEST(Selection, WorkedExample) {
  // 6 of 10 are kept: costs 0 to 5. With x = i/3 and exponent 1 the spread costs are 0, 5/3 and 10/3.
  const std::vector<double> costs = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  SelectionOptions options;
  options.saved = 3;
  options.exponent = 1;
  EXPECT_EQ(SelectSamples(costs, options).samples, (std::vector<size_t>{9, 7, 6}));
}

TEST(Selection, TiesGoToTheSmallerIndex) {
  SelectionOptions options;
  options.saved = 3;
  options.discarded = 0;
  EXPECT_EQ(SelectSamples(std::vector<double>(8, 2.5), options).samples, (std::vector<size_t>{0, 1, 2}));
}

TEST(Selection, OfNothingIsEmpty) {
  EXPECT_TRUE(SelectSamples({}, {}).samples.empty());
  EXPECT_TRUE(SelectSamples(std::vector<double>{kInfinity, std::nan(""), -kInfinity}, {}).samples.empty());
}

TEST(Selection, SavesAllWhenThereAreFewerThanAskedFor) {
  SelectionOptions options;
  options.saved = 50;
  options.discarded = 0.4;
  const std::vector<double> costs = {3, kInfinity, 1, 2, 5, 4};
  EXPECT_EQ(SelectSamples(costs, options).samples, (std::vector<size_t>{2, 3, 0}));
  EXPECT_EQ(SelectSamples(std::vector<double>{7}, options).samples, (std::vector<size_t>{0}));
}

}  // namespace
}  // namespace retrace::sampling
