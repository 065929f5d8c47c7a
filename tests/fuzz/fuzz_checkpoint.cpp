#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "reader_laws.h"
#include "retrace/io/journal.h"

namespace {

using namespace retrace;

/// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("checkpoint", MFD_CLOEXEC)) {
    fuzz::Require(file_ >= 0, "there are files in memory");
    fuzz::Require(::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "they are written");
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return std::string("/proc/self/fd/").append(std::to_string(file_)); }

 private:
  int file_;
};

std::vector<std::vector<std::byte>> RecordsOf(io::Journal& journal) {
  std::vector<std::vector<std::byte>> records;
  for (std::vector<std::byte> record; journal.Next(record);) records.push_back(record);
  return records;
}

}  // namespace

// The bytes are a checkpoint: a journal, of which the whole records are read. One more is then appended.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file(std::string_view(reinterpret_cast<const char*>(data), size));
  const std::vector<std::byte> more(100, std::byte{1});
  std::vector<std::vector<std::byte>> records;
  const bool is_journal = fuzz::Reads([&] {
    io::Journal journal = io::Journal::Open(file.path());
    records = RecordsOf(journal);
    for (const auto& record : records) fuzz::Require(record.size() <= size, "a record is a part of the file");
    journal.Append(more);
  });
  if (!is_journal) return 0;
  records.push_back(more);
  io::Journal again = io::Journal::Open(file.path());
  fuzz::Require(RecordsOf(again) == records, "what was read and appended is read again");
  return 0;
}
