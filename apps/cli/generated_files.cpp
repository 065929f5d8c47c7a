#include "cli/generated_files.h"

#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::cli {

void AddForce(Command& command, bool& force) {
  command.AddFlag("--force", force, "Write over files that differ");
}

void WriteGeneratedFiles(std::span<const GeneratedFile> files, bool force) {
  for (const auto& [path, text] : files) {
    io::CheckOutput(path);
    if (force || !std::filesystem::exists(path) || io::ReadFile(path) == text) continue;
    throw UsageError(path.string() + ": found another file, expected none or --force");
  }
  for (const auto& [path, text] : files) io::WriteFile(path, text);
}

}  // namespace retrace::cli
