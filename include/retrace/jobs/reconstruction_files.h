/// The folder of a reconstruction.
#pragma once

#include <filesystem>

#include "retrace/io/json.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/jobs/reconstruction_job.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::runs {

/// Writes the folder of a run, its manifest last. `more` are members that are added to the manifest. Throws
/// OutputError.
void WriteRun(results::RunFolder& folder, const Job& job, const Reconstruction& result, const RunContext& context,
              KeptFiles kept = KeptFiles::kAll, const io::Json& more = io::NoMembers());
/// The same into a folder that is new or empty. Throws UsageError for another one.
void WriteRun(const std::filesystem::path& folder, const Job& job, const Reconstruction& result);

}  // namespace retrace::runs
