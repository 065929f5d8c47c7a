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

template <io::DescribedAs<SelectionOptions> Options, typename Visitor>
void Describe(Options& o, Visitor& v) {
  v.Field({"saved", "nSave, the number of samples that an iteration saves; at most as many as it draws"}, o.saved,
          kSavedNumbers);
  v.Field({"discarded", "Share of the samples, the most costly ones, that is never saved"}, o.discarded,
          io::Real{{0, 0.999}});
  v.Field({"exponent", "Exponent of the distribution of saved costs, f(x) = min + (max - min) x^exponent"}, o.exponent,
          io::Real{{0.01, 100}});
  v.Field({"distinct", "Whether each sample is saved once at most; false is the letter of the paper"}, o.distinct,
          io::Flag{});
}

struct Selection {
  std::vector<size_t> samples;  ///< indices of the saved samples, cheapest first
  size_t distinct = 0;          ///< how many different samples these are
  size_t distinct_literal = 0;  ///< how many the rule without `distinct` would have saved
};

/// Chooses from the costs of all samples; infinite or not-a-number costs (diverged simulations) are never chosen. Ties
/// go to the smaller index. Empty when there is no finite cost.
Selection SelectSamples(std::span<const double> costs, const SelectionOptions& options);

}  // namespace retrace::sampling
