/// Filters over evenly spaced numbers. Internal to the task module.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace retrace::task {

/// A Gaussian filter over evenly spaced values, which are continued by the first and the last one.
inline std::vector<double> Smoothed(const std::vector<double>& values, double deviation) {
  std::vector<double> smooth(values.size());
  const int reach = static_cast<int>(std::ceil(3 * deviation));
  const int last = static_cast<int>(values.size()) - 1;
  for (int i = 0; i <= last; ++i) {
    double sum = 0, weights = 0;
    for (int k = -reach; k <= reach; ++k) {
      const double weight = std::exp(-0.5 * k * k / (deviation * deviation));
      sum += weight * values[static_cast<size_t>(std::clamp(i + k, 0, last))];
      weights += weight;
    }
    smooth[static_cast<size_t>(i)] = sum / weights;
  }
  return smooth;
}

/// The largest value within some positions.
inline std::vector<double> LargestAround(const std::vector<double>& values, int reach) {
  std::vector<double> largest(values.size());
  const int count = static_cast<int>(values.size());
  for (int i = 0; i < count; ++i) {
    const auto begin = values.begin() + std::max(0, i - reach), end = values.begin() + std::min(count, i + reach + 1);
    largest[static_cast<size_t>(i)] = *std::max_element(begin, end);
  }
  return largest;
}

}  // namespace retrace::task
