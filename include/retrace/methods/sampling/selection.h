/// Which samples of an iteration are saved (Liu et al. 2010, section 3.2.3, "Sample Selection and Pruning").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "retrace/io/describe.h"

namespace retrace::sampling {

inline constexpr io::Integer kSavedNumbers{1, 100000};

struct SelectionOptions {
  int saved = 50;          ///< nSave; the paper's is 200
  double discarded = 0.4;  ///< share of the most costly samples that are never saved
  double exponent = 6;     ///< of the spread f(x) = min + (max - min) x^exponent
  /// Take the closest sample not yet taken. Otherwise, as the text reads, the closest one, so that a few cheap samples
  /// are saved again and again: half of all x^6 lie in the lowest 1.6 % of the range.
  bool distinct = true;
};

void Describe(SelectionOptions& o, io::FieldVisitor& v);

struct Selection {
  std::vector<size_t> samples;  ///< indices of the saved samples, cheapest first
  size_t distinct = 0;          ///< how many different samples these are
  size_t distinct_literal = 0;  ///< how many the rule without `distinct` would have saved
};

/// Chooses from the costs of all samples; infinite or not-a-number costs (diverged simulations) are never chosen. Ties
/// go to the smaller index. Empty when there is no finite cost.
Selection SelectSamples(std::span<const double> costs, const SelectionOptions& options);

}  // namespace retrace::sampling
