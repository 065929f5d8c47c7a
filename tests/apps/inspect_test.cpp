/// inspect as a user meets it.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/io/number.h"

namespace retrace::apps {
namespace {

using testing::HasSubstr;

TEST_F(CommandLine, InspectTellsWhatWasUnderstood) {
  const Outcome outcome = Execute(kInspect + " " + kClip);
  EXPECT_EQ(outcome.code, 0);
  for (const char* text : {"m tall", "y points up", "left_foot", "free flight", "segments", "reconstruct "}) {
    EXPECT_THAT(outcome.text, HasSubstr(text));
  }
}

TEST_F(CommandLine, InspectSaysTheSameAsJsonAndItsCommandRuns) {
  const Outcome outcome = Execute(kInspect + " " + kClip + " --json --end 0.5 --up y --unit m");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const io::Json found = io::ParseJson(outcome.text, "inspect");
  EXPECT_EQ(found["reference"]["unit"], 1.0);
  EXPECT_EQ(found["reference"]["unit_from"], "given");
  EXPECT_TRUE(found["checks"]["contacts"].contains("left_foot"));
  EXPECT_EQ(found["mapping"].size() > 10, true);
  const auto command = found["command"].get<std::string>();
  EXPECT_THAT(command, HasSubstr("--end 0.5 --unit m --up y"));
  const std::string program = kReconstruct.substr(0, kReconstruct.rfind('/') + 1) + command;
  EXPECT_EQ(Execute(program + " --dry-run").code, 0);
}

TEST_F(CommandLine, InspectWritesTheForcesThatTheMotionRequires) {
  const std::string table = Path("forces.csv");
  const std::string command = kInspect + " " + kClip + " --forces ";
  ASSERT_EQ(Execute(command + table).code, 0);
  const std::string text = io::ReadFile(table);
  EXPECT_TRUE(text.starts_with("time,com_x,com_y,com_z,force_x,"));
  for (const char* column : {",left_foot_force_y,", ",right_foot_center_x,", ",left_knee_", "_power\n"}) {
    EXPECT_THAT(text, HasSubstr(column));
  }
  EXPECT_THAT(text, testing::Not(HasSubstr("nan")));
  EXPECT_EQ(Execute(command + table).code, 0) << "the same bytes again";
  const std::string mine = Write("mine.csv", "mine");
  ExpectRefusals(command, {{mine, 2, mine + ": found another file, expected none or --force"},
                           {kClip + " --force", 5, "found an input of this program"}});
  EXPECT_EQ(io::ReadFile(mine), "mine");
}

/// The bundled walk over a floor that is 0.3 m lower than the one that it was recorded on: it walks on a platform.
TEST_F(CommandLine, InspectWritesTheWorldThatTheRecordingShows) {
  const std::string world = Path("world.json");
  const Outcome plain = Execute(kInspect + " " + kClip + " --world-file " + world);
  EXPECT_EQ(plain.code, 3);
  EXPECT_THAT(plain.text, HasSubstr("found a motion on a plain floor, expected one that stands or sits on something"));
  const io::Json found = io::ParseJson(Execute(kInspect + " " + kClip + " --json").text, "inspect");
  EXPECT_TRUE(found["checks"]["ground"].empty());
  EXPECT_TRUE(found["reference"]["treadmill"].is_null());
  const double floor = found["reference"]["floor_height"].get<double>() - 0.3;
  const std::string on_platform = kClip + " --end 1 --floor-height " + io::Number(floor);
  const Outcome outcome = Execute(kInspect + " " + on_platform + " --world-file " + world);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("ground      step at 0.3"));
  const io::Json written = io::ParseJson(io::ReadFile(world), world);
  EXPECT_EQ(written["format"], "retrace-world");
  EXPECT_EQ(written["environment"]["boxes"][0]["name"], "step_1");
  const Outcome dry = Execute(kReconstruct + " " + on_platform + " --dry-run");
  EXPECT_THAT(dry.text, HasSubstr("the character stands on that"));
  const Outcome without = Execute(kReconstruct + " " + on_platform + " --ground plain --dry-run");
  EXPECT_THAT(without.text, HasSubstr("left out, as asked for"));
  const Outcome mine = Execute(kReconstruct + " " + on_platform + " --world " + world + " --dry-run");
  EXPECT_THAT(mine.text, HasSubstr("left out, the world has a ground of its own"));
}

TEST_F(CommandLine, InspectRefusesWithTheCodesOfTheHouse) {
  const std::string map = Write("map.json", R"({"tail": "x"})");
  ExpectRefusals(kInspect,
                 {
                     {"", 2, "a clip is needed"},
                     {kClip + " --unit furlong", 2, "--unit: found \"furlong\", expected auto, m, cm"},
                     {kClip + " --floor-height deep", 2, "--floor-height: found \"deep\", expected auto or a number"},
                     {kClip + " --treadmill fast", 2, "--treadmill: found \"fast\", expected auto, off or a number"},
                     {kClip + " --up w", 2, "--up"},
                     {kClip + " --map " + map, 3, "/tail: found the segment"},
                     {Write("bad.bvh", "HIERARCHY\n"), 3, "bad.bvh:"},
                 });
}

TEST_F(CommandLine, InspectShowsASkeletonThatIsNoHuman) {
  const std::string arm = Write("arm.bvh",
                                "HIERARCHY\nROOT Base\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
                                "JOINT Link\n{\nOFFSET 0 2 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
                                "End Site\n{\nOFFSET 0 1 0\n}\n}\n}\n"
                                "MOTION\nFrames: 2\nFrame Time: 0.04\n0 0 0 0 0 0\n0 0 0 0 0 9\n");
  const Outcome outcome = Execute(kInspect + " " + arm);
  EXPECT_EQ(outcome.code, 3) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("2 frames, 25.00 per second"));
  EXPECT_THAT(outcome.text, HasSubstr("      Link"));
  EXPECT_THAT(outcome.text, HasSubstr("2.000 units"));
  EXPECT_THAT(outcome.text, HasSubstr("a map (--map FILE)"));
}

TEST_F(CommandLine, InspectSurvivesEveryMalformedFile) {
  const std::filesystem::path folder = std::filesystem::path(RETRACE_SHARED_DIR) / "mocap" / "malformed";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is missing";
  const io::Json expected = io::ReadJson(folder / "EXPECTED.json");
  for (const auto& [name, entry] : expected["files"].items()) {
    SCOPED_TRACE(name);
    std::string arguments = (folder / name).string();
    if (name.ends_with(".amc")) arguments += " --skeleton " + (folder / "ok_small.asf").string();
    if (name.ends_with(".asf")) arguments = (folder / "ok_small.amc").string() + " --skeleton " + arguments;
    const Outcome outcome = Execute("timeout 20 " + kInspect + " " + arguments);
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 3 || outcome.code == 2) << outcome.code << outcome.text;
    if (entry["expect"] == "reject") {
      EXPECT_EQ(outcome.code, 3) << outcome.text;
      EXPECT_THAT(outcome.text, HasSubstr(": found "));
    }
  }
}

}  // namespace
}  // namespace retrace::apps
