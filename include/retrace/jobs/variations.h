/// Several controls of one recording: the same search with one seed after another.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "retrace/jobs/reconstruction.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

struct VariationOptions {
  int count = 0;      ///< to be found; 0: a single reconstruction
  int max_tries = 0;  ///< seeds; 0: three for each variation
};

/// Where the controls are written, and callbacks that report progress.
struct VariationContext {
  const results::RunFolder* folder = nullptr;  ///< OUTPUT; its own files are not written
  bool force = false;                          ///< use folders in it that are in use already
  RunContext run = {};
  sampling::Hooks hooks = {};                                ///< of all searches, one after the other
  io::Json more = io::Json::object();                        ///< members added to variations.json
  std::function<void()> on_search_end = {};                  ///< after each search
  std::function<void(const std::string& text)> report = {};  ///< receives each seed's outcome as text for people
  KeptFiles kept = KeptFiles::kAll;                          ///< of each control
};

/// How many controls were found, and the outcomes of the other seeds.
struct VariationsSummary {
  size_t found = 0;
  int requested = 0;
  int tries = 0;     ///< seeds
  int failed = 0;    ///< not within tolerance
  int repeated = 0;  ///< the control of an earlier seed

  bool success() const { return static_cast<int>(found) == requested; }
};

/// Written last: its presence shows that the folder is complete.
inline constexpr std::string_view kVariationsFile = "variations.json";

/// Searches with the seed of the job, then the next, until `count` controls that differ stay within tolerance or the
/// tries are used up. OUTPUT/1, OUTPUT/2, ... become whole run folders; variations.csv, spread.csv and, last,
/// variations.json describe them. The farm's workers are of MakeSeededWorkerFactory; the job's seed changes meanwhile.
/// Throws UsageError for a folder that is in use, OutputError.
VariationsSummary FindVariations(Job& job, parallel::TaskFarm& farm, const VariationOptions& options,
                                 const VariationContext& context);

}  // namespace retrace::runs
