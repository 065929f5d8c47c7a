/// Curves over gait cycles as a table.
#pragma once

#include <string>
#include <vector>

#include "retrace/metrics/gait_cycles.h"

namespace retrace::results {

/// Curves over the cycles of the left and of the right foot, each over its own.
struct CycleCurves {
  struct Side {
    std::vector<metrics::CycleCurve> curves;
    std::vector<metrics::CycleCurve> measured;  ///< by force plates, of the same names; none: not measured
  };
  Side left;
  Side right;
};

/// A row per percent of the cycle: percent, then SIDE_QUANTITY_mean and SIDE_QUANTITY_sd of all that has a cycle, and
/// SIDE_QUANTITY_measured_mean and SIDE_QUANTITY_measured_sd where plates have one.
std::string FormatCycleCurves(const CycleCurves& curves);

}  // namespace retrace::results
