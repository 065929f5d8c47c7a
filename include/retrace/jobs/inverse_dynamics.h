/// The forces behind a recorded motion at once, by inverse dynamics, without a simulation; with how uncertain they are,
/// and how they compare with measured ones.
#pragma once

#include <string>

#include "retrace/jobs/estimated_forces.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

struct InverseDynamicsOptions {
  bool use_measured = false;  ///< joint loads follow from the measured forces instead of the estimated ones
  bool cycles = false;        ///< curves over gait cycles are written
  /// The motion is changed a little, so that it agrees with the forces: the measured ones where these are used, with
  /// masses that change, too; else the estimated ones, which are found once more for it.
  bool reduce_residuals = false;
  bool report = false;  ///< a page is written, with curves over gait cycles
};

/// The job of an estimate: its reference is smoothed as the recording needs it (kinetics::ChooseSmoothing) where the
/// configuration leaves the smoothing as ForcesConfiguration has it, and is otherwise as recorded: nothing is lifted
/// out of the floor. Throws as Job does.
Job JobOfEstimate(JobOptions options);

/// Throws InputError for a measurement that does not fit the motion or contradicts it, UsageError where measured forces
/// are to be used and there are none that say where they act.
ForceEstimate EstimateForces(const Job& job, const InverseDynamicsOptions& options = {});

/// Writes the tables of results/force_tables.h, forces.svg, the forces for OpenSim, in the axes and on the clock of the
/// recording, and the manifest. Throws OutputError.
/// With `options.cycles` also curves over strides and stances, with `options.report` also report.html. Adds to the
/// notes what events and cycles there are.
void WriteForceEstimate(results::RunFolder& folder, const Job& job, ForceEstimate& estimate,
                        const InverseDynamicsOptions& options, const RunContext& context);

/// What was found, as lines for people.
std::string Describe(const ForceEstimate& estimate);
/// The same in one line.
std::string Summary(const ForceEstimate& estimate);

}  // namespace retrace::runs
