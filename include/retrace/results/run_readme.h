/// README.txt in the folder of a run: what each file is, for users that look into it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace retrace::results {

/// What a file of a run is, in a few words; empty for a name that is none of kRunFiles (run_folder.h).
std::string_view DescribeRunFile(std::string_view name);

/// The text for a folder with these files. Those in folders of characters are described once.
std::string FormatReadme(std::span<const std::string> names);

/// Whether a file is such a text, which may be replaced and removed, and not one of the user's.
bool IsReadme(const std::filesystem::path& file);

}  // namespace retrace::results
