#include "retrace/metrics/intervals.h"

namespace retrace::metrics {

std::vector<Interval> Stretches(const std::vector<bool>& flags, double frame_time) {
  std::vector<Interval> stretches;
  for (size_t f = 0; f < flags.size(); ++f) {
    if (!flags[f]) continue;
    const double time = static_cast<double>(f) * frame_time;
    if (f == 0 || !flags[f - 1]) stretches.push_back({time, time});
    stretches.back().end = time;
  }
  return stretches;
}

}  // namespace retrace::metrics
