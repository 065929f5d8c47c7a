/// Negative controls: motions that are not reconstructions and must fail the tolerances.
#pragma once

#include <string>
#include <vector>

#include "retrace/batches/batch.h"

namespace retrace::runs {

struct NegativeControl {
  std::string clip;
  std::string control;
  bool tested = false;
  bool accepted = false;
  metrics::Evaluation evaluation = {};
  std::string message;  ///< why it was not tested
};

/// For each selected clip: tracking without feedback of the reference; and, where its run of seed 1 is a success, that
/// run's control with friction 0.05, the same with servos at a tenth of their gains, and its motion against a reference
/// whose root is turned upside down. `rows` are those of the batch.
std::vector<NegativeControl> TestNegativeControls(const Batch& batch, const std::vector<results::RunRow>& rows);

/// CSV: clip, control, accepted (0, 1 or empty), violated, violated_at_s, message.
std::string FormatNegativeControls(const std::vector<NegativeControl>& controls);

}  // namespace retrace::runs
