/// A file that grows by whole records, for work that must be resumed where it was interrupted. A record is in the file
/// entirely or not at all, whenever and however the writer died: each carries a checksum that also covers all records
/// before it, and what follows the last whole record is cut off.
///
/// The file: a line that names the format, a line of JSON (the header), a line with the SHA-256 of both; then records
/// of [length, 8 bytes, little endian] [SHA-256, 64 hexadecimal digits] [bytes].
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "retrace/io/json.h"

namespace retrace::io {

/// Receives a record piece by piece.
using Pieces = std::function<void(std::span<const std::byte>)>;
/// Hands a record on in pieces; whenever it is called the same bytes.
using RecordProducer = std::function<void(const Pieces&)>;

class Journal {
 public:
  /// Begins a file without records, over an earlier one; whole or not at all. Throws OutputError.
  static Journal Create(const std::filesystem::path& path, const Json& header);

  /// Opens an earlier file, to read its records and to append to them. Throws InputError when it is not a journal or
  /// its header is damaged, OutputError when it cannot be written or another process holds it.
  static Journal Open(const std::filesystem::path& path);

  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) = delete;

  const std::filesystem::path& path() const { return path_; }
  const Json& header() const { return header_; }
  /// Size of what was read or written so far [bytes].
  uint64_t size() const { return end_; }

  /// The next record of an earlier process; false after the last whole one.
  bool Next(std::vector<std::byte>& record);

  /// Adds a record once Next has returned false (or the file is new). It survives this process, and a machine's failure
  /// after Flush. Throws OutputError, with the file as it was: also when the file was removed or replaced meanwhile.
  void Append(std::span<const std::byte> record);
  /// Keeps this record alone, instead of all: in a new file, which replaces the old one when it is whole, and
  /// which no other process can take meanwhile. The producer is called twice. Throws OutputError, with the file as it
  /// was.
  void Restart(const RecordProducer& record);
  void Flush();

 private:
  Journal(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {}
  void Lock(int file) const;
  /// Whether the file is still the one of its name; `here` receives its state.
  bool HasItsName(struct stat& here) const;
  /// The state of the file, which may be appended to and is still the one of its name. Throws OutputError.
  struct stat CheckStillThere() const;
  bool Read(uint64_t at, std::byte* to, size_t count) const;

  std::filesystem::path path_;
  int file_ = -1;
  Json header_;
  std::string checksum_;  // of the last record, or of the header
  uint64_t end_ = 0;      // of the last whole record that was read or written
  bool at_end_ = false;   // nothing left to read
};

}  // namespace retrace::io
