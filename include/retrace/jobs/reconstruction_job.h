/// A reconstruction before it begins: what a user sets, and what follows from that and the input files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/methods/sampling/search.h"
#include "retrace/methods/trajectory/problem.h"
#include "retrace/motion/measured_forces.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/runs/inputs/clip_input.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/task/prepared_clip.h"

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

/// Everything that all ranks prepare alike: options, files, and the clip that they make. A value: copies share the
/// prepared clip, to which the problems point. It runs no method.
struct Job {
  /// Reads every input file once. Throws UsageError and InputError for what cannot be used.
  explicit Job(const JobOptions& options);
  /// Of a clip in memory. `options.clip.file` is its name in messages and in the manifest, and no file of that name is
  /// read. The clip is taken as the BVH file that it would be (motion::FormatBvh): the manifest has the hash of that
  /// text, and the file, where it is written, is reconstructed with the same bits.
  Job(const JobOptions& options, const motion::Clip& clip);

  /// Another seed, between two searches.
  void SetSeed(uint64_t seed);
  /// Poses from which the targets of the methods are counted, in the place of the reference (`/run/baseline`).
  void SetBaseline(character::ReferenceMotion poses);
  /// Whether the configuration asks for such a baseline and there is none yet (TrackedBaseline).
  bool LacksBaseline() const;

  const character::Character& character() const { return prepared->character; }
  /// The motion that is followed, adapted to the world.
  const character::ReferenceMotion& reference() const { return prepared->reference(); }

  JobOptions options;
  std::vector<InputRecord> inputs;  ///< all files that were read, the configuration file last
  io::Json identity;                ///< Identity of the options and the files, with the seed that the options have
  Configuration configuration;      ///< with the gravity and the environment of the world
  std::optional<motion::MeasuredForces> measured;
  std::shared_ptr<const task::PreparedClip> prepared;
  std::shared_ptr<const character::ReferenceMotion> baseline = {};  ///< null: the reference is
  sampling::Problem problem;
  trajectory::Problem windows;

 private:
  Job(const JobOptions& options, std::span<const InputFile> files);
};

}  // namespace retrace::runs
