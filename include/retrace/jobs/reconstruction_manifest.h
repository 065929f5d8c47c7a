/// The manifests of what was made from a recording.
#pragma once

#include "retrace/io/json.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/jobs/tracking_run.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

/// The manifest of a reconstruction. `more` are members that are added or replaced.
io::Json ReconstructionManifest(const Job& job, const Reconstruction& result, const RunContext& context,
                                const io::Json& more);

}  // namespace retrace::runs
