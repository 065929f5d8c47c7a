#include "retrace/results/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/remedy.h"

namespace retrace::results {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class RunFolderTest : public ::testing::Test {
 protected:
  RunFolderTest() {
    std::string name = (fs::temp_directory_path() / "run-folder-XXXXXX").string();
    base_ = ::mkdtemp(name.data());
  }
  ~RunFolderTest() override { fs::remove_all(base_); }

  std::vector<std::string> Names(const fs::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }

  fs::path base_;
};

Error ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {ExitCode::kSuccess, "no error"};
}

TEST_F(RunFolderTest, CreatesTheFolderAndThoseAboveItAndLeavesItEmpty) {
  const RunFolder folder(base_ / "a" / "b" / "c", false);
  EXPECT_TRUE(fs::is_directory(folder.path()));
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_EQ(folder.PathOf(kControlFile), base_ / "a" / "b" / "c" / "control.json");
}

TEST_F(RunFolderTest, AcceptsAnEmptyFolder) {
  EXPECT_NO_THROW(RunFolder(base_, false));
}

TEST_F(RunFolderTest, RefusesAFolderWithFilesUnlessForced) {
  io::WriteFile(base_ / ".notes", "mine");
  try {
    RunFolder(base_, false);
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(base_.string()));
    EXPECT_THAT(RemediesOf(error), testing::ElementsAre(Remedy::kOverwrite));
  }
  EXPECT_NO_THROW(RunFolder(base_, true));
  EXPECT_THAT(Names(base_), UnorderedElementsAre(".notes"));
}

TEST_F(RunFolderTest, RefusesAnEmptyName) {
  EXPECT_EQ(ErrorOf([] { RunFolder("", false); }).code(), ExitCode::kUsage);
}

TEST_F(RunFolderTest, CannotBeAFileOrBelowOne) {
  // Permissions do not stop root, who runs tests in containers; these do.
  io::WriteFile(base_ / "file", "");
  for (const bool force : {false, true}) {
    EXPECT_EQ(ErrorOf([&] { RunFolder(base_ / "file", force); }).code(), ExitCode::kOutput);
    EXPECT_EQ(ErrorOf([&] { RunFolder(base_ / "file" / "below", force); }).code(), ExitCode::kOutput);
  }
  EXPECT_EQ(ErrorOf([] { RunFolder("/proc/run", false); }).code(), ExitCode::kOutput);
  // A folder that exists and takes no files.
  const Error error = ErrorOf([] { RunFolder("/proc/self", true); });
  EXPECT_EQ(error.code(), ExitCode::kOutput);
  EXPECT_THAT(error.what(), HasSubstr("/proc/self"));
}

