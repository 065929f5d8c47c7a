#include "retrace/runs/libraries/control_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jobs/sample_runs.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A folder with a walk of 1.8 s and a stand of 0.4 s.
class ControlLibraries : public testing::Test {
 protected:
  /// Copies what is made once in a process.
  void SetUp() override {
    static const SampleFolder made;
    if (std::filesystem::is_empty(made.path())) {
      WriteTrackedRun(made / "walk", TrackedOptions("walk", 1.8));
      WriteTrackedRun(made / "stand", TrackedOptions("stand", 0.4));
    }
    std::filesystem::copy(made.path(), folder_.path(), std::filesystem::copy_options::recursive);
  }
  std::vector<LibraryControl> ReadAll() const {
    std::vector<LibraryControl> controls;
    for (const char* name : {"stand", "walk"}) controls.push_back(ReadLibraryControl(folder_ / name));
    return controls;
  }
  void WriteIndex() const {
    const std::vector<LibraryControl> controls = ReadAll();
    io::WriteFile(folder_ / kLibraryFile, FormatLibrary(IndexOf(controls), controls));
  }

  SampleFolder folder_;
};

TEST_F(ControlLibraries, AControlMayBeEnteredEachTenthOfASecondWhileEnoughIsLeft) {
  const std::vector<LibraryControl> controls = ReadAll();
  EXPECT_TRUE(controls[0].Cuts().empty());
  EXPECT_EQ(controls[1].Cuts(), (std::vector<int>{0, 24, 48, 72}));  // 0.3 s, so that 1.5 s are left
  EXPECT_EQ(controls[1].name, "walk");
  EXPECT_EQ(controls[1].states.size(), 433u);
  EXPECT_TRUE(controls[1].succeeded());
  EXPECT_TRUE(controls[1].EndsStanding());
  EXPECT_FALSE(controls[1].GetsUp());
  EXPECT_NEAR(controls[1].RootShare(0), 1, 0.1);
}

TEST_F(ControlLibraries, GettingUpIsFromTheGroundToStanding) {
  LibraryControl control = ReadLibraryControl(folder_ / "stand");
  const auto root = static_cast<size_t>(control.character().root);
  const double rest = control.character().bodies[root].rest_position.y();
  const auto raise = [&](double first, double last) {
    control.states.front()[root].position.y() = first * rest;
    control.states.back()[root].position.y() = last * rest;
  };
  raise(0.49, 0.81);
  EXPECT_TRUE(control.GetsUp());
  EXPECT_NEAR(control.RootShare(0), 0.49, 1e-12);
  raise(0.51, 0.81);
  EXPECT_FALSE(control.GetsUp());
  raise(0.49, 0.79);
  EXPECT_FALSE(control.GetsUp());
  EXPECT_FALSE(control.EndsStanding());
  (*control.run.manifest)["success"] = false;
  EXPECT_FALSE(control.succeeded());
  control.run.manifest = io::Json();
  EXPECT_TRUE(control.succeeded());  // nothing is known of it
}

TEST_F(ControlLibraries, AnIndexReadsBack) {
  const std::vector<LibraryControl> controls = ReadAll();
  const LibraryIndex index = IndexOf(controls), read = ParseLibrary(FormatLibrary(index, controls), "library.json");
  EXPECT_EQ(read.character, "human");
  EXPECT_EQ(read.character_sha256, index.character_sha256);
  EXPECT_EQ(read.world_sha256, index.world_sha256);
  ASSERT_EQ(read.controls.size(), 2u);
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(read.controls[c].name, controls[c].name);
    EXPECT_EQ(read.controls[c].sha256, io::Sha256(io::ReadFile(controls[c].file())));
    EXPECT_EQ(read.controls[c].duration, index.controls[c].duration);
    ASSERT_EQ(read.controls[c].cuts.size(), controls[c].Cuts().size());
    for (size_t k = 0; k < read.controls[c].cuts.size(); ++k) {
      const IndexedControl::Cut& cut = read.controls[c].cuts[k];
      EXPECT_EQ(cut.state, control::Fingerprint(controls[c].states[static_cast<size_t>(cut.step)]));
    }
  }
  const io::Json json = io::ParseJson(FormatLibrary(index, controls), "library.json");
  EXPECT_EQ(json["controls"][1]["cuts"][3]["step"], 72);
  EXPECT_NEAR(json["controls"][1]["cuts"][3]["left"].get<double>(), 1.5, 1e-9);
  EXPECT_EQ(json["controls"][1]["ends_standing"], true);
}

TEST_F(ControlLibraries, HasTheRunsOfItsFolderOrOfItsIndex) {
  const std::vector<std::filesystem::path> all = {folder_ / "stand", folder_ / "walk"};
  const ControlLibrary plain(folder_.path());
  EXPECT_EQ(plain.runs(), all);
  EXPECT_TRUE(plain.index_file().empty());
  EXPECT_EQ(plain.Read(all[1]).states.size(), 433u);
  WriteIndex();
  std::filesystem::copy(all[0], folder_ / "copy", std::filesystem::copy_options::recursive);
  const ControlLibrary indexed(folder_.path());
  EXPECT_EQ(indexed.runs(), all);
  EXPECT_EQ(indexed.index_file(), folder_ / "library.json");
  EXPECT_EQ(indexed.Read(all[1]).states.size(), 433u);
}

