/// Events and cycles of an estimate of forces, as files.
#pragma once

#include <string>

#include "retrace/jobs/estimated_forces.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {

/// Writes foot_events.csv: when feet strike and leave the ground, by the estimate and by the plates.
/// @return what was found, as a sentence; empty where a foot does neither
std::string WriteFootEvents(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate);

/// Writes the cycles, and curves over strides and over stances with their picture, where the motion has any.
/// @return what was found, as a sentence
std::string WriteGaitCycles(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate);

}  // namespace retrace::runs
