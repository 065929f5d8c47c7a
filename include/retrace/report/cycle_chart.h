/// Curves over gait cycles as a picture.
#pragma once

#include <string>

#include "retrace/results/cycle_table.h"

namespace retrace::report {

/// An SVG picture: a row for each quantity, the left side beside the right one; the mean, one standard deviation about
/// it, and what was measured.
/// @param cycle what 100 % are, stride or stance
/// @param title of the motion
std::string FormatCycleChart(const results::CycleCurves& curves, const std::string& cycle, const std::string& title);

}  // namespace retrace::report
