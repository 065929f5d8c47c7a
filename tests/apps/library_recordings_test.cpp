/// The program `build-library`.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/io/json.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const std::string kClips = std::string(RETRACE_SOURCE_DIR) + "/data/clips/";

class BuildLibrary : public CommandLine {
 protected:
  /// Two recordings, one of them in a folder, and a file that is none.
  std::string Recordings() {
    fs::create_directories(Path("clips/more"));
    io::WriteFile(Path("clips/walk.bvh"), io::ReadFile(kClips + "walk.bvh"));
    io::WriteFile(Path("clips/more/squat_01.amc"), io::ReadFile(kClips + "squat.amc"));
    io::WriteFile(Path("clips/more/squat.asf"), io::ReadFile(kClips + "squat.asf"));
    io::WriteFile(Path("clips/notes.txt"), "no recording");
    return Path("clips");
  }
};

TEST_F(BuildLibrary, TakesWhatItCanAndSaysWhatItLeavesOut) {
  const std::string clips = Recordings(), library = Path("library");
  io::WriteFile(clips + "/broken.bvh", "HIERARCHY\nnothing");
  const Outcome outcome = Execute(kRecordingLibrary + " " + clips + " --output " + library);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("broken"));
  EXPECT_THAT(outcome.text, HasSubstr("left out: " + clips + "/broken.bvh:"));
  EXPECT_THAT(outcome.text, HasSubstr("more-squat_01"));
  EXPECT_THAT(outcome.text, HasSubstr("2 of 3 recordings"));
  const io::Json index = io::ReadJson(library + "/library.json");
  EXPECT_EQ(index["motions"].size(), 2u);
  EXPECT_EQ(index["left_out"].size(), 1u);
}

TEST_F(BuildLibrary, ReadsNothingAgainThatHasNotChanged) {
  const std::string clips = Recordings(), library = Path("library");
  const std::string command = kRecordingLibrary + " " + clips + " --output " + library;
  EXPECT_THAT(Execute(command).text, Not(HasSubstr("as before")));
  const std::string index = io::ReadFile(library + "/library.json");
  const Outcome again = Execute(command);
  EXPECT_THAT(again.text, HasSubstr("frames  as before"));
  EXPECT_EQ(io::ReadFile(library + "/library.json"), index);
  // A recording that changed and one that went.
  std::string text = io::ReadFile(clips + "/walk.bvh");
  const std::string rate = "Frame Time: 0.016666666666666666";
  text.replace(text.find(rate), rate.size(), "Frame Time: 0.0175");
  io::WriteFile(clips + "/walk.bvh", text);
  fs::remove(clips + "/more/squat_01.amc");
  const Outcome changed = Execute(command);
  EXPECT_EQ(changed.code, 0) << changed.text;
  EXPECT_THAT(changed.text, Not(HasSubstr("as before")));
  EXPECT_THAT(changed.text, HasSubstr("1 of 1 recordings"));
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(library + "/motions")) ++files;
  EXPECT_EQ(files, 2u);  // poses, and what is compared of them
}

TEST_F(BuildLibrary, FindsWhereARecordingIsLikeAnother) {
  const Outcome outcome = Execute(kRecordingLibrary + " " + Recordings() + " --output " + Path("library") +
                                  " --query " + kClips + "walk.bvh@1.2");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, testing::ContainsRegex("1 walk +1\\.20 +0\\.000[01]"));
  EXPECT_THAT(outcome.text, testing::ContainsRegex("2 more-squat"));
}

TEST_F(BuildLibrary, RefusesWhatItCannotUse) {
  const std::string clips = Recordings(), library = Path("library");
  ASSERT_EQ(Execute(kRecordingLibrary + " " + clips + " --output " + library).code, 0);
  fs::create_directories(Path("empty"));
  fs::create_directories(Path("broken"));
  io::WriteFile(Path("broken/a.bvh"), "HIERARCHY\nnothing");
  const std::string output = " --output " + Path("other");
  ExpectRefusals(kRecordingLibrary,
                 {{"", 2, "source is required"},
                  {Path("missing") + output, 3, "missing"},
                  {Path("empty") + output, 3, "empty: found no recording, expected files of motion in it"},
                  {Path("broken") + output, 3, "a.bvh: found no recording that can be used"},
                  {clips + output + " --character nobody", 2, "nobody"},
                  {clips + output + " --character subject", 2, "expected one character for all recordings"},
                  {clips + " --output " + clips, 2, "found other files in it, expected a new or empty folder"},
                  {clips + " --output " + library + " --query walk.bvh", 2, "expected CLIP@SECOND"},
                  {clips + " --output " + library + " --query walk.bvh@soon", 2, "--query"},
                  {clips + " --output " + library + " --query " + kClips + "walk.bvh@99", 3, "s of motion, expected"}});
  const std::string index = io::ReadFile(library + "/library.json");
  io::Json json = io::ParseJson(index, "library.json");
  const std::string motion = library + "/" + json["motions"][0]["file"].get<std::string>();
  const std::string like = clips + " --output " + library + " --query " + kClips + "walk.bvh@1";
  json["motions"][0]["file"] = "../../outside.bin";
  io::WriteFile(library + "/library.json", io::Dump(json));
  ExpectRefusals(kRecordingLibrary, {{like, 3, "/motions/0/file: found \"../../outside.bin\", expected a file in"}});
  io::WriteFile(library + "/library.json", R"({"format": "retrace-run"})");
  ExpectRefusals(kRecordingLibrary, {{like, 3, "library.json"}});
  // A motion that was damaged is made again.
  io::WriteFile(library + "/library.json", index);
  io::WriteFile(motion, "damaged");
  const Outcome mended = Execute(kRecordingLibrary + " " + like);
  EXPECT_EQ(mended.code, 0) << mended.text;
  EXPECT_NE(io::ReadFile(motion), "damaged");
}

}  // namespace
}  // namespace retrace::apps
