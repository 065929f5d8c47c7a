/// One film from two clips: what was recorded up to the strike, the strike as it is simulated, what the one that is
/// hit does, and how the other goes on (Zordan et al. 2005, figures 1 to 3).
///
///     const runs::StrikeJob strike(options);
///     runs::WriteStrike(scene_folder, strike, runs::SimulateStrike(strike), {});
///     const runs::ResponseJob job(response_options);      // of that folder
///     const runs::Response response = runs::Respond(job.problem);
///     runs::WriteFilm(folder, strike, job, response, {});
#pragma once

#include <string>

#include "retrace/jobs/response_files.h"
#include "retrace/jobs/response_job.h"
#include "retrace/jobs/strike.h"

namespace retrace::runs {

/// What both recordings show before the simulation begins, in whole frames of kCompositionFrame.
RecordedBeginning BeginningOf(const StrikeJob& strike, const Strike& simulated);

/// Writes the folder of the film, its manifest last. Throws OutputError.
void WriteFilm(results::RunFolder& folder, const StrikeJob& strike, const Strike& simulated, const ResponseJob& job,
               const Response& response, const RunContext& context);

/// Lines for people: whether both are within tolerance to their ends.
std::string DescribeFilm(const Response& response);

}  // namespace retrace::runs
