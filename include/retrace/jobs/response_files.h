/// The folder of a response.
#pragma once

#include <string>

#include "retrace/jobs/response_job.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

/// Writes the folder of a run, its manifest last. Throws OutputError.
void WriteResponse(results::RunFolder& folder, const ResponseJob& job, const Response& result,
                   const RunContext& context);

/// candidates.csv, a row for each: motion, time, start, distance, gap, limp_gap, hidden_impulse, end, last, tried,
/// reached, up, found, touched_again (nothing where no other character does), lies_at (nothing where it does not fall).
std::string FormatCandidates(const ResponseJob& job, const Response& result);

}  // namespace retrace::runs
