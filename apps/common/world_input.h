/// The worlds that the user named.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "retrace/reconstruction/altered_world.h"

namespace retrace::apps {

void AddWorldOption(CLI::App& app, std::vector<std::string>& worlds);

/// Their files. Throws UsageError for a name that is none.
std::vector<std::filesystem::path> WorldFiles(const std::vector<std::string>& worlds);

/// All of them in one. Throws InputError for a bad file and UsageError for worlds that do not go together.
reconstruction::AlteredWorld ReadWorlds(const std::vector<std::string>& worlds);

}  // namespace retrace::apps
