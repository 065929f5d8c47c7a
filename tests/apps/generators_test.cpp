/// The programs that make what comes with the toolkit, as a developer meets them.
#include "apps/command_line.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kMakeClips = RETRACE_MAKE_CLIPS;
const std::string kMakeRobot = RETRACE_MAKE_ROBOT;
const std::string kData = std::string(RETRACE_SOURCE_DIR) + "/data/";

TEST_F(CommandLine, MakeRobotWritesTheShippedCharacters) {
  const std::string file = Path("robot.json");
  ASSERT_EQ(Execute(kMakeRobot + " --output " + file).code, 0);
  EXPECT_EQ(io::ReadFile(file), io::ReadFile(kData + "characters/asimo.json"));
  ASSERT_EQ(Execute(kMakeRobot + " --neck 3 --force --output " + file).code, 0);
  EXPECT_EQ(io::ReadFile(file), io::ReadFile(kData + "characters/asimo_neck3.json"));
}

TEST_F(CommandLine, MakeClipsWritesTheShippedClipsIntoANewFolder) {
  const std::string folder = Path("new/clips");
  const Outcome outcome = Execute(kMakeClips + " --output " + folder);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_EQ(io::ReadFile(entry.path()), io::ReadFile(kData + "clips/" + entry.path().filename().string()));
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST_F(CommandLine, MakeClipsWritesAWalkThatGoesOn) {
  const std::string folder = Path("long");
  const Outcome outcome = Execute(kMakeClips + " --long-walk 5 --output " + folder);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const std::string text = io::ReadFile(folder + "/long_walk.bvh");
  EXPECT_THAT(text, HasSubstr("\nFrames: 321\n"));  // five cycles of 64 frames
  const std::string shipped = io::ReadFile(kData + "clips/walk.bvh");
  const size_t first_row = shipped.find('\n', shipped.find("Frame Time:"));
  EXPECT_THAT(text, HasSubstr(shipped.substr(first_row, shipped.size() - first_row - 1)));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

// Found by scripts/check/attack: make_robot wrote over the motion of a run.
TEST_F(CommandLine, GeneratorsWriteOverNothingButTheirOwn) {
  const std::string file = Write("motion.bvh", "a motion");
  ExpectRefusals(kMakeRobot, {{"--output " + file, 2, "make_robot: " + file + ": found another file"}});
  EXPECT_EQ(io::ReadFile(file), "a motion");
  const std::string last = Write("trot.bvh", "a trot");
  ExpectRefusals(kMakeClips, {{"--output " + Path(""), 2, "make_clips: " + last + ": found another file"}});
  EXPECT_FALSE(fs::exists(Path("walk.bvh")));  // nothing was written before all was looked at
  EXPECT_EQ(io::ReadFile(last), "a trot");
  const std::string with_force = kMakeClips + " --force --output " + Path("");
  EXPECT_EQ(Execute(with_force).code, 0);
  EXPECT_EQ(io::ReadFile(last), io::ReadFile(kData + "clips/trot.bvh"));
  EXPECT_EQ(Execute(kMakeClips + " --output " + Path("")).code, 0) << "the same files again";
}

TEST_F(CommandLine, GeneratorsRefuseWithTheCodesOfTheHouse) {
  const std::string file = Write("file", "");
  const std::string below = file + "/below";
  ExpectRefusals(kMakeRobot, {{"", 2, "make_robot: --output is required"},
                              {"--neck 2 --output " + Path("r.json"), 2, "--neck"},
                              {"--output " + below, 5, "make_robot: " + below}});
  ExpectRefusals(kMakeClips,
                 {{"", 2, "make_clips: --output is required"}, {"--output " + below, 5, "make_clips: " + below}});
  const Outcome help = Execute(kMakeRobot + " --help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.text, HasSubstr("--neck"));
}

}  // namespace
}  // namespace retrace::apps
