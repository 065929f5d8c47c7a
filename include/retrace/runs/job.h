/// A reconstruction before it begins: what a user sets, and what follows from that and the input files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/methods/sampling/search.h"
#include "retrace/methods/windows/problem.h"
#include "retrace/metrics/clip_checks.h"
#include "retrace/motion/measured_forces.h"
#include "retrace/repair/repair.h"
#include "retrace/runs/clip_input.h"
#include "retrace/runs/configuration.h"
#include "retrace/runs/data_files.h"
#include "retrace/task/altered_world.h"

namespace retrace::runs {

/// What a user sets for a reconstruction, besides where it runs and which files it writes.
struct JobOptions {
  ClipOptions clip;
  std::string character = "human";  ///< a JSON file, the name of a character that comes with the toolkit, or subject
  std::vector<std::string> worlds;  ///< JSON files, or names of worlds that come with the toolkit; they are combined
  Configuration configuration;      ///< where a clip option sets the same, that holds
  std::optional<InputRecord> configuration_file = {};  ///< that the configuration was read from; none: no file
  std::optional<double> mass = {};      ///< of the character [kg], which its bodies and servos follow; none: its own
  std::filesystem::path measured = {};  ///< ground forces to compare with; empty: none
  double measured_heading = 0;  ///< by which these are turned about y, from z towards x, into the clip's axes [rad]
};

/// The configuration with the clip's options in it, but for the joint map. Throws UsageError for settings that
/// contradict each other.
Configuration ConfigurationOf(const JobOptions& options);

/// Files that a result depends on, but for a configuration file: recording, character, worlds. Throws UsageError for a
/// clip of another kind and for names that are neither a file nor a character or world of the toolkit.
std::vector<InputName> InputsOf(const JobOptions& options);

/// Everything that all ranks prepare alike: clip, reference, problem. Stays where it was made, because the problem
/// points into it. Throws UsageError and InputError for what cannot be used.
struct Job {
  /// Reads every input file once.
  explicit Job(const JobOptions& options);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Another seed, between two searches.
  void SetSeed(uint64_t seed);
  /// The motion that was repaired as it was, on the clock of `recorded`; nothing where nothing was changed.
  std::optional<character::ReferenceMotion> Unrepaired() const;

  JobOptions options;
  std::vector<InputRecord> inputs;  ///< all files that were read, the configuration file last
  io::Json identity;                ///< Identity of the options and the files, with the seed that the options have
  Configuration configuration;      ///< with the gravity and the environment of the world
  task::AlteredWorld world;
  motion::Clip clip;
  character::ReferenceReport report;
  character::Character character;  ///< with the world's loads
  std::optional<motion::MeasuredForces> measured;
  std::optional<repair::Repair> repaired;  ///< what was repaired; none: it was not asked for
  character::ReferenceMotion recorded;     ///< the motion as recorded, or repaired
  metrics::ClipChecks checks;              ///< of that
  task::PlacedWorld placed;
  const character::ReferenceMotion& reference;         ///< adapted to the world
  task::Preparation preparation;                       ///< its world names the solver that is in use in this process
  std::optional<character::ReferenceMotion> baseline;  ///< of the targets, where it is not the reference
  sampling::Problem problem;
  windows::Problem windows;

 private:
  Job(const JobOptions& options, std::span<const InputFile> files);
};

}  // namespace retrace::runs
