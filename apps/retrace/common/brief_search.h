/// The options of the programs that search for short continuations from the state of a run, and where their results go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "retrace/runs/configuration/configuration.h"

namespace retrace::apps {

struct BriefSearchArguments {
  std::optional<int> samples, saved;
  std::optional<uint64_t> seed;
  std::vector<std::string> sets;
  int threads = 0;
  std::string output;  // empty: not given
  bool force = false;
  std::string progress = "auto";
  bool json = false;

  /// Whether lines for people are printed.
  bool prints() const;
};

/// @param output the default folder, for the help
void AddBriefSearchOptions(cli::Command& command, BriefSearchArguments& o, const std::string& output);

/// Throws UsageError for a setting that is none.
void Apply(const BriefSearchArguments& o, runs::Configuration& configuration);

}  // namespace retrace::apps
