/// Whole files in, whole files out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace retrace::io {

/// The bytes of a file. Throws InputError with the path and the system's reason.
std::string ReadFile(const std::filesystem::path& path);

/// Writes a file whole or not at all: under a temporary name in the same folder, flushed to disk, then renamed.
/// Throws OutputError with the path and the system's reason; a file of that name from before is then intact.
void WriteFile(const std::filesystem::path& path, std::string_view bytes);

/// SHA-256 of bytes, as 64 lower-case hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace retrace::io
