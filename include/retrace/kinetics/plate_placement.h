/// How force plates lie under a motion: by which quarter turn, in which handedness of axes, and whether left and right
/// are those of the motion, as the feet stand on them.
#pragma once

#include <optional>

#include "retrace/character/reference_motion.h"
#include "retrace/metrics/force_comparison.h"
#include "retrace/motion/measured_forces.h"

namespace retrace::kinetics {

/// Where measured forces act nearest to the feet. Distances are means over all loads of more than 100 N, over the
/// ground, from the centers of the feet.
struct PlatePlacement {
  double heading = 0;         ///< as metrics::MeasurementPlace has it [rad]
  bool mirrored = false;      ///< the same
  bool exchanged = false;     ///< the same
  double distance = 0;        ///< from the nearest foot [m]
  double next_distance = 0;   ///< the same at the next best quarter turn [m]
  double own_distance = 0;    ///< from the foot that a force is named after, as named in the file [m]
  double other_distance = 0;  ///< from the other one; infinite where no force is named after a foot [m]
  /// The turn at which feet stand on the loads, where they do at no quarter turn.
  std::optional<double> oblique = {};

  /// Whether feet stand on the loads, and on those of no other quarter turn.
  bool Clear() const { return distance < 0.3 && distance < 0.6 * next_distance; }
};

/// Looks at quarter turns from the given one, in its handedness and in the other one. Axes are taken to be reversed,
/// or feet exchanged, only where the loads then lie under the feet that they are named after, and much nearer than they
/// did. Nothing where forces do not say where they act, where nothing is loaded, and for a character without two feet.
std::optional<PlatePlacement> FindPlacement(const motion::MeasuredForces& measured,
                                            const metrics::MeasurementPlace& place,
                                            const character::ReferenceMotion& reference);

}  // namespace retrace::kinetics
