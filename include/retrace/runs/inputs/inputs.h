/// The files that a result depends on. Each is read once: what is parsed, hashed and recorded are the same bytes,
/// whatever becomes of the file meanwhile.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "retrace/io/json.h"

namespace retrace::runs {

/// A file and what a result needs it for.
struct InputName {
  std::string role;  ///< "clip", "skeleton", "map", "character", "world 1", ..., "measured", "configuration"
  std::filesystem::path path;
};

/// The role of the recording.
inline constexpr const char* kClipRole = "clip";
/// The role of the file that a configuration was read from.
inline constexpr const char* kConfigurationRole = "configuration";
/// That of measured ground forces.
inline constexpr const char* kMeasuredRole = "measured";

/// What is recorded of a file that was read.
struct InputRecord {
  InputName name;
  std::string sha256;      ///< of the bytes that were read
  bool in_memory = false;  ///< the caller gave the content, and no file was read
};

struct InputFile {
  InputRecord record;
  std::string bytes;

  /// The bytes as JSON. Throws InputError.
  io::Json Parse() const;
};

/// Throw InputError for a file that cannot be read.
InputFile ReadInput(const InputName& name);
std::vector<InputFile> ReadInputs(const std::vector<InputName>& names);

/// The file of a role; null where there is none.
const InputFile* FindInput(std::span<const InputFile> files, const std::string& role);

std::vector<InputRecord> RecordsOf(std::span<const InputFile> files);

/// Hashes of the inputs that were read from files.
std::vector<std::filesystem::path> PathsOf(std::span<const InputRecord> records);

/// [{"file", "role", "sha256"}], with "in_memory": true where no file was read.
io::Json ToJson(std::span<const InputRecord> records);

}  // namespace retrace::runs
