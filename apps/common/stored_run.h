/// What is in a run folder, for programs that simulate it again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/io/json.h"

namespace retrace::apps {

/// The manifest, or an empty object where there is none. Throws InputError for one that is no JSON.
io::Json ReadManifest(const std::filesystem::path& folder);

/// The pushes under which a folder was made, so that it can be simulated again; none for all others.
std::vector<control::Push> StoredPushes(const std::filesystem::path& folder, const character::Character& character);

/// Compares a trajectory with the tables of a folder, or with their hashes in the manifest where a table is not there;
/// what neither has is not compared. Returns the first difference as a message, or nothing.
/// @param required whether a table that neither folder nor manifest has is an InputError
std::string FirstDifference(const std::filesystem::path& folder, const character::Character& character,
                            const control::Trajectory& trajectory, bool required);

}  // namespace retrace::apps
