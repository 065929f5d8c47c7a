/// Statistics of repeated runs: how sure a success rate is, whether two methods differ, and what is usual.
#pragma once

#include <vector>

namespace retrace::metrics {

/// One-sided Clopper-Pearson bounds of a success rate from k successes in n runs (Clopper and Pearson 1934): a rate
/// below LowerBound (above UpperBound) would lead to as many (as few) successes with a probability of less than
/// 1 - confidence. 0 and 1 where k is 0 and n, and where n is 0. Throws std::invalid_argument unless 0 <= k <= n and
/// 0 < confidence < 1.
double LowerBound(int k, int n, double confidence = 0.95);
double UpperBound(int k, int n, double confidence = 0.95);

/// Exact two-sided McNemar test (McNemar 1947, binomial form): the probability that of b + c pairs in which one of two
/// methods succeeds and the other does not, the split is at least as uneven when both are equally good. 1 without such
/// pairs. Over several clips the counts are added up, which is the Cochran-Mantel-Haenszel test of matched pairs in its
/// exact form (the pairs are the strata). Throws std::invalid_argument for negative counts.
double McNemarTest(int b, int c);

/// Quartiles with linear interpolation between order statistics: the value at position p (n - 1) of the sorted values
/// (type 7 of Hyndman and Fan 1996, the default of R and NumPy). Values that are not numbers are left out; all three
/// are NaN when nothing is left.
struct Quartiles {
  double first = 0;
  double median = 0;
  double third = 0;
};
Quartiles QuartilesOf(std::vector<double> values);

/// The same quartiles between the least value and the greatest.
struct FiveNumbers {
  double least = 0;
  double first_quartile = 0;
  double median = 0;
  double third_quartile = 0;
  double most = 0;
};
FiveNumbers FiveNumbersOf(std::vector<double> values);

}  // namespace retrace::metrics
