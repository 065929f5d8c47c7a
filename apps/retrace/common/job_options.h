/// The options of every program that reconstructs, as a user writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "common/clip_options.h"
#include "retrace/jobs/reconstruction_job.h"

namespace retrace::apps {

/// How strong the character is.
struct StrengthArguments {
  std::vector<std::string> efforts;  // N or JOINT=N
  character::Servos servos = character::Servos::kScaled;
};

struct JobArguments {
  ClipArguments clip;
  std::string character = "human";
  StrengthArguments strength;
  std::optional<task::GroundSource> ground;  // where no world says so
  std::vector<std::string> worlds;
  std::string config;
  std::vector<std::string> sets;
  std::optional<int> samples;
  std::optional<int> saved;
  std::optional<uint64_t> seed;
  std::optional<runs::Method> method;
  std::optional<runs::Quality> quality;
  std::optional<double> continuation;  // that is looked for beyond the end [s]
  bool repair = false;
  bool best_effort = false;
  bool paper = false;           // the search's
  bool paper_tracking = false;  // Configuration::UsePaperTracking
  std::optional<simulation::Solver> solver;
  runs::Configuration defaults = {};           // that the settings begin with
  std::optional<double> mass;                  // of the character [kg]
  std::string force_plates;                    // file of ground forces; empty: not given
  std::optional<double> force_plates_heading;  // [rad]
  std::optional<double> force_plates_delay;    // [s]
  bool force_plates_exchanged = false;         // left and right
};

void AddWorldOption(cli::Command& command, std::vector<std::string>& worlds);

void AddCharacterOption(cli::Command& command, std::string& character);

void AddStrengthOptions(cli::Command& command, StrengthArguments& o);

/// File and single settings.
void AddConfigurationOptions(cli::Command& command, JobArguments& o);
void AddQualityOption(cli::Command& command, JobArguments& o);

/// Character, world and configuration.
void AddTaskOptions(cli::Command& command, JobArguments& o);

/// The same with the options of a search but its seed.
void AddJobOptions(cli::Command& command, JobArguments& o);

/// The reference of a motion that no body can perform is changed.
void AddRepairOption(cli::Command& command, JobArguments& o);

/// The same, and what else is done about such a motion.
void AddFeasibilityOptions(cli::Command& command, JobArguments& o);

/// How far the end of a motion is looked beyond.
void AddContinuationOption(cli::Command& command, JobArguments& o);

/// What the options mean. Throws UsageError, and InputError for a configuration file that cannot be used.
runs::JobOptions ParseJob(const JobArguments& o);

}  // namespace retrace::apps
