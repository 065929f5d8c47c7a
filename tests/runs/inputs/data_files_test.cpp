#include "retrace/runs/inputs/data_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "sample_folder.h"

namespace retrace::runs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(DataFiles, ANameIsAFileOfTheToolkit) {
  EXPECT_TRUE(std::filesystem::exists(FindCharacter("human")));
  EXPECT_TRUE(std::filesystem::exists(FindWorld("crates")));
  EXPECT_TRUE(std::filesystem::exists(FindKeys("standing")));
  EXPECT_EQ(FindCharacter("human").filename(), "human.json");
  ASSERT_TRUE(FindBundledClip("walk.bvh"));
  EXPECT_EQ(io::ReadFile(*FindBundledClip("walk.bvh")),
            io::ReadFile(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh"));
  EXPECT_FALSE(FindBundledClip("run.bvh"));
}

TEST(DataFiles, AFileStaysWhatItIs) {
  EXPECT_EQ(FindCharacter("mine.json"), "mine.json");
  EXPECT_EQ(FindWorld("folder/mine"), "folder/mine");
  EXPECT_EQ(FindKeys("./human"), "./human");
}

TEST(DataFiles, AnUnknownNameIsRefusedWithTheNearestOne) {
  EXPECT_THAT([] { FindCharacter("humann"); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("the character \"humann\": "), HasSubstr("\"human\""),
                                              HasSubstr("Expected a JSON file or one of: "), HasSubstr("quadruped"))));
  EXPECT_THAT([] { FindWorld("xylophone"); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("the world \"xylophone\": expected a JSON file or one of: "),
                                              HasSubstr("armchair, "))));
}

TEST(DataFiles, AProgramWithoutItsDataSaysSoAndWhereItLooked) {
  const SampleFolder samples;
  std::filesystem::create_directories(samples / "share" / "worlds");
  for (const char* kind : {"character", "world", "key"}) {
    EXPECT_THAT(
        [&] {
          FindDataIn({samples / "share", samples / "missing"}, kind, "human");
        },
        ThrowsMessage<UsageError>(
            AllOf(HasSubstr("the data of this program are missing (" + (samples / "share").string()),
                  HasSubstr((samples / "missing").string()), HasSubstr("expected a JSON file"))));
  }
  EXPECT_EQ(FindDataIn({}, "world", "mine.json"), "mine.json");
}

TEST(DataFiles, FoldersThatAreAddedComeFirst) {
  const SampleFolder samples;
  std::filesystem::create_directories(samples / "worlds");
  std::filesystem::create_directories(samples / "clips");
  EXPECT_THROW(FindWorld("lagoon"), UsageError);
  EXPECT_TRUE(AddDataFolder(samples.path()));
  EXPECT_THROW(FindWorld("lagoon"), UsageError);
  for (const char* file : {"worlds/lagoon.json", "worlds/ice.json", "clips/walk.bvh"}) {
    io::WriteFile(samples / file, "{}");
  }
  EXPECT_EQ(FindWorld("lagoon"), samples / "worlds" / "lagoon.json");
  EXPECT_EQ(FindWorld("ice"), samples / "worlds" / "ice.json");
  EXPECT_EQ(FindBundledClip("walk.bvh"), samples / "clips" / "walk.bvh");
  EXPECT_NE(FindWorld("mat"), samples / "worlds" / "mat.json");
}

}  // namespace
}  // namespace retrace::runs
