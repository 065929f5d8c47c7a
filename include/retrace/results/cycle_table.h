/// Curves over gait cycles, as a table, and what they are curves of.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/metrics/gait_cycles.h"
#include "retrace/results/force_tables.h"

namespace retrace::results {

/// A quantity of one side that a curve shows: a channel, as it is or with the other sign.
struct CycleSource {
  std::string quantity, unit, column;
  double sign = 1;
};

/// Moments and powers of the hip, the knee and the ankle of one side, per kilogram: those of JointLoadChannels that the
/// character has. Torques on the child are in the parent's axes, x to the left, z to the front.
std::vector<CycleSource> LegLoads(const character::Character& character, bool left);

/// Adds the curves of all sources that the channels have, divided by the mass.
/// @param cycles of one foot
void AddCurves(const Channels& channels, const std::vector<CycleSource>& sources, double mass, double time_step,
               const std::vector<metrics::GaitCycle>& cycles, std::vector<metrics::CycleCurve>& curves);

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
