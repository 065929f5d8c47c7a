/// What every manifest of a job says: what is to be done, and from which files.
#pragma once

#include <cstdint>

#include "retrace/io/json.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

/// Adds command, clip, configuration, inputs, reference, checks, world and solver of a job.
void AddJob(const Job& job, uint64_t seed, const RunContext& context, io::Json& manifest);

}  // namespace retrace::runs
