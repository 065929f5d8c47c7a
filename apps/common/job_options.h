/// The options of every program that reconstructs, as a user writes them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/clip_options.h"
#include "retrace/jobs/reconstruction_job.h"

namespace retrace::apps {

struct JobArguments {
  ClipArguments clip;
  std::string character = "human";
  std::vector<std::string> worlds;
  std::string config;
  std::vector<std::string> sets;
  std::optional<int> samples;
  std::optional<int> saved;
  std::optional<uint64_t> seed;
  std::string method;          // empty: not given
  std::string quality;         // empty: not given
  std::optional<double> tail;  // beyond the end [s]
  bool repair = false;
  bool best_effort = false;
  bool paper = false;                 // the search's
  bool paper_tracking = false;        // Configuration::UsePaperTracking
  std::string solver;                 // empty: not given
  runs::Configuration defaults = {};  // that the settings begin with
  std::optional<double> mass;         // of the character [kg]
  std::string measured;               // file of ground forces; empty: not given
  double measured_heading = 0;        // [rad]
};

void AddWorldOption(CLI::App& app, std::vector<std::string>& worlds);

/// Character, world and configuration.
void AddTaskOptions(CLI::App& app, JobArguments& o);

/// The same with the options of a search but its seed.
void AddJobOptions(CLI::App& app, JobArguments& o);

/// The reference of a motion that no body can perform is changed.
void AddRepairOption(CLI::App& app, JobArguments& o);

/// The same, and what else is done about such a motion.
void AddFeasibilityOptions(CLI::App& app, JobArguments& o);

/// How far the end of a motion is looked beyond.
void AddTailOption(CLI::App& app, JobArguments& o);

/// What the options mean. Throws UsageError, and InputError for a configuration file that cannot be used.
runs::JobOptions ParseJob(const JobArguments& o);

}  // namespace retrace::apps
