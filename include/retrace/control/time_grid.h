/// Times as steps of a simulation, and back.
#pragma once

#include <algorithm>
#include <cmath>

namespace retrace::control {

/// Instants that are a time step apart; step 0 is at time 0. Times may be negative.
struct TimeGrid {
  /// Share of a step by which a time may miss an instant and still counts as that instant, for Floor and Ceil: what is
  /// meant as a multiple of the time step is seldom one to the bit.
  static constexpr double kTolerance = 1e-6;

  double h = 0;  ///< time step, above 0 [s]

  /// The instant nearest to a time [s]; halfway between two, the one farther from 0.
  int Nearest(double time) const { return static_cast<int>(std::lround(time / h)); }
  /// The last instant that is not after a time [s]: how many whole steps fit into a duration.
  int Floor(double time) const { return static_cast<int>(std::floor(time / h + kTolerance)); }
  /// The first instant that is not before a time [s].
  int Ceil(double time) const { return static_cast<int>(std::ceil(time / h - kTolerance)); }
  /// Steps of a part that lasts about so long [s]; every part has one at least.
  int PartSteps(double duration) const { return std::max(1, Nearest(duration)); }
  double TimeOf(int step) const { return step * h; }  ///< [s]
};

}  // namespace retrace::control
