/// The worlds that the user named.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "retrace/runs/inputs/inputs.h"
#include "retrace/task/world_variation.h"

namespace retrace::runs {

/// Their files. Throws UsageError for a name that is none.
std::vector<std::filesystem::path> WorldFiles(const std::vector<std::string>& worlds);

/// All of them in one. Throws InputError for a bad file and UsageError for worlds that do not go together.
task::WorldVariation ReadWorlds(const std::vector<std::string>& worlds);
/// The same of the worlds among files that were read: the roles "world 1", "world 2" and so on.
task::WorldVariation ParseWorlds(std::span<const InputFile> files);

/// The role of a world among the files of a job, counted from 1.
std::string WorldRole(size_t number);

}  // namespace retrace::runs
