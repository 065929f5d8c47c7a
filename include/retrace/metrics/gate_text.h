/// Figures of tolerances as people read them.
#pragma once

#include <string>

#include "retrace/metrics/gates.h"

namespace retrace::metrics {

/// A figure with its unit: degrees of orientations, percent of shares, and meters.
std::string FigureText(const Gate& gate, double figure);

}  // namespace retrace::metrics
