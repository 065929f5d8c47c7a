/// A journal keeps whole records, whatever happens to its writer or its file.
#include "retrace/io/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::io {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;
using testing::HasSubstr;

Bytes BytesOf(const std::string& text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

/// A record in two pieces.
RecordProducer InPieces(const Bytes& record) {
  return [record](const Pieces& pieces) {
    const std::span<const std::byte> bytes(record);
    pieces(bytes.first(record.size() / 2));
    pieces(bytes.subspan(record.size() / 2));
  };
}

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "retrace_journal_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

std::vector<Bytes> ReadAll(Journal& journal) {
  std::vector<Bytes> records;
  Bytes record;
  while (journal.Next(record)) records.push_back(record);
  return records;
}

/// Without waiting for the disk, as the tests do it often.
void Overwrite(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

fs::path Written(const Folder& folder, const std::vector<Bytes>& records) {
  const fs::path path = folder.path / "journal";
  Journal journal = Journal::Create(path, {{"of", "a test"}});
  for (const Bytes& record : records) journal.Append(record);
  return path;
}

RC_GTEST_PROP(Journal, GivesBackWhatWasAppended, ()) {
  const auto texts = *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
  std::vector<Bytes> records;
  for (const std::string& text : texts) records.push_back(BytesOf(text));
  const Folder folder;
  const fs::path path = Written(folder, records);
  Journal journal = Journal::Open(path);
  RC_ASSERT(journal.header() == Json({{"of", "a test"}}));
  RC_ASSERT(ReadAll(journal) == records);
  journal.Append(BytesOf("one more"));
  records.push_back(BytesOf("one more"));
  Journal moved = std::move(journal);
  moved.Append({});
  records.emplace_back();
  // (the lock of the first goes with it)
  { const Journal closed = std::move(moved); }
  Journal again = Journal::Open(path);
  RC_ASSERT(ReadAll(again) == records);
}

/// Cut anywhere: the whole records before the cut are there, and it goes on from them.
TEST(Journal, CutAnywhereKeepsTheWholeRecords) {
  const std::vector<Bytes> records = {BytesOf("first"), BytesOf("the second, longer one"), BytesOf("3")};
  const Folder folder;
  const fs::path path = Written(folder, records);
  const std::string whole = ReadFile(path);
  std::vector<size_t> ends;  // of the header and the records
  size_t end = whole.size();
  for (size_t i = records.size(); i-- > 0;) {
    ends.insert(ends.begin(), end);
    end -= records[i].size() + 8 + 64;
  }
  ends.insert(ends.begin(), end);
  for (size_t size = 0; size <= whole.size(); ++size) {
    Overwrite(path, whole.substr(0, size));
    if (size < ends[0]) {
      EXPECT_THROW(Journal::Open(path), InputError) << size;
      continue;
    }
    Journal journal = Journal::Open(path);
    size_t expected = 0;
    while (expected < records.size() && ends[expected + 1] <= size) ++expected;
    EXPECT_EQ(ReadAll(journal).size(), expected) << size;
    for (size_t i = expected; i < records.size(); ++i) journal.Append(records[i]);
    EXPECT_EQ(ReadFile(path), whole) << size;
  }
}

/// Any byte changed: nothing from there on is given out, and a changed header is refused.
TEST(Journal, DamagedAnywhereGivesNothingDamaged) {
  const std::vector<Bytes> records = {BytesOf("first"), BytesOf("second")};
  const Folder folder;
  const fs::path path = Written(folder, records);
  const std::string whole = ReadFile(path);
  const size_t header = whole.size() - 11 - 2 * 72;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    Overwrite(path, damaged);
    if (at < header) {
      EXPECT_THROW(Journal::Open(path), InputError) << at;
      continue;
    }
    Journal journal = Journal::Open(path);
    const std::vector<Bytes> read = ReadAll(journal);
    ASSERT_EQ(read.size(), at < header + 72 + 5 ? 0u : 1u) << at;
    if (!read.empty()) {
      EXPECT_EQ(read[0], records[0]);
    }
  }
}

/// Records of another file of the same kind do not fit.
TEST(Journal, RecordsOfAnotherAreNotTaken) {
  const Folder a;
  const Folder b;
  const fs::path one = Written(a, {BytesOf("x"), BytesOf("same")});
  const fs::path other = Written(b, {BytesOf("y"), BytesOf("same")});
  const size_t tail = 8 + 64 + 4;
  const std::string first = ReadFile(one);
  const std::string second = ReadFile(other);
  WriteFile(one, first.substr(0, first.size() - tail) + second.substr(second.size() - tail));
  Journal journal = Journal::Open(one);
  EXPECT_EQ(ReadAll(journal).size(), 1u);
}

TEST(Journal, RestartsWithOneRecordAndGrowsFromThere) {
  const Folder folder;
  const fs::path path = Written(folder, {BytesOf("one"), BytesOf("two"), Bytes(100000)});
  {
    Journal journal = Journal::Open(path);
    EXPECT_THROW(journal.Restart(InPieces(BytesOf("early"))), std::logic_error);  // not all of it was read
    EXPECT_EQ(ReadAll(journal).size(), 3U);
    EXPECT_EQ(journal.size(), fs::file_size(path));
    journal.Restart(InPieces(BytesOf("all")));
    EXPECT_EQ(journal.size(), fs::file_size(path));
    EXPECT_THROW(Journal::Open(path), OutputError);  // the new file is held as the old one was
    journal.Append(BytesOf("more"));
    EXPECT_EQ(journal.size(), fs::file_size(path));
  }
  Journal again = Journal::Open(path);
  EXPECT_EQ(again.header(), (Json{{"of", "a test"}}));
  EXPECT_EQ(ReadAll(again), (std::vector<Bytes>{BytesOf("all"), BytesOf("more")}));
}

TEST(Journal, NobodyElseCanTakeItWhileItRestarts) {
  const Folder folder;
  const fs::path path = Written(folder, {});
  Journal journal = Journal::Open(path);
  EXPECT_TRUE(ReadAll(journal).empty());
  std::atomic<bool> ends = false;
  std::atomic<int> taken = 0;
  std::thread other([&] {
    while (!ends) {
      try {
        const Journal stolen = Journal::Open(path);
        ++taken;
      } catch (const OutputError&) {  // in use, as it should be
      }
    }
  });
  for (int i = 0; i < 200; ++i) EXPECT_NO_THROW(journal.Restart(InPieces(Bytes(1000))));
  EXPECT_NO_THROW(journal.Append(BytesOf("more")));
  ends = true;
  other.join();
  EXPECT_EQ(taken, 0);
}

TEST(Journal, BelongsToOneProcessAtATime) {
  const Folder folder;
  const fs::path path = Written(folder, {});
  const Journal held = Journal::Open(path);
  try {
    Journal::Open(path);
    ADD_FAILURE() << "not refused";
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("in use by another process"));
  }
}

TEST(Journal, SaysWhenItsFileIsGone) {
  const Folder folder;
  const fs::path path = folder.path / "journal";
  Journal journal = Journal::Create(path, {});
  fs::remove(path);
  EXPECT_THROW(journal.Append(BytesOf("lost")), OutputError);
}

/// A full disk, as the system reports it: the file ends with the record before, and says so.
TEST(Journal, ThatCannotGrowKeepsWhatItHas) {
  const Folder folder;
  const fs::path path = folder.path / "journal";
  Journal journal = Journal::Create(path, {});
  journal.Append(BytesOf("kept"));
  const std::string before = ReadFile(path);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = before.size() + 100;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(journal.Append(Bytes(1000)), OutputError);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(ReadFile(path), before);
  journal.Append(Bytes(1000));
  EXPECT_EQ(ReadFile(path).size(), before.size() + 72 + 1000);
}

TEST(Journal, IsReadToItsEndBeforeItGrows) {
  const Folder folder;
  const fs::path path = Written(folder, {BytesOf("a")});
  Journal journal = Journal::Open(path);
  EXPECT_THROW(journal.Append({}), std::logic_error);
}

}  // namespace
}  // namespace retrace::io
