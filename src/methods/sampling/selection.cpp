#include "retrace/methods/sampling/selection.h"

#include <algorithm>
#include <cmath>

namespace retrace::sampling {
namespace {

/// Rank of the sample whose cost is closest to `target`; the cheaper of two equally close ones.
size_t ClosestRank(std::span<const double> sorted, double target) {
  const auto above = std::lower_bound(sorted.begin(), sorted.end(), target);
  if (above == sorted.begin()) return 0;
  const size_t rank = static_cast<size_t>(above - sorted.begin());
  if (above != sorted.end() && sorted[rank] - target < target - sorted[rank - 1]) return rank;
  return static_cast<size_t>(std::lower_bound(sorted.begin(), above, sorted[rank - 1]) -
                             sorted.begin());  // ties: the first
}

/// First free rank at or above `rank`, else the nearest free one below. There must be one.
size_t ClosestFreeRank(const std::vector<bool>& taken, size_t rank) {
  for (size_t r = rank; r < taken.size(); ++r) {
    if (!taken[r]) return r;
  }
  size_t r = rank;
  while (taken[r]) --r;
  return r;
}

}  // namespace

Selection SelectSamples(std::span<const double> costs, const SelectionOptions& options) {
  std::vector<size_t> order;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (std::isfinite(costs[i])) order.push_back(i);
  }
  Selection selection;
  if (order.empty()) return selection;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return costs[a] != costs[b] ? costs[a] < costs[b] : a < b; });
  const auto kept = static_cast<size_t>(std::floor(static_cast<double>(order.size()) * (1 - options.discarded)));
  order.resize(std::max<size_t>(1, kept));
  std::vector<double> sorted;
  for (const size_t i : order) sorted.push_back(costs[i]);

  std::vector<bool> taken(order.size(), false);
  std::vector<bool> taken_literal(order.size(), false);
  std::vector<size_t> ranks;
  for (int i = 0; i < options.saved; ++i) {
    const double x = static_cast<double>(i) / options.saved;
    const double target = sorted.front() + (sorted.back() - sorted.front()) * std::pow(x, options.exponent);
    const size_t closest = ClosestRank(sorted, target);
    taken_literal[closest] = true;
    if (options.distinct && ranks.size() == order.size()) continue;  // all are saved already
    const size_t rank = options.distinct ? ClosestFreeRank(taken, closest) : closest;
    taken[rank] = true;
    ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  for (const size_t rank : ranks) selection.samples.push_back(order[rank]);
  selection.distinct = static_cast<size_t>(std::count(taken.begin(), taken.end(), true));
  selection.distinct_literal = static_cast<size_t>(std::count(taken_literal.begin(), taken_literal.end(), true));
  return selection;
}

}  // namespace retrace::sampling
