#include "retrace/methods/sampling/options.h"

#include <cmath>
#include <limits>
#include <string>

#include "retrace/io/number.h"

namespace retrace::sampling {

std::optional<std::string> Options::Validate() const {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  constexpr bool kOpen = true;  // the lower limit itself is not legal
  struct Rule {
    const char* name;
    double value;
    double min;
    double max;
    bool open = false;
  };
  const Rule rules[] = {
      {"samples", static_cast<double>(samples), 1, 1e7},
      {"saved", static_cast<double>(selection.saved), 1, 1e7},
      {"discarded", selection.discarded, 0, 0.999},
      {"exponent", selection.exponent, 0, kAny, kOpen},
      {"window_scale", window_scale, 0, kAny},
      {"feedforward_gain", feedforward_gain, 0, kAny},
      {"feedforward_limit", feedforward_limit, 0, kAny},
      {"target_knots", static_cast<double>(target_knots), 1, 100},
      {"max_rewinds", static_cast<double>(max_rewinds), 0, 1000},
      {"budget", budget, 0, kAny},
      {"gate_margin", gate_margin, 0, 0.9},
      {"rewind", rewind, 0, kAny, kOpen},
      {"learned_samples", learned_samples, 0, 1, kOpen},
      {"elites", elites, 0, 1, kOpen},
      {"learning_rate", learning_rate, 0, 1, kOpen},
      {"smallest_deviation", smallest_deviation, 0, kAny},
      {"correction", correction, 0, kAny},
      {"goal", goal, 0, 1},
      {"correlation", correlation, 0, 0.99},
      {"smoothing.passes", static_cast<double>(smoothing.passes), 0, 100},
      {"smoothing.samples", smoothing.samples, 0, 1, kOpen},
      {"smoothing.weight", smoothing.weight, 0, kAny},
      {"smoothing.drift", smoothing.drift, 0, kAny},
      {"smoothing.blend", smoothing.blend, 0, 1},
      {"smoothing.deviation", smoothing.deviation, 0, kAny},
      {"smoothing.decay", smoothing.decay, 0, 1, kOpen},
      {"smoothing.ramp", smoothing.ramp, 0, 1},
      {"smoothing.patience", smoothing.patience, 1, 1000},
  };
  for (const Rule& rule : rules) {
    const bool above = rule.open ? rule.value > rule.min : rule.value >= rule.min;
    if (std::isfinite(rule.value) && above && rule.value <= rule.max) continue;
    std::string text = rule.name;
    text.append(": found ").append(io::Number(rule.value)).append(", expected a finite number that is ");
    text.append(rule.open ? "above " : "at least ").append(io::Number(rule.min));
    if (std::isfinite(rule.max)) text.append(" and at most ").append(io::Number(rule.max));
    return text;
  }
  if (selection.saved > samples) {
    return "saved: found " + std::to_string(selection.saved) + ", expected at most as many as samples, " +
           std::to_string(samples);
  }
  return std::nullopt;
}

}  // namespace retrace::sampling
