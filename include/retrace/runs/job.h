/// A reconstruction before it begins: what a user says of it, and what follows from that and the input files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "retrace/methods/sampling/search.h"
#include "retrace/metrics/clip_checks.h"
#include "retrace/runs/clip_input.h"
#include "retrace/runs/configuration.h"
#include "retrace/runs/data_files.h"
#include "retrace/task/altered_world.h"

namespace retrace::runs {

/// What a user says of a reconstruction, besides where it runs and what it leaves.
struct JobOptions {
  ClipOptions clip;
  std::string character = "human";  ///< a JSON file, or the name of a character that comes with the toolkit
  std::vector<std::string> worlds;  ///< JSON files, or names of worlds that come with the toolkit; they are combined
  Configuration configuration;      ///< what the clip's options say as well holds from there
  std::filesystem::path configuration_file = {};  ///< that the configuration was read from, an input; empty: none
};

/// The configuration with the clip's options in it. Throws InputError for a joint map that cannot be used, and
/// UsageError for settings that contradict each other.
Configuration ConfigurationOf(const JobOptions& options);

/// Everything that all ranks prepare alike: clip, reference, problem. Stays where it was made, because the problem
/// points into it. Throws UsageError and InputError for what cannot be used.
struct Job {
  explicit Job(const JobOptions& options);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Another seed, between two searches.
  void SetSeed(uint64_t seed);

  JobOptions options;
  Configuration configuration;  ///< with the gravity and the environment of the world
  task::AlteredWorld world;
  character::Character character;  ///< with the world's loads
  motion::Clip clip;
  character::ReferenceReport report;
  character::ReferenceMotion recorded;
  metrics::ClipChecks checks;  ///< of the motion as recorded
  task::PlacedWorld placed;
  const character::ReferenceMotion& reference;  ///< as the world wants it
  task::Preparation preparation;                ///< its world names the solver that is in use in this process
  sampling::Problem problem;
};

/// Files that a result depends on, but for a configuration file: recording, character, worlds.
std::vector<InputFile> InputFiles(const JobOptions& options);

/// All files that the result depends on, with their hashes: [{"file", "role", "sha256"}]. Throws InputError.
io::Json InputHashes(const JobOptions& options);

}  // namespace retrace::runs
