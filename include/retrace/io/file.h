/// Files in and out, whole or piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace retrace::io {

/// Size of the largest file that is read [bytes]: tables of many minutes of motion are smaller.
inline constexpr size_t kLargestFile = size_t{2} << 30;

/// A descriptor of the system's, which it closes.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Reads a regular file of at most `largest` bytes piece by piece.
class FileReader {
 public:
  /// Throws InputError with the path and what it found, or the system's reason.
  explicit FileReader(std::filesystem::path path, size_t largest = kLargestFile);

  /// What the file had when it was opened [bytes]: a hint, because files of /proc have no size, and others may grow.
  size_t size() const { return size_; }
  /// Fills `to` as far as there is more to read. Returns how many bytes were read. Throws InputError.
  size_t Read(std::span<char> to);

 private:
  std::filesystem::path path_;
  size_t largest_;
  size_t size_ = 0;
  size_t done_ = 0;
  Descriptor file_;
};

/// The bytes of a regular file of at most `largest` bytes. Throws InputError with the path and what it found, or the
/// system's reason.
std::string ReadFile(const std::filesystem::path& path, size_t largest = kLargestFile);

/// Writes a file whole or not at all: under a temporary name in the same folder, flushed to disk, then renamed.
/// Throws OutputError with the path and the system's reason; a file of that name from before is then intact. Only a
/// regular file is replaced: no folder, link, pipe or device.
void WriteFile(const std::filesystem::path& path, std::string_view bytes);
/// The same of several pieces, one after the other.
void WriteFile(const std::filesystem::path& path, std::span<const std::string_view> pieces);

/// SHA-256 of bytes that come piece by piece.
class Sha256Sum {
 public:
  Sha256Sum();
  void Add(std::string_view bytes);
  /// As 64 lower-case hexadecimal digits. Nothing can be added afterwards.
  std::string Finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

/// Writes a file as WriteFile does, piece by piece. Without Finish nothing is left of it.
class FileWriter {
 public:
  /// All throw OutputError.
  explicit FileWriter(std::filesystem::path path);
  FileWriter(FileWriter&&) = default;
  ~FileWriter();

  void Write(std::string_view bytes);
  /// Flushes the file to disk and gives it its name. Returns the descriptor, with which it can be read, too.
  Descriptor Finish();

  const std::filesystem::path& path() const { return path_; }
  /// Descriptor of the unfinished file.
  int descriptor() const { return file_.get(); }

 private:
  [[noreturn]] void Fail(const char* what) const;

  std::filesystem::path path_;
  std::string temporary_;
  Descriptor file_;
};

/// Throws OutputError when WriteFile would refuse to replace what is at `path`, or when that is one of `inputs`, by any
/// name.
void CheckOutput(const std::filesystem::path& path, std::span<const std::filesystem::path> inputs = {});

/// SHA-256 of bytes, as 64 lower-case hexadecimal digits.
std::string Sha256(std::string_view bytes);
/// The same of a file. Throws InputError as ReadFile does.
std::string Sha256OfFile(const std::filesystem::path& path);

}  // namespace retrace::io
