#include "retrace/io/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::io {
namespace {

constexpr std::string_view kFormat = "retrace-journal 1\n";
constexpr size_t kChecksumSize = 64;
constexpr size_t kPrefixSize = sizeof(uint64_t) + kChecksumSize;
constexpr uint64_t kLargestHeader = 1 << 24;

std::string_view View(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string Chained(const std::string& before, std::string_view record) {
  return Sha256(before + Sha256(record));
}

/// The three lines that a journal begins with: format, header, checksum.
std::string Head(const Json& header) {
  std::string text(kFormat);
  text.append(Dump(header)).append("\n");
  return text.append(Sha256(text)).append("\n");
}

/// What stands before a record: its length and its checksum.
std::string Prefix(size_t length, const std::string& checksum) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(uint64_t); ++i) bytes.push_back(static_cast<char>(length >> (8 * i) & 255));
  return bytes.append(checksum);
}

}  // namespace

Journal Journal::Create(const std::filesystem::path& path, const Json& header) {
  WriteFile(path, Head(header));
  Journal journal = Open(path);
  journal.at_end_ = true;
  return journal;
}

Journal Journal::Open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    const std::string reason = std::strerror(errno);
    if (errno == ELOOP) throw InputError(path.string(), "a link", "a file");
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      throw ResourceError(path.string() + ": cannot be opened: " + reason);
    }
    if (errno == EACCES || errno == EROFS) throw OutputError(path.string() + ": cannot be written: " + reason);
    throw InputError(path.string() + ": cannot be opened: " + reason);
  }
  Journal journal(path, file);
  journal.Lock(file);
  // Another process may have restarted it between the two.
  if (struct stat here{}; !journal.HasItsName(here)) {
    throw OutputError(path.string() + ": is in use by another process");
  }
  std::string text;
  const auto damaged = [&]() -> InputError {
    return {path.string(), "a damaged or unknown header", "a file that begins with \"retrace-journal 1\""};
  };
  // Three lines: format, header, checksum.
  std::array<std::byte, 4096> block;
  int lines = 0;
  size_t header_end = 0;
  while (lines < 3) {
    const ssize_t count = ::pread(file, block.data(), block.size(), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || text.size() > kLargestHeader) throw damaged();
    const size_t before = text.size();
    text.append(View(std::span(block).first(static_cast<size_t>(count))));
    if (!text.starts_with(kFormat.substr(0, text.size()))) throw damaged();
    for (size_t i = before; i < text.size() && lines < 3; ++i) {
      if (text[i] != '\n') continue;
      if (++lines == 2) header_end = i + 1;
      if (lines == 3) text.resize(i + 1);
    }
  }
  journal.checksum_ = text.substr(header_end, text.size() - header_end - 1);
  if (journal.checksum_ != Sha256(std::string_view(text).substr(0, header_end))) throw damaged();
  journal.header_ = ParseJson(text.substr(kFormat.size(), header_end - kFormat.size()), path.string());
  journal.end_ = text.size();
  return journal;
}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      header_(std::move(other.header_)),
      checksum_(std::move(other.checksum_)),
      end_(other.end_),
      at_end_(other.at_end_) {}

/// Two processes that both append would ruin the file. File systems without locks do without.
void Journal::Lock(int file) const {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw OutputError(path_.string() + ": is in use by another process");
  }
}

bool Journal::HasItsName(struct stat& here) const {
  struct stat named {};
  return ::fstat(file_, &here) == 0 && ::stat(path_.c_str(), &named) == 0 && here.st_ino == named.st_ino &&
         here.st_dev == named.st_dev;
}

