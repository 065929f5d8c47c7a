/// Several controls of one recording: the same search with one seed after another.
#pragma once

#include <string>

#include "common/progress.h"
#include "common/reconstruct_job.h"
#include "retrace/io/error.h"

namespace retrace::apps {

struct VariationOptions {
  int count = 0;      ///< to be found; 0: a single reconstruction is asked for
  int max_tries = 0;  ///< seeds; 0: three for each variation
};

/// Where they go, and who computed.
struct VariationContext {
  const results::RunFolder* folder = nullptr;  ///< OUTPUT; its own files are not written
  bool force = false;                          ///< may folders in it be in use already
  ProgressStyle style = ProgressStyle::kNone;
  std::string command;
  io::Json workers = {};
  reconstruction::SearchHooks hooks = {};  ///< of all searches, one after the other; progress is shown besides
  io::Json more = io::Json::object();      ///< members added to variations.json
};

/// Written last: its presence tells that the folder is complete.
inline constexpr const char* kVariationsFile = "variations.json";

/// Searches with the seed of the job, then the next, until `count` controls that differ stay inside the gates or the
/// tries are used up. OUTPUT/1, OUTPUT/2, ... become whole run folders; variations.csv, spread.csv and, last,
/// variations.json describe them. The farm's workers are of MakeSeededWorkerFactory; the job's seed changes on the way.
/// Returns kBelowGate when fewer were found. Throws UsageError for a folder that is in use, OutputError.
ExitCode FindVariations(Job& job, parallel::TaskFarm& farm, const VariationOptions& options,
                        const VariationContext& context);

}  // namespace retrace::apps
