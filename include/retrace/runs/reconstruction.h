/// A whole reconstruction: options to a problem, a search on any farm, its files. Shared by the programs that
/// reconstruct one clip and many.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "retrace/methods/sampling/search.h"
#include "retrace/metrics/clip_checks.h"
#include "retrace/metrics/gates.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/clip_input.h"
#include "retrace/runs/configuration.h"
#include "retrace/task/altered_world.h"

namespace retrace::runs {

/// What a user says of a reconstruction besides where it runs and what it leaves.
struct JobOptions {
  ClipOptions clip;
  std::string character = "human";
  std::vector<std::string> worlds;
  std::string config;
  std::vector<std::string> sets;
  int samples = 0;
  int saved = 0;
  int64_t seed = -1;
  bool paper = false;
  std::string solver;
};

/// The configuration that the options make. Throws UsageError, and InputError for a bad configuration file.
runs::Configuration MakeConfiguration(const JobOptions& options);

/// Everything that all ranks prepare alike: clip, reference, problem. Stays where it was made, because the problem
/// points into it.
struct Job {
  explicit Job(const JobOptions& o);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Another seed, between two searches.
  void SetSeed(uint64_t seed);

  JobOptions options;
  runs::Configuration configuration;
  task::AlteredWorld world;
  character::Character character;  ///< with the world's loads
  motion::Clip clip;
  character::ReferenceReport report;
  character::ReferenceMotion recorded;
  metrics::ClipChecks checks;  ///< of the motion as recorded
  task::PlacedWorld placed;
  const character::ReferenceMotion& reference;  ///< as the world wants it
  task::Preparation preparation;
  sampling::Problem problem;
};

/// Files that a result depends on, but for a configuration file: recording, character, worlds.
std::vector<InputFile> InputFiles(const JobOptions& options);

/// All files that the result depends on, with their hashes: [{"file", "role", "sha256"}]. Throws InputError.
io::Json InputHashes(const Job& job);

/// What a search found, simulated once more in a new world and compared with the reference.
struct Reconstruction {
  sampling::Summary search;
  control::Trajectory trajectory;
  metrics::Evaluation evaluation;
};

/// Searches on a farm whose workers come from MakeWorkerFactory of the job's problem. Throws std::logic_error when the
/// new world does not end in the state that the search ended in, bit for bit; StoppedError when the hooks say so.
Reconstruction Reconstruct(const Job& job, parallel::TaskFarm& farm, const sampling::Hooks& hooks = {});

/// Which files a run leaves besides its manifest.
enum class KeptFiles {
  kAll,      ///< control, motions, tables, picture, costs
  kControl,  ///< control alone, from which `replay` makes the others
};

/// Who computed, and since when.
struct RunContext {
  std::string command;
  io::Json workers = {};
  const results::RunTimer* timer = nullptr;
};

/// Writes the folder of a run, its manifest last. `more` are members that are added to the manifest. Throws
/// OutputError.
void WriteRun(results::RunFolder& folder, const Job& job, const Reconstruction& result, const RunContext& context,
              KeptFiles kept = KeptFiles::kAll, const io::Json& more = io::Json::object());

}  // namespace retrace::runs
