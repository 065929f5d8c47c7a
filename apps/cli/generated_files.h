/// Writing the files of a program that makes inputs of others: clips, characters.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "cli/command.h"

namespace retrace::cli {

struct GeneratedFile {
  std::filesystem::path path;
  std::string text;
};

/// Adds the option --force.
void AddForce(Command& command, bool& force);

/// Writes all files, or none where one of them exists with another text and `force` is false: that is a UsageError.
/// Throws OutputError as io::WriteFile does.
void WriteGeneratedFiles(std::span<const GeneratedFile> files, bool force);

}  // namespace retrace::cli
