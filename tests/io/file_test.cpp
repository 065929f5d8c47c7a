/// Files come in whole and go out whole or not at all.
#include "retrace/io/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "retrace/io/error.h"

namespace retrace::io {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class File : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "retrace_file_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(folder_);
  }

  /// Names of everything in the folder: a failed write must leave nothing behind.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }

  /// Message of the error of type E that a call throws.
  template <typename E, typename Call>
  static std::string Message(ExitCode code, Call call) {
    try {
      call();
    } catch (const E& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "another error: " << error.what();
      return "";
    }
    ADD_FAILURE() << "not refused";
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(File, ReadsBackAllBytes) {
  std::string bytes;
  for (int i = 0; i < 200000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  for (const std::string& content : {std::string(), std::string("a"), std::string("\0\r\n\0", 4), bytes}) {
    WriteFile(folder_ / "bytes", content);
    EXPECT_EQ(ReadFile(folder_ / "bytes"), content);
  }
  EXPECT_THAT(Names(), ::testing::ElementsAre("bytes"));
}

TEST_F(File, PieceByPieceIsTheSameAsWhole) {
  const std::string bytes = std::string(100000, 'a') + "end";
  {
    FileWriter writer(folder_ / "pieces");
    for (size_t i = 0; i < bytes.size(); i += 7777) writer.Write(std::string_view(bytes).substr(i, 7777));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "pieces"));
    writer.Finish();
  }
  EXPECT_EQ(ReadFile(folder_ / "pieces"), bytes);
  EXPECT_EQ(Sha256OfFile(folder_ / "pieces"), Sha256(bytes));
  Sha256Sum sum;
  sum.Add(std::string_view(bytes).substr(0, 10));
  sum.Add(std::string_view(bytes).substr(10));
  EXPECT_EQ(sum.Finish(), Sha256(bytes));

  FileReader reader(folder_ / "pieces");
  EXPECT_EQ(reader.size(), bytes.size());
  std::string read(100001, ' ');
  EXPECT_EQ(reader.Read(read), read.size());
  EXPECT_EQ(read, bytes.substr(0, read.size()));
  EXPECT_EQ(reader.Read(read), 2u);
  EXPECT_EQ(read.substr(0, 2), "nd");
  EXPECT_EQ(reader.Read(read), 0u);
}

TEST_F(File, NothingIsLeftOfOneThatIsNotFinished) {
  WriteFile(folder_ / "a", "before");
  {
    FileWriter writer(folder_ / "a");
    writer.Write("half");
  }
  EXPECT_EQ(ReadFile(folder_ / "a"), "before");
  EXPECT_THAT(Names(), ::testing::ElementsAre("a"));
}

TEST_F(File, ReplacesWhatWasThere) {
  WriteFile(folder_ / "a", "long before");
  WriteFile(folder_ / "a", "short");
  EXPECT_EQ(ReadFile(folder_ / "a"), "short");
}

// Row16: whatever is named, reading ends, and memory is bounded.
TEST_F(File, Row16ReadsRegularFilesOfBoundedSizeAlone) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(Message<InputError>(ExitCode::kInput, [&] { ReadFile(folder_ / "pipe"); }),
              HasSubstr("pipe: found a pipe, expected a file"));
  EXPECT_THAT(Message<InputError>(ExitCode::kInput, [] { ReadFile("/dev/zero"); }),
              HasSubstr("found a device, expected a file"));
  WriteFile(folder_ / "bytes", "0123456789");
  EXPECT_EQ(ReadFile(folder_ / "bytes", 10).size(), 10U);
  EXPECT_THAT(Message<InputError>(ExitCode::kInput, [&] { ReadFile(folder_ / "bytes", 9); }),
              HasSubstr("found 10 bytes, expected at most 9"));
  EXPECT_THAT(Message<InputError>(ExitCode::kInput, [] { ReadFile("/proc/self/status", 9); }),
              HasSubstr("found more than 9 bytes"));
  std::ofstream(folder_ / "sparse").close();
  std::filesystem::resize_file(folder_ / "sparse", uint64_t{20} << 30);
  EXPECT_THAT(Message<InputError>(ExitCode::kInput, [&] { ReadFile(folder_ / "sparse"); }),
              HasSubstr("found 21474836480 bytes"));
}

