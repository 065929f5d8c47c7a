/// The folder of a composition.
#pragma once

#include <string>

#include "retrace/jobs/composition_job.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

/// Writes the folder of a run, its manifest last. Throws OutputError.
void WriteComposition(results::RunFolder& folder, const CompositionJob& job, const Composition& result,
                      const RunContext& context);

/// composition.csv, a row for each part: start, end [s], control, cut [s] of that control, distance [m], tries,
/// event (Name of CompositionEvent), transition (Name of Transition, or nothing), hidden_impulse [N s].
std::string FormatComposition(const CompositionJob& job, const Composition& result);

}  // namespace retrace::runs
