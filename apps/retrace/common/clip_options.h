/// The options of every program that reads a recording, as a user writes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "retrace/runs/inputs/clip_input.h"

namespace retrace::apps {

struct ClipArguments {
  std::string clip;
  std::string skeleton;
  std::string animation;
  std::string performer;
  std::string map;
  std::string up = "auto";
  bool no_level_floor = false;
  std::vector<std::string> retimings;
  std::optional<double> seconds;   ///< to use, of the clip or of its repeated cycle
  runs::ClipOptions numbers = {};  ///< of the others
};

void AddClipOptions(cli::Command& command, ClipArguments& o);

/// What the options mean. Throws UsageError for a value that makes no sense; a clip need not be named.
runs::ClipOptions ParseClip(const ClipArguments& o);

/// Throws UsageError where no clip was named.
void RequireClip(const ClipArguments& o);

/// The options that differ from the defaults, as a shell takes them, with `time_scale` instead of the user's and
/// the character after the skeleton: the end of a command line.
std::string ClipCommand(const ClipArguments& o, double time_scale, const std::string& character);

}  // namespace retrace::apps
