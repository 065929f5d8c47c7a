/// An estimate of forces as a page.
#pragma once

#include "retrace/jobs/estimated_forces.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {

/// Writes report.html with the pictures that the folder has by then: the verdict, the comparison with plates, forces
/// over time, curves over strides and stances, residuals.
void WriteForcePage(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate);

}  // namespace retrace::runs