TEST_F(RunFolderTest, ManifestComesLastAndListsTheFiles) {
  RunFolder folder(base_ / "run", false);
  folder.Write(kControlFile, "{}");
  folder.Write(kTrajectoryFile, "time\n0\n");
  folder.Write(kControlFile, "abc");
  EXPECT_THAT(Names(folder.path()), UnorderedElementsAre("control.json", "trajectory.csv"));
  io::Json manifest;
  manifest["files"] = folder.Files();
  folder.Finish(manifest);
  EXPECT_EQ(io::ReadFile(folder.PathOf(kControlFile)), "abc");
  const io::Json read = io::ReadJson(folder.PathOf(kManifestFile));
  ASSERT_EQ(read["files"].size(), 2u);
  EXPECT_EQ(read["files"][0]["name"], "trajectory.csv");
  EXPECT_EQ(read["files"][0]["bytes"], 7);
  EXPECT_EQ(read["files"][1]["name"], "control.json");
  EXPECT_EQ(read["files"][1]["sha256"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(RunFolderTest, FilesThatGrowAppearTogether) {
  RunFolder folder(base_ / "run", false);
  folder.Append(kTrajectoryFile, "time\n");
  folder.Append(kTorquesFile, "torque\n");
  folder.Append(kTrajectoryFile, "0\n");
  EXPECT_FALSE(fs::exists(folder.PathOf(kTrajectoryFile)));
  EXPECT_TRUE(folder.Files().empty());
  folder.FinishFiles();
  EXPECT_EQ(io::ReadFile(folder.PathOf(kTrajectoryFile)), "time\n0\n");
  EXPECT_EQ(io::ReadFile(folder.PathOf(kTorquesFile)), "torque\n");
  const io::Json files = folder.Files();
  EXPECT_EQ(files[0], (io::Json{{"name", "trajectory.csv"}, {"bytes", 7}, {"sha256", io::Sha256("time\n0\n")}}));
  EXPECT_EQ(files[1]["name"], "torques.csv");
}

TEST_F(RunFolderTest, ForceKeepsEarlierResultsUntilTheFirstFileAndForeignOnesForever) {
  const fs::path path = base_ / "run";
  {
    RunFolder folder(path, false);
    folder.Write(kControlFile, "old");
    folder.Write(kCostsFile, "old");
    folder.Finish({{"run", 1}});
    io::WriteFile(path / "notes.txt", "mine");
  }
  { const RunFolder stopped_early(path, true); }
  EXPECT_TRUE(fs::exists(path / kManifestFile));

  RunFolder folder(path, true);
  folder.Write(kControlFile, "new");
  EXPECT_FALSE(fs::exists(path / kManifestFile)) << "an incomplete folder must not have a manifest";
  EXPECT_EQ(io::ReadFile(path / kControlFile), "new");
  EXPECT_EQ(io::ReadFile(path / kCostsFile), "old");
  folder.Finish({{"run", 2}});
  // The old table would pass for one of this run.
  EXPECT_THAT(Names(path), UnorderedElementsAre("control.json", "manifest.json", "notes.txt"));
  EXPECT_EQ(io::ReadJson(path / kManifestFile)["run"], 2);
}

TEST_F(RunFolderTest, CharactersHaveFoldersThatGoWithTheRun) {
  EXPECT_EQ(CharacterPrefix(0, 1), "");
  EXPECT_EQ(CharacterPrefix(1, 3), "character_2/");
  const fs::path path = base_ / "run";
  {
    RunFolder folder(path, false);
    for (const size_t c : {0u, 1u, 2u}) folder.Write(CharacterPrefix(c, 3) + std::string(kMotionFile), "old");
    EXPECT_EQ(folder.Files()[1]["name"], "character_2/motion.bvh");
    folder.Finish({{"run", 1}});
    fs::create_directories(path / "export/character_1");
    fs::create_directories(path / "character_x");
    io::WriteFile(path / "export/character_1/motion.npz", "old");
    io::WriteFile(path / "character_3/notes.txt", "mine");
    io::WriteFile(path / "character_x/motion.bvh", "mine");
  }
  RunFolder folder(path, true);
  folder.Write("character_2/motion.bvh", "new");
  folder.Finish({{"run", 2}});
  EXPECT_THAT(Names(path), UnorderedElementsAre("manifest.json", "character_2", "character_3", "character_x"));
  EXPECT_EQ(io::ReadFile(path / "character_2/motion.bvh"), "new");
  EXPECT_THAT(Names(path / "character_3"), UnorderedElementsAre("notes.txt"));
  EXPECT_TRUE(fs::exists(path / "character_x/motion.bvh"));
}

TEST_F(RunFolderTest, RemovesNothingBehindALink) {
  fs::create_directories(base_ / "elsewhere");
  io::WriteFile(base_ / "elsewhere/motion.bvh", "mine");
  RunFolder folder(base_ / "run", false);
  fs::create_directory_symlink(base_ / "elsewhere", base_ / "run/character_1");
  folder.Write(kControlFile, "{}");
  folder.Finish({{"run", 1}});
  EXPECT_TRUE(fs::exists(base_ / "elsewhere/motion.bvh"));
}

TEST_F(RunFolderTest, SaysWhichFileCannotBeWritten) {
  RunFolder folder(base_ / "run", false);
  fs::create_directories(folder.PathOf(kMotionFile) / "in the way");
  const Error error = ErrorOf([&] { folder.Write(kMotionFile, "x"); });
  EXPECT_EQ(error.code(), ExitCode::kOutput);
  EXPECT_THAT(error.what(), HasSubstr(folder.PathOf(kMotionFile).string()));
  EXPECT_THAT(Names(folder.path()), UnorderedElementsAre("motion.bvh"));
}

}  // namespace
}  // namespace retrace::results
