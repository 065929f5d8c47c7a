#include "retrace/runs/libraries/recording_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/character/mirror.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/math/rotation.h"
#include "sample_folder.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

fs::path ClipFile(const std::string& name) {
  return fs::path(RETRACE_SOURCE_DIR) / "data" / "clips" / name;
}

/// Recordings of a walk and, in a folder, of a squat in the form of the database of CMU.
class RecordingLibraries : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "clips" / "cmu");
    fs::copy_file(ClipFile("walk.bvh"), folder_ / "clips" / "walk.bvh");
    fs::copy_file(ClipFile("squat.asf"), folder_ / "clips" / "cmu" / "02.asf");
    fs::copy_file(ClipFile("squat.amc"), folder_ / "clips" / "cmu" / "02_04.amc");
  }
  MotionLibraryOptions Options() const {
    MotionLibraryOptions options;
    options.sources = FindLibrarySources(folder_ / "clips");
    options.output = folder_ / "library";
    return options;
  }

  SampleFolder folder_;
};

TEST_F(RecordingLibraries, FindsRecordingsInFoldersWithTheirSkeletons) {
  const std::vector<LibrarySource> sources = FindLibrarySources(folder_ / "clips");
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].name, "cmu-02_04");
  EXPECT_EQ(sources[0].clip.skeleton, folder_ / "clips" / "cmu" / "02.asf");
  EXPECT_EQ(sources[1].name, "walk");
  EXPECT_EQ(sources[1].place, (folder_ / "clips" / "walk.bvh").string());
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT([&] { FindLibrarySources(folder_ / "empty"); },
              ThrowsMessage<InputError>(HasSubstr("found no recording")));
  // A list names the parts that are used.
  io::WriteFile(folder_ / "list.tsv", "clip\tname\tend\nclips/walk.bvh\tshort\t1\n");
  const std::vector<LibrarySource> listed = FindLibrarySources(folder_ / "list.tsv");
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].name, "short");
  EXPECT_EQ(listed[0].clip.end, 1);
  EXPECT_THAT(listed[0].place, testing::EndsWith("list.tsv:2"));
}

TEST_F(RecordingLibraries, AStoredMotionIsTheReferenceToTheBit) {
  std::vector<std::string> told;
  const std::vector<LibraryEntry> entries =
      BuildMotionLibrary(Options(), [&](const LibraryEntry& entry) { told.push_back(entry.name); });
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(told, (std::vector<std::string>{"cmu-02_04", "walk"}));
  EXPECT_NEAR(entries[1].duration, 3.2, 1e-6);
  EXPECT_FALSE(entries[1].reused);
  EXPECT_EQ(entries[1].refused, "");
  const StoredMotionLibrary library(folder_ / "library");
  ASSERT_EQ(library.motions().motions().size(), 2u);
  EXPECT_EQ(library.motions().motions()[1].name, "walk");
  const character::ReferenceMotion& walk = library.motions().ReferenceOf(1);
  EXPECT_NEAR(walk.duration(), entries[1].duration, 1e-12);
  EXPECT_EQ(walk.poses().size(), 385u);  // at 120 Hz
  EXPECT_EQ(&walk.character(), &library.character());
  // A motion that is compared with the library is most like itself where it is.
  const std::vector<matching::Match> matches = PlacesLike(library.motions(), walk, "walk", 1);
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0].motion, 1u);
  EXPECT_EQ(matches[0].frame, 30u);
  EXPECT_NEAR(matches[0].distance, 0, 1e-3);
  EXPECT_GT(matches[1].distance, matches[0].distance);
  EXPECT_THAT([&] { PlacesLike(library.motions(), walk, "walk.bvh", 3.1); },
              ThrowsMessage<InputError>(HasSubstr("walk.bvh: found 3.20 s of motion, expected ")));
}

