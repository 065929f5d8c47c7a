/// Ground forces over time as one picture: total, left and right foot beside one another; vertical, fore-aft and
/// lateral below one another; the band of several controls, and what was measured.
#pragma once

#include <string>

#include "retrace/results/force_tables.h"

namespace retrace::report {

/// What the line and the band of the picture are called.
struct ForceChartWords {
  std::string line = "simulated";
  std::string band = {};  ///< empty: the least and the most of the controls
};

/// An SVG picture of FootForceChannels. The low-pass that they passed is named in it.
/// @param measured of the same names; not drawn where it is NaN; null: none
/// @param cutoff of the channels [Hz]; 0: they are as simulated
/// @param title of the motion
std::string FormatForceChart(const results::BandedChannels& bands, const results::Channels* measured, double time_step,
                             double cutoff, const std::string& title, const ForceChartWords& words = {});

}  // namespace retrace::report
