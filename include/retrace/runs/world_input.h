/// The worlds that the user named.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/task/altered_world.h"

namespace retrace::runs {

/// Their files. Throws UsageError for a name that is none.
std::vector<std::filesystem::path> WorldFiles(const std::vector<std::string>& worlds);

/// All of them in one. Throws InputError for a bad file and UsageError for worlds that do not go together.
task::AlteredWorld ReadWorlds(const std::vector<std::string>& worlds);

}  // namespace retrace::runs
