/// The report page of whole runs: shared by `report` and `reconstruct --report`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/io/json.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

/// What a page shows of a run: the motion of each character, tracking without feedback of its reference (where there is
/// one), its costs (where costs.csv is kept). `difference` becomes that of what is stored from the motion that this
/// program finds, or empty. Throws InputError.
io::Json DescribeStoredRun(const StoredRun& run, const std::string& name, std::string& difference);

/// The folders of runs that a folder stands for: the variations that it holds, else itself.
std::vector<std::filesystem::path> RunsOf(const std::filesystem::path& folder);

struct GatheredReport {
  io::JsonBox document;
  std::vector<std::string> differing;  ///< where a table kept is not what the replay finds
};

/// Everything about runs and results of `evaluate`, in this order. Throws InputError.
/// @param page where the page will be: what `evaluate` measured is linked from there to the pages of its runs, or where
/// there are none to their folders; empty: in the first folder
GatheredReport GatherReport(const std::vector<std::string>& folders, const std::filesystem::path& page = {});

/// Folders of the runs of evaluations among the folders, of those that are kept, in the order of their tables.
std::vector<std::filesystem::path> EvaluatedRuns(const std::vector<std::string>& folders);

/// Throws OutputError when a page or picture at `file` would replace what these folders are read from, and UsageError
/// when it would replace a file that is not such a page, unless `force` allows that.
void CheckReportOutput(const std::filesystem::path& file, const std::vector<std::string>& folders, bool force);

/// Writes the page with a document in it. Throws UsageError where the page was not built, and OutputError.
void WriteReportPage(const io::Json& document, const std::filesystem::path& file);

}  // namespace retrace::runs
