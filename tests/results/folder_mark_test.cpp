#include "retrace/results/folder_mark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::results {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FolderMarkTest : public ::testing::Test {
 protected:
  FolderMarkTest() {
    std::string name = (fs::temp_directory_path() / "folder-mark-XXXXXX").string();
    base_ = ::mkdtemp(name.data());
    io::WriteFile(base_ / "list.tsv", "clip\n");
    io::WriteFile(base_ / "other.tsv", "clip\n");
  }
  ~FolderMarkTest() override { fs::remove_all(base_); }

  ClaimedFolder Claim(const std::string& kind, const std::string& list, bool unmarked = false) const {
    return {base_ / "out", {kind, base_ / list}, [unmarked] { return unmarked; }};
  }
  static bool Never() { return false; }

  fs::path base_;
};

TEST_F(FolderMarkTest, ANewFolderIsEmptyUntilItIsMarkedAndKnownAgainAfterwards) {
  ClaimedFolder folder = Claim("evaluation", "list.tsv");
  EXPECT_TRUE(fs::is_empty(base_ / "out"));
  EXPECT_FALSE(folder.earlier());
  EXPECT_FALSE(folder.FromAnotherSource());
  EXPECT_FALSE(ReadFolderMark(base_ / "out"));
  folder.Mark();
  ASSERT_TRUE(ReadFolderMark(base_ / "out"));
  EXPECT_EQ(ReadFolderMark(base_ / "out")->kind, "evaluation");
  const ClaimedFolder again = Claim("evaluation", "list.tsv");
  ASSERT_TRUE(again.earlier());
  EXPECT_FALSE(again.FromAnotherSource());
}

TEST_F(FolderMarkTest, AnotherSourceIsToldHoweverThePathIsWritten) {
  Claim("evaluation", "list.tsv").Mark();
  EXPECT_TRUE(Claim("evaluation", "other.tsv").FromAnotherSource());
  EXPECT_FALSE(Claim("evaluation", "out/../list.tsv").FromAnotherSource());
}

TEST_F(FolderMarkTest, AFolderOfAnotherKindOrWithOtherFilesIsRefused) {
  Claim("evaluation", "list.tsv").Mark();
  EXPECT_THROW(Claim("control library", "list.tsv"), UsageError);
  const std::string before = io::ReadFile(base_ / "out" / kMarkFile);
  fs::remove(base_ / "out" / kMarkFile);
  io::WriteFile(base_ / "out" / "letter.txt", "mine");
  EXPECT_THROW(Claim("evaluation", "list.tsv"), UsageError);
  EXPECT_EQ(io::ReadFile(base_ / "out" / "letter.txt"), "mine");
  // Of a version that wrote no mark.
  ClaimedFolder old = Claim("evaluation", "list.tsv", true);
  EXPECT_FALSE(old.earlier());
  old.Mark();
  EXPECT_EQ(io::ReadFile(base_ / "out" / kMarkFile), before) << "the same mark has the same bytes";
}

TEST_F(FolderMarkTest, TwoProcessesThatClaimOneFolderForDifferentThingsAreNotBothServed) {
  ClaimedFolder first = Claim("evaluation", "list.tsv");
  ClaimedFolder second = Claim("control library", "list.tsv");
  first.Mark();
  EXPECT_THROW(second.Mark(), UsageError);
  EXPECT_NO_THROW(first.Mark());
}

TEST_F(FolderMarkTest, WhatIsNoMarkOrNoFolderIsRefusedWithItsPath) {
  fs::create_directory(base_ / "out");
  io::WriteFile(base_ / "out" / kMarkFile, "{\"kind\": 7}");
  try {
    ReadFolderMark(base_ / "out");
    FAIL() << "expected an error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("folder.json"));
  }
  EXPECT_THROW(ClaimedFolder(base_ / "list.tsv", {"evaluation", base_ / "list.tsv"}, Never), OutputError);
}

}  // namespace
}  // namespace retrace::results