TEST_F(RecordingLibraries, MirrorImagesFollowTheirMotions) {
  BuildMotionLibrary(Options());
  const StoredMotionLibrary library(folder_ / "library", true);
  ASSERT_EQ(library.motions().motions().size(), 4u);
  EXPECT_EQ(library.motions().motions()[3].name, "walk (mirrored)");
  const character::ReferenceMotion &walk = library.motions().ReferenceOf(2), &image = library.motions().ReferenceOf(3);
  ASSERT_EQ(image.poses().size(), walk.poses().size());
  const Vec3 a = walk.poses()[50].root_position, b = image.poses()[50].root_position;
  EXPECT_NEAR(b.x(), -a.x(), 1e-9);
  EXPECT_NEAR(b.y(), a.y(), 1e-9);
  EXPECT_NEAR(b.z(), a.z(), 1e-9);
  const auto left = static_cast<size_t>(library.character().FindJoint("left_knee")),
             right = static_cast<size_t>(library.character().FindJoint("right_knee"));
  EXPECT_LT(AngleBetween(image.poses()[50].joint_rotations[left], walk.poses()[50].joint_rotations[right]), 1e-9);
}

TEST_F(RecordingLibraries, WhatHasNotChangedIsTakenFromTheEarlierBuild) {
  BuildMotionLibrary(Options());
  const std::string index = io::ReadFile(folder_ / "library" / "library.json");
  for (const LibraryEntry& entry : BuildMotionLibrary(Options())) EXPECT_TRUE(entry.reused) << entry.name;
  EXPECT_EQ(io::ReadFile(folder_ / "library" / "library.json"), index);
  // Another part of the recording is another motion; the earlier one goes.
  const auto files = [&] {
    return std::distance(fs::directory_iterator(folder_ / "library" / "motions"), fs::directory_iterator());
  };
  EXPECT_EQ(files(), 4);
  MotionLibraryOptions options = Options();
  options.sources[1].clip.end = 2;
  const std::vector<LibraryEntry> changed = BuildMotionLibrary(options);
  EXPECT_TRUE(changed[0].reused);
  EXPECT_FALSE(changed[1].reused);
  EXPECT_EQ(files(), 4);
  EXPECT_NEAR(StoredMotionLibrary(folder_ / "library").motions().ReferenceOf(1).duration(), 2, 0.02);
}

TEST_F(RecordingLibraries, RecordingsThatCannotBeUsedAreLeftOut) {
  io::WriteFile(folder_ / "clips" / "broken.bvh", "HIERARCHY\n");
  const std::vector<LibraryEntry> entries = BuildMotionLibrary(Options());
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_THAT(entries[0].refused, HasSubstr("broken.bvh"));
  EXPECT_EQ(StoredMotionLibrary(folder_ / "library").motions().motions().size(), 2u);
  MotionLibraryOptions broken = Options();
  broken.sources.resize(1);
  broken.output = folder_ / "other";
  EXPECT_THAT([&] { BuildMotionLibrary(broken); },
              ThrowsMessage<InputError>(HasSubstr("found no recording that can be used")));
}

TEST_F(RecordingLibraries, RefusesDamagedLibrariesAndFoldersOfOthers) {
  BuildMotionLibrary(Options());
  const fs::path library = folder_ / "library";
  for (const fs::directory_entry& entry : fs::directory_iterator(library / "motions")) {
    const std::string bytes = io::ReadFile(entry.path());
    std::string other = bytes;
    other[100] ^= 1;
    io::WriteFile(entry.path(), other);
    const auto read = [&] {
      const StoredMotionLibrary stored(library);
      for (size_t m = 0; m < 2; ++m) stored.motions().ReferenceOf(m);
    };
    EXPECT_THAT(read, ThrowsMessage<InputError>(HasSubstr("found other bytes than were written"))) << entry.path();
    io::WriteFile(entry.path(), bytes.substr(1));
    EXPECT_THAT(read, ThrowsMessage<InputError>(HasSubstr(" by the library.json beside it"))) << entry.path();
    fs::remove(entry.path());
    EXPECT_THROW(read(), Error) << entry.path();
    io::WriteFile(entry.path(), bytes);
    EXPECT_NO_THROW(read());
  }
  EXPECT_THAT([&] { StoredMotionLibrary(folder_ / "clips"); },
              ThrowsMessage<InputError>(HasSubstr("found no library.json")));
  MotionLibraryOptions options = Options();
  options.output = folder_ / "clips";
  EXPECT_THAT([&] { BuildMotionLibrary(options); }, ThrowsMessage<UsageError>(HasSubstr("found other files in it")));
  options = Options();
  options.character = "subject";
  EXPECT_THAT([&] { BuildMotionLibrary(options); },
              ThrowsMessage<UsageError>(HasSubstr("expected one character for all recordings")));
}

}  // namespace
}  // namespace retrace::runs
