/// Texts about all commands, out of their table.
#pragma once

#include <string>

#include "commands.h"

namespace retrace::apps {

/// What `retrace --help` prints.
/// @param family of the commands that begin with this word alone; empty: of all
std::string Overview(const std::string& family = "");

/// What `retrace --list` prints: a line with the name and the summary of each command.
std::string CommandList();

/// The manual page of a command, for man(1).
std::string ManualPage(const CommandEntry& entry);
/// That of the program.
std::string ManualPageOfProgram();

}  // namespace retrace::apps