// Row03: a link, a pipe or a device is never replaced, nor an input by any of its names.
TEST_F(File, Row03OnlyRegularFilesThatAreNoInputsAreReplaced) {
  WriteFile(folder_ / "kept", "kept");
  std::filesystem::create_symlink(folder_ / "kept", folder_ / "link");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(Message<OutputError>(ExitCode::kOutput, [&] { WriteFile(folder_ / "link", "x"); }),
              HasSubstr("link: found a link, expected a file or nothing"));
  EXPECT_THAT(Message<OutputError>(ExitCode::kOutput, [&] { WriteFile(folder_ / "pipe", "x"); }),
              HasSubstr("pipe: found a pipe, expected a file or nothing"));
  EXPECT_THAT(Message<OutputError>(ExitCode::kOutput, [] { WriteFile("/dev/full", "x"); }),
              HasSubstr("/dev/full: found a device, expected a file or nothing"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(ReadFile(folder_ / "kept"), "kept");
  std::filesystem::create_hard_link(folder_ / "kept", folder_ / "other_name");
  const std::vector<std::filesystem::path> inputs = {folder_ / "missing", folder_ / "link"};
  EXPECT_THAT(Message<OutputError>(ExitCode::kOutput, [&] { CheckOutput(folder_ / "other_name", inputs); }),
              HasSubstr("found an input of this program"));
  EXPECT_NO_THROW(CheckOutput(folder_ / "new", inputs));
}

TEST_F(File, ReadsAFileWithoutASize) {
  // Files of /proc say that they are empty.
  EXPECT_THAT(ReadFile("/proc/self/status"), HasSubstr("Name:"));
}

TEST_F(File, MissingFile) {
  const auto path = folder_ / "missing.bvh";
  EXPECT_EQ(Message<InputError>(ExitCode::kInput, [&] { ReadFile(path); }),
            path.string() + ": cannot be opened: No such file or directory");
}

TEST_F(File, FolderInsteadOfAFile) {
  EXPECT_EQ(Message<InputError>(ExitCode::kInput, [&] { ReadFile(folder_); }),
            folder_.string() + ": found a folder, expected a file");
}

TEST_F(File, NoPermissionToRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to the superuser";
  WriteFile(folder_ / "secret", "x");
  std::filesystem::permissions(folder_ / "secret", std::filesystem::perms::none);
  EXPECT_THAT(Message<InputError>(ExitCode::kInput, [&] { ReadFile(folder_ / "secret"); }),
              HasSubstr("secret: cannot be opened: Permission denied"));
}

TEST_F(File, FolderThatDoesNotExist) {
  const auto path = folder_ / "no" / "such" / "run.json";
  EXPECT_EQ(Message<OutputError>(ExitCode::kOutput, [&] { WriteFile(path, "x"); }),
            path.string() + ": cannot be created: No such file or directory");
}

TEST_F(File, PathBelowARegularFile) {
  WriteFile(folder_ / "file", "intact");
  const auto path = folder_ / "file" / "run.json";
  EXPECT_EQ(Message<OutputError>(ExitCode::kOutput, [&] { WriteFile(path, "x"); }),
            path.string() + ": cannot be created: Not a directory");
  EXPECT_EQ(ReadFile(folder_ / "file"), "intact");
}

TEST_F(File, UnwritableFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to the superuser";
  WriteFile(folder_ / "run.json", "before");
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_EQ(Message<OutputError>(ExitCode::kOutput, [&] { WriteFile(folder_ / "run.json", "after"); }),
            (folder_ / "run.json").string() + ": cannot be created: Permission denied");
  EXPECT_EQ(ReadFile(folder_ / "run.json"), "before");
}

TEST_F(File, NameOfAFolder) {
  std::filesystem::create_directory(folder_ / "taken");
  std::ofstream(folder_ / "taken" / "inside") << "x";
  EXPECT_THAT(Message<OutputError>(ExitCode::kOutput, [&] { WriteFile(folder_ / "taken", "x"); }),
              StartsWith((folder_ / "taken").string() + ": found a folder, expected a file or nothing"));
  EXPECT_THAT(Names(), ::testing::ElementsAre("taken"));
}

TEST_F(File, DiskThatFillsUp) {
  // A limit on the size of files stands in for a full disk: the write fails halfway.
  WriteFile(folder_ / "run.json", "before");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      Message<OutputError>(ExitCode::kOutput, [&] { WriteFile(folder_ / "run.json", std::string(5000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message, (folder_ / "run.json").string() + ": cannot be written: File too large");
  EXPECT_EQ(ReadFile(folder_ / "run.json"), "before");
  EXPECT_THAT(Names(), ::testing::ElementsAre("run.json"));
}

// FIPS 180-4 and the examples of the NIST.
TEST(Sha256, KnownVectors) {
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(Sha256(std::string(1, '\0')), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
}

}  // namespace
}  // namespace retrace::io
