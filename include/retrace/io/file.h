/// Whole files in, whole files out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace retrace::io {

/// Size of the largest file that is read [bytes]: tables of many minutes of motion are smaller.
inline constexpr size_t kLargestFile = size_t{2} << 30;

/// The bytes of a regular file of at most `largest` bytes. Throws InputError with the path and what it found, or the
/// system's reason.
std::string ReadFile(const std::filesystem::path& path, size_t largest = kLargestFile);

/// Writes a file whole or not at all: under a temporary name in the same folder, flushed to disk, then renamed.
/// Throws OutputError with the path and the system's reason; a file of that name from before is then intact. Only a
/// regular file is replaced: no folder, link, pipe or device.
void WriteFile(const std::filesystem::path& path, std::string_view bytes);
/// The same of several pieces, one after the other.
void WriteFile(const std::filesystem::path& path, std::span<const std::string_view> pieces);

/// Throws OutputError when WriteFile would refuse to replace what is at `path`, or when that is one of `inputs`, by any
/// name.
void CheckOutput(const std::filesystem::path& path, std::span<const std::filesystem::path> inputs = {});

/// SHA-256 of bytes, as 64 lower-case hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace retrace::io
