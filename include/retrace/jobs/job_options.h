/// What a user sets for a reconstruction, and the files that it names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/character/strength.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/runs/inputs/clip_input.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::runs {

/// What a user sets for a reconstruction, besides where it runs and which files it writes.
struct JobOptions {
  ClipOptions clip;
  std::string character = "human";  ///< a JSON file, the name of a character that comes with the toolkit, or subject
  std::vector<std::string> worlds;  ///< JSON files, or names of worlds that come with the toolkit; they are combined
  Configuration configuration;      ///< where a clip option sets the same, that holds
  std::optional<InputRecord> configuration_file = {};  ///< that the configuration was read from; none: no file
  std::optional<double> mass = {};  ///< of the character [kg], which its bodies and servos follow; none: its own
  /// What its servos follow where it was made of another body: with another mass, or for the recorded person.
  character::Servos servos = character::Servos::kScaled;
  std::vector<character::JointEffort> efforts = {};  ///< largest torques instead of its own; later ones hold
  std::filesystem::path measured = {};               ///< ground forces to compare with; empty: none
  /// By which these are turned about y, from z towards x, into the clip's axes [rad]; none: found from the feet.
  std::optional<double> measured_heading = {};
  /// By which the clock of these is late [s]; none: where inverse dynamics show it clearly, what they show, else 0.
  std::optional<double> measured_delay = {};
  bool measured_exchanged = false;  ///< those that are named after the left foot are the right one's, and the reverse
};

/// The configuration with the clip's options in it, but for the joint map. Throws UsageError for settings that
/// contradict each other.
Configuration ConfigurationOf(const JobOptions& options);

/// Files that a result depends on, but for a configuration file: recording, character, worlds. Throws UsageError for a
/// clip of another kind and for names that are neither a file nor a character or world of the toolkit.
std::vector<InputName> InputsOf(const JobOptions& options);

}  // namespace retrace::runs
