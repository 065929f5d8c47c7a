/// Stretches of time.
#pragma once

#include <vector>

namespace retrace::metrics {

/// A stretch of time [s].
struct Interval {
  double start = 0;
  double end = 0;
};

/// The stretches in which a flag holds.
std::vector<Interval> Stretches(const std::vector<bool>& flags, double frame_time);

}  // namespace retrace::metrics
