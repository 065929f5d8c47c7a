/// The manifest that ends every folder of results: the members that all manifests share. What a job adds stands beside
/// the job.
#pragma once

#include <string>

#include "retrace/io/json.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {

/// Who computed, and since when.
struct RunContext {
  std::string command = {};                  ///< as a shell takes it back
  io::JsonBox workers = {};                  ///< DescribeWorkers; null: not known
  const results::RunTimer* timer = nullptr;  ///< null: the time of the computation alone
};

/// {"kind": "ranks" or "threads", "count"}.
io::Json DescribeWorkers(bool ranks, const parallel::TaskFarm& farm);

/// The members that every manifest begins with.
io::Json BeginManifest(const std::string& program, const std::string& status);

/// Writes a manifest with the list of the folder's files, last of all. Throws OutputError.
void FinishWith(results::RunFolder& folder, io::Json manifest);

}  // namespace retrace::runs
