/// How far apart several motions of one reference are, and the controls behind them.
#pragma once

#include <span>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/io/json.h"

namespace retrace::metrics {

/// Root mean squares over variations are those of the distances from the mean over variations (divided by their
/// number): for two variations half of the distance between them.
struct Spread {
  double time_step = 0;         ///< [s]
  std::vector<double> joints;   ///< (states) RMS over variations and joints, root position and heading removed [m]
  std::vector<double> root;     ///< (states) RMS over variations of the root's position in the world [m]
  std::vector<double> targets;  ///< (steps) RMS over variations and joints of the angle to the mean target [rad]

  /// For each pair, the mean over states of JointPositionError between its two motions (gates.h) [m]. NaN when there is
  /// one motion only.
  double pair_smallest = 0;
  double pair_median = 0;
  double pair_largest = 0;
  size_t closest[2] = {0, 0};  ///< the pair that is nearest to one another

  /// Means over time, largest values and pairs.
  io::Json ToJson() const;
};

/// Headings are taken relative to the reference's, by the turn about the vertical in the rotation between the roots.
/// Throws std::invalid_argument without a motion, and unless there is a control to each motion and all have the same
/// steps.
Spread MeasureSpread(const character::Character& character, std::span<const control::Trajectory> motions,
                     std::span<const control::OpenLoopControl> controls, const character::ReferenceMotion& reference);

}  // namespace retrace::metrics