TEST_F(ControlLibraries, RefusesARunThatIsNotWhatTheIndexHas) {
  WriteIndex();
  const std::vector<std::filesystem::path> runs = ControlLibrary(folder_.path()).runs();
  const std::string text = io::ReadFile(folder_ / kLibraryFile);
  const auto change = [&](const std::string& pointer, const io::Json& value) {
    io::Json json = io::ParseJson(text, "library.json");
    json[io::Json::json_pointer(pointer)] = value;
    io::WriteFile(folder_ / kLibraryFile, io::Dump(json));
    try {
      ControlLibrary(folder_.path()).Read(runs[1]);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(change("/controls/1/sha256", "00"),
              HasSubstr("walk/control.json: found another control, expected that of"));
  EXPECT_THAT(change("/character/sha256", "00"), HasSubstr("found another character"));
  EXPECT_THAT(change("/world/sha256", "00"), HasSubstr("found another world"));
  EXPECT_THAT(change("/controls/1/cuts/2/state", "00"), HasSubstr("other bits at its cut at 0.20 s"));
  EXPECT_THAT(change("/controls/1/cuts/2/state", "xyz"), HasSubstr("/controls/1/cuts/2/state: found \"xyz\", expected "
                                                                   "a hexadecimal number"));
  EXPECT_THAT(change("/controls/1/cuts/2/time", 0.4), HasSubstr("found a cut with 1.40 s of its control left"));
  EXPECT_THAT(change("/controls/1/name", "stand"), HasSubstr("expected a name that no other control has"));
  EXPECT_THAT(change("/controls/1/name", "../walk"), HasSubstr("expected the name of a sub-folder"));
  EXPECT_THAT(change("/controls", io::Json::array()), HasSubstr("expected at least one control"));
  EXPECT_THAT(change("/format", "retrace-motion-library"), HasSubstr("expected \"retrace-library\""));
  EXPECT_EQ(change("/units", "SI"), "");
}

TEST_F(ControlLibraries, RefusesControlsThatCannotFollowOneAnother) {
  JobOptions other = TrackedOptions("stand", 0.4);
  other.character = "slim";
  WriteTrackedRun(folder_ / "slim", other);
  JobOptions moon = TrackedOptions("stand", 0.4);
  moon.worlds = {"moon"};
  WriteTrackedRun(folder_ / "moon", moon);
  const LibraryControl stand = ReadLibraryControl(folder_ / "stand");
  EXPECT_NO_THROW(CheckAlike(stand, ReadLibraryControl(folder_ / "walk")));
  EXPECT_THAT([&] { CheckAlike(stand, ReadLibraryControl(folder_ / "slim")); },
              ThrowsMessage<InputError>(HasSubstr("slim/control.json: found another character, expected that of")));
  EXPECT_THAT([&] { CheckAlike(stand, ReadLibraryControl(folder_ / "moon")); },
              ThrowsMessage<InputError>(HasSubstr("moon/control.json: found another world, expected that of")));
}

TEST_F(ControlLibraries, AMotionUnderPushesMayOnlyComeFirst) {
  io::Json control = io::ReadJson(folder_ / "stand" / "control.json");
  control["version"] = 5;
  control["pushes"] = {{{"body", "trunk"}, {"force", {0, 0, 1}}, {"start", 0.1}, {"duration", 0.1}}};
  std::filesystem::create_directories(folder_ / "pushed");
  io::WriteFile(folder_ / "pushed" / "control.json", io::Dump(control));
  EXPECT_THAT([&] { ReadLibraryControl(folder_ / "pushed"); },
              ThrowsMessage<InputError>(HasSubstr("found a motion that was made under pushes, expected one without")));
  const LibraryControl first = ReadFirstControl(folder_ / "pushed");
  EXPECT_TRUE(first.control.pushes.empty());
  EXPECT_EQ(first.run.AllPushes().size(), 1u);
  EXPECT_NE(control::Fingerprint(first.states.back()),
            control::Fingerprint(ReadLibraryControl(folder_ / "stand").states.back()));
}

TEST_F(ControlLibraries, RefusesFoldersWithoutRuns) {
  std::filesystem::create_directories(folder_ / "walk" / "empty");
  EXPECT_THAT([&] { ControlLibrary(folder_ / "walk" / "empty"); },
              ThrowsMessage<InputError>(HasSubstr("found no run")));
  EXPECT_THAT([&] { ControlLibrary(folder_ / "none"); }, ThrowsMessage<InputError>(HasSubstr("found no such folder")));
}

}  // namespace
}  // namespace retrace::runs
