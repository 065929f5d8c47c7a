/// The option with which a program that has settings changes one of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace retrace::cli {

/// Adds `--set /POINTER=VALUE`, which may be repeated.
/// @param text what is set
/// @param set sets one on settings of its own, and throws UsageError for one that cannot be set: a mistake in the
/// option
void AddSetOption(Command& command, std::vector<std::string>& sets, const std::string& text,
                  const std::function<void(const std::string& assignment)>& set);

}  // namespace retrace::cli
