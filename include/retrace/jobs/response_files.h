/// The folder of a response.
#pragma once

#include <string>
#include <vector>

#include "retrace/jobs/response_job.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/inputs/inputs.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

/// What precedes a scene, as it was recorded: shown, and not simulated.
struct RecordedBeginning {
  int steps = 0;                        ///< of the simulation that it takes
  control::KinematicBeginning motions;  ///< of all characters, kCompositionFrame apart
  std::vector<std::string> sources;     ///< (characters) clips
  io::JsonBox strike;                   ///< what the manifest says of the strike
  std::vector<InputRecord> inputs;      ///< the clips
};

/// Writes the folder of a run, its manifest last. Throws OutputError.
/// @param beginning of a scene of several characters, whose response then is a film: the recorded motion up to the
/// strike, the simulation, and how each is led on; parts.csv tells which part is what
void WriteResponse(results::RunFolder& folder, const ResponseJob& job, const Response& result,
                   const RunContext& context, const RecordedBeginning* beginning = nullptr);

/// candidates.csv, a row for each: motion, time, start, distance, gap, limp_gap, hidden_impulse, end, last, tried,
/// reached, up, found, touched_again (nothing where no other character does), lies_at (nothing where it does not fall).
std::string FormatCandidates(const ResponseJob& job, const Response& result);

}  // namespace retrace::runs