bool Journal::Read(uint64_t at, std::byte* to, size_t count) const {
  while (count > 0) {
    const ssize_t got = ::pread(file_, to, count, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += static_cast<uint64_t>(got);
    to += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

bool Journal::Next(std::vector<std::byte>& record) {
  if (at_end_) return false;
  at_end_ = true;  // unless there is a whole record
  struct stat status {};
  std::array<std::byte, kPrefixSize> prefix;
  if (::fstat(file_, &status) != 0 || !Read(end_, prefix.data(), prefix.size())) return false;
  uint64_t length = 0;
  for (size_t i = sizeof length; i-- > 0;) length = length << 8 | std::to_integer<uint64_t>(prefix[i]);
  const auto size = static_cast<uint64_t>(status.st_size);
  if (length > size || end_ + kPrefixSize + length > size) return false;
  record.resize(length);
  if (!Read(end_ + kPrefixSize, record.data(), length)) return false;
  std::string checksum = Chained(checksum_, View(record));
  if (View(std::span(prefix).subspan(sizeof length)) != checksum) return false;
  checksum_ = std::move(checksum);
  end_ += kPrefixSize + length;
  at_end_ = false;
  return true;
}

struct stat Journal::CheckStillThere() const {
  if (!at_end_) throw std::logic_error("a journal is appended to before all of it was read");
  struct stat here {};
  if (!HasItsName(here)) {
    throw OutputError(path_.string() + ": was removed or replaced by another program");
  }
  return here;
}

void Journal::Restart(const RecordProducer& record) {
  CheckStillThere();
  const std::string head = Head(header_);
  const std::string before = head.substr(head.size() - 1 - kChecksumSize, kChecksumSize);
  uint64_t length = 0;
  Sha256Sum sum;
  record([&](std::span<const std::byte> piece) {
    length += piece.size();
    sum.Add(View(piece));
  });
  const std::string checksum = Sha256(before + sum.Finish());
  const std::string prefix = Prefix(length, checksum);
  FileWriter writer(path_);
  // Before it has the name by which others find it: between the two, another process could take it.
  Lock(writer.descriptor());
  writer.Write(head);
  writer.Write(prefix);
  record([&](std::span<const std::byte> piece) { writer.Write(View(piece)); });
  io::Descriptor fresh = writer.Finish();
  ::close(std::exchange(file_, fresh.Release()));
  checksum_ = checksum;
  end_ = head.size() + prefix.size() + length;
}

void Journal::Append(std::span<const std::byte> record) {
  const struct stat here = CheckStillThere();
  std::string checksum = Chained(checksum_, View(record));
  const std::string prefix = Prefix(record.size(), checksum);
  const size_t size = prefix.size() + record.size();
  // Bytes of a record that was not finished may be longer than this one.
  bool written = static_cast<uint64_t>(here.st_size) <= end_ || ::ftruncate(file_, static_cast<off_t>(end_)) == 0;
  for (size_t done = 0; written && done < size;) {
    const std::string_view left = View(record).substr(done > prefix.size() ? done - prefix.size() : 0);
    const std::string_view begin = std::string_view(prefix).substr(std::min(done, prefix.size()));
    // What is written is not changed, but the type of the call does not say so.
    const iovec pieces[] = {{const_cast<char*>(begin.data()), begin.size()},
                            {const_cast<char*>(left.data()), left.size()}};
    const ssize_t count = ::pwritev(file_, pieces, 2, static_cast<off_t>(end_ + done));
    if (count < 0 && errno == EINTR) continue;
    written = count >= 0;
    if (written) done += static_cast<size_t>(count);
  }
  if (!written) {
    const std::string reason = std::strerror(errno);
    [[maybe_unused]] const int ignored = ::ftruncate(file_, static_cast<off_t>(end_));  // readers would do so as well
    throw OutputError(path_.string() + ": cannot be written: " + reason);
  }
  checksum_ = std::move(checksum);
  end_ += size;
}

void Journal::Flush() {
  if (::fsync(file_) != 0 && errno != EINVAL && errno != EROFS) {
    throw OutputError(path_.string() + ": cannot be flushed to disk: " + std::strerror(errno));
  }
}

}  // namespace retrace::io
