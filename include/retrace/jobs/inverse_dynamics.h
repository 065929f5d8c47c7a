/// The forces behind a recorded motion at once, by inverse dynamics, without a simulation; with how uncertain they are,
/// and how they compare with measured ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/jobs/reconstruction_job.h"
#include "retrace/metrics/force_comparison.h"
#include "retrace/metrics/required_forces.h"
#include "retrace/results/force_tables.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

struct InverseDynamicsOptions {
  bool use_measured = false;  ///< joint loads follow from the measured forces instead of the estimated ones
  bool cycles = false;        ///< curves over gait cycles are written
};

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
  double delay = 0;                   ///< by which the clock of the measurement was found late, and is compared [s]
  std::vector<std::string> notes;     ///< what was found besides, as sentences
  std::vector<std::string> warnings;  ///< what makes the result or the comparison doubtful
};

/// The job of an estimate: its reference is smoothed as the recording needs it (kinetics::ChooseSmoothing) where the
/// configuration leaves the smoothing as ForcesConfiguration has it, and is otherwise as recorded: nothing is lifted
/// out of the floor. Throws as Job does.
Job JobOfEstimate(JobOptions options);

/// Throws InputError for a measurement that does not fit the motion, UsageError where measured forces are to be used
/// and there are none that say where they act.
ForceEstimate EstimateForces(const Job& job, const InverseDynamicsOptions& options = {});

/// Writes the tables of results/force_tables.h, forces.svg, the forces for OpenSim, in the axes and on the clock of the
/// recording, and the manifest. Throws OutputError.
/// With `options.cycles` also curves over strides and stances. Adds to the notes what events and cycles there are.
void WriteForceEstimate(results::RunFolder& folder, const Job& job, ForceEstimate& estimate,
                        const InverseDynamicsOptions& options, const RunContext& context);

/// What was found, as lines for people.
std::string Describe(const ForceEstimate& estimate);

}  // namespace retrace::runs
