/// Forces behind a recorded motion by inverse dynamics, and how they compare with measured ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/kinetics/residual_reduction.h"
#include "retrace/metrics/force_comparison.h"
#include "retrace/metrics/required_forces.h"
#include "retrace/results/force_tables.h"

namespace retrace::runs {

/// Distances of the estimated center of pressure of the feet from the measured one, where both are loaded, along the
/// foot and across it [m].
struct CenterErrors {
  double along = 0;       ///< mean of the magnitude
  double across = 0;      ///< the same
  double along_bias = 0;  ///< mean, to the front
  size_t count = 0;       ///< of instants and feet
};

struct ForceEstimate {
  std::vector<metrics::RequiredForces> motion;  ///< at all poses but the first and the last
  metrics::GroundForces ground;                 ///< of the same at all poses: the ends have what is beside them
  results::Channels joint_loads;                ///< (poses) torques and powers
  std::optional<metrics::MeasuredSteps> measured;
  std::optional<metrics::ForceComparison> comparison;
  std::optional<CenterErrors> centers;
  std::optional<kinetics::ReducedResiduals> reduced;  ///< where residuals were to be reduced
  double delay = 0;                   ///< by which the clock of the measurement was found late, and is compared [s]
  std::vector<std::string> notes;     ///< what was found besides, as sentences
  std::vector<std::string> warnings;  ///< what makes the result or the comparison doubtful
};

}  // namespace retrace::runs
