#include "retrace/methods/sampling/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

/// Which ranks are still free. Most are asked for near the lowest costs, where many are taken: each taken one knows a
/// rank above it below which none is free.
class FreeRanks {
 public:
  explicit FreeRanks(size_t count) : above_(count + 1) { std::iota(above_.begin(), above_.end(), size_t{0}); }

  /// Takes the first free rank at or above `rank`, else the nearest free one below. There must be one.
  size_t TakeClosest(size_t rank) {
    size_t found = FirstFrom(rank);
    if (found + 1 == above_.size()) {
      for (found = rank; above_[found] != found;) --found;
    }
    above_[found] = found + 1;
    return found;
  }

 private:
  size_t FirstFrom(size_t rank) {
    while (above_[rank] != rank) {
      above_[rank] = above_[above_[rank]];
      rank = above_[rank];
    }
    return rank;
  }

  std::vector<size_t> above_;  // (ranks and one more) a free rank: itself
};

}  // namespace

void Describe(SelectionOptions& o, io::FieldVisitor& v) {
  v.Field({"saved", "nSave, the number of samples that an iteration saves; at most as many as it draws"}, o.saved,
          kSavedNumbers);
  v.Field({"discarded", "Share of the samples, the most costly ones, that is never saved"}, o.discarded,
          io::Real{{0, 0.999}});
  v.Field({"exponent", "Exponent of the distribution of saved costs, f(x) = min + (max - min) x^exponent"}, o.exponent,
          io::Real{{0.01, 100}});
  v.Field({"distinct", "Whether each sample is saved once at most; false is the letter of the paper"}, o.distinct,
          io::Flag{});
}

Selection SelectSamples(std::span<const double> costs, const SelectionOptions& options) {
  std::vector<std::pair<double, size_t>> order;  // costs beside one another are sorted twice as fast as indices
  order.reserve(costs.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    if (std::isfinite(costs[i])) order.emplace_back(costs[i], i);
  }
  Selection selection;
  if (order.empty()) return selection;
  const double share = std::floor(static_cast<double>(order.size()) * (1 - options.discarded));
  const auto kept = std::clamp<size_t>(static_cast<size_t>(share), 1, order.size());
  std::nth_element(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept - 1), order.end());
  order.resize(kept);
  std::sort(order.begin(), order.end());
  std::vector<double> sorted;
  sorted.reserve(order.size());
  for (const auto& [cost, i] : order) sorted.push_back(cost);

  FreeRanks free(order.size());
  std::vector<bool> taken_literal(order.size(), false);
  std::vector<size_t> ranks;
  for (int i = 0; i < options.saved; ++i) {
    const double x = static_cast<double>(i) / options.saved;
    const double target = sorted.front() + (sorted.back() - sorted.front()) * std::pow(x, options.exponent);
    const size_t closest = ClosestRank(sorted, target);
    taken_literal[closest] = true;
    if (options.distinct && ranks.size() == order.size()) continue;  // all are saved already
    ranks.push_back(options.distinct ? free.TakeClosest(closest) : closest);
  }
  std::sort(ranks.begin(), ranks.end());
  for (const size_t rank : ranks) selection.samples.push_back(order[rank].second);
  selection.distinct = static_cast<size_t>(std::unique(ranks.begin(), ranks.end()) - ranks.begin());
  selection.distinct_literal = static_cast<size_t>(std::count(taken_literal.begin(), taken_literal.end(), true));
  return selection;
}

}  // namespace retrace::sampling
