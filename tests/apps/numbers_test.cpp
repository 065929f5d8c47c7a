/// Numbers and empty texts on the command lines of all programs: exit code 2 and one message that names the option,
/// what was found and what was expected. Rows are those of the list of defects that an attack found.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"

namespace retrace::apps {
namespace {

using testing::HasSubstr;

TEST_F(CommandLine, Row10InstantsAndFactorsOfAClip) {
  const std::string instants = ", expected a number from 0 to 86400";
  for (const std::string& program : {kReconstruct, kInspect}) {
    ExpectRefusals(program,
                   {
                       {kClip + " --start nan", 2, "--start: found nan" + instants},
                       {kClip + " --start=-0.1", 2, "--start: found -0.1" + instants},
                       {kClip + " --start 1e999", 2, "--start: found \"1e999\"" + instants},
                       {kClip + " --start 1s", 2, "--start: found \"1s\"" + instants},
                       {kClip + " --end nan", 2, "--end: found nan" + instants},
                       {kClip + " --end inf", 2, "--end: found inf" + instants},
                       {kClip + " --start 1 --end 0.5", 2, "--end: found 0.5, expected more than --start"},
                       {kClip + " --time-scale nan", 2, "--time-scale: found nan, expected a number from 0.01 to 100"},
                       {kClip + " --time-scale 0", 2, "--time-scale: found 0, expected"},
                   });
  }
}

TEST_F(CommandLine, Row11NumbersThatAreNone) {
  ExpectRefusals(
      kReconstruct,
      {
          {kClip + " --floor-height nan", 2, "--floor-height: found \"nan\", expected auto or a number, -1000 to 1000"},
          {kClip + " --facing nan", 2, "--facing: found \"nan\", expected recorded or a number, -360 to 360"},
          {kClip + " --facing 1e5", 2, "--facing: found \"1e5\", expected recorded or a number"},
          {kClip + " --unit inf", 2,
           "--unit: found \"inf\", expected auto, m, cm, mm, in, ft, cmu or a number, 1e-06 to 1000"},
          {kClip + " --unit yard", 2, "--unit: found \"yard\", expected auto, m, cm"},
          {kClip + " --unit 0", 2, "--unit: found \"0\", expected auto, m, cm"},
          {kClip + " --frame-rate nan", 2, "--frame-rate: found nan, expected a number from 1 to 10000"},
          {kClip + " --skip-frames=-1", 2, "--skip-frames: found -1, expected a whole number from 0"},
          {kClip + " --rank-timeout nan", 2, "--rank-timeout: found nan, expected a number from 0 to 86400"},
          {kClip + " --time-limit 1e9", 2, "the duration \"1e9\": expected seconds"},
          {kClip + " --time-limit 99999999999", 2, "at most 1000 days"},
      });
  ExpectRefusals(kEvaluate, {
                                {"list.tsv --require nan", 2, "--require: found nan, expected a number from 0 to 1"},
                                {"list.tsv --rank-timeout nan", 2, "--rank-timeout: found nan"},
                                {"list.tsv --seeds 0", 2, "--seeds: found 0, expected a whole number from 1"},
                                {"list.tsv --share 0/3", 2, "--share: found \"0/3\", expected I/N with I from 1 to N"},
                                {"list.tsv --share 4/3", 2, "--share: found \"4/3\", expected I/N with I from 1 to N"},
                                {"list.tsv --share=-1/3", 2, "--share: found \"-1/3\""},
                                {"list.tsv --share 3", 2, "--share: found \"3\""},
                            });
  ExpectRefusals(kReplay,
                 {
                     {"run --push-table trunk --push-forces nan", 2, "--push-forces/0: found nan"},
                     {"run --push-table trunk --push-forces 10,0", 2,
                      "--push-forces/1: found 0, expected a number from 0 to 1e+06 (0 itself excluded)"},
                     {"run --push-table trunk --push-times inf", 2, "--push-times/0: found inf"},
                     {"run --push-table trunk --push-duration nan", 2, "--push-duration: found nan, expected a number"},
                 });
  ExpectRefusals(kExport, {{"run --to csv --rate nan", 2, "--rate: found nan, expected a number from 1 to 10000"},
                           {"run --to csv --rate 0", 2, "--rate: found 0, expected a number from 1 to 10000"}});
  ExpectRefusals(kReport, {{"run --png p.png --width nan", 2, "--width: found nan, expected a whole number from 200"},
                           {"run --png p.png --figures 1", 2, "--figures: found 1, expected a whole number from 2"}});
}

TEST_F(CommandLine, Row17WholeNumbersAreExactOrRefused) {
  const std::string seed = "18446744073709551615";
  const Outcome printed = Execute(kReconstruct + " --print-config --seed " + seed);
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.text, HasSubstr("\"seed\": " + seed));
  ExpectRefusals(
      kReconstruct,
      {
          {kClip + " --seed 18446744073709551616", 2, "--seed: found \"18446744073709551616\", expected a whole"},
          {kClip + " --seed=-1", 2, "--seed: found -1, expected a whole number from 0 to " + seed},
          {kClip + " --seed 1.5", 2, "--seed: found 1.5, expected a whole number"},
          {kClip + " --threads 4294967297", 2, "--threads: found 4294967297, expected a whole number from 1"},
          {kClip + " --samples 99999999999999999999", 2, "--samples: found"},
          {kClip + " --saved 0", 2, "--saved: found 0, expected a whole number from 1 to 100000"},
          {kClip + " --max-tries 1x --variations 2", 2, "--max-tries: found \"1x\", expected a whole number"},
      });
}

TEST_F(CommandLine, Row18NothingStandsForNothing) {
  ExpectRefusals(kReconstruct, {
                                   {kClip + " --end=-1", 2, "--end: found -1, expected a number from 0 to 86400"},
                                   {kClip + " --output ''", 2, "--output: found an empty text, expected a value"},
                                   {kClip + " --config ''", 2, "--config: found an empty text"},
                                   {kClip + " --world ''", 2, "--world: found an empty text"},
                                   {"''", 2, "clip: found an empty text"},
                               });
  ExpectRefusals(kEvaluate,
                 {{"''", 2, "list: found an empty text"}, {"list.tsv --clips ''", 2, "--clips: found an empty"}});
  ExpectRefusals(kReplay, {{"''", 2, "folder: found an empty text"}});
  ExpectRefusals(kExport, {{"run --to ''", 2, "--to: found an empty text"}});
}

TEST_F(CommandLine, Row16AnEmptyNameOfAFolderIsRefused) {
  ExpectRefusals(kReport, {{"''", 2, "folders: found an empty text, expected a value"}});
}

TEST_F(CommandLine, Row05AndRow07SettingsThatCrashedOrNeverEnded) {
  const std::string small = kWalkClip + kSmall;
  ExpectRefusals(
      kReconstruct,
      {
          {kWalkClip + " --end 0.8 --time-scale 0.01", 2, "expected a motion of 0.1 to 1200 s"},
          {small + "--set /reference/velocity_interval=1e-100", 2, "/reference/velocity_interval: found 1e-100"},
          {small + "--set /cost/balance_velocity=1e308", 2, "/cost/balance_velocity: found 1e+308"},
          {small + "--set /refinement/pose=1e308", 2, "/refinement/pose: found 1e+308"},
          {small + "--set /simulation/time_step=1e-300", 2, "/simulation/time_step: found 1e-300"},
          {small + "--set /simulation/time_step=1e-9", 2, "/simulation/time_step: found 1e-09"},
      });
}

TEST_F(CommandLine, Row06AndRow14JsonThatCannotBeRead) {
  const std::string deep = Write("deep.json", std::string(200000, '['));
  const std::string large = Write("large.json", "{\n \"search\": {\"samples\": 1e999}}");
  const std::string run = SmallRun("run");
  Write("run/manifest.json", std::string(200000, '['));
  const std::string nested = ":1:201: found arrays and objects nested more than 200 deep";
  ExpectRefusals(kReport, {{run, 3, "manifest.json" + nested}});
  ExpectRefusals(kReplay, {{run, 3, "manifest.json" + nested}});
  for (const std::string option : {" --config ", " --character ", " --world ", " --map "}) {
    ExpectRefusals(kReconstruct,
                   {{kClip + " --dry-run" + option + deep, 3, "deep.json" + nested},
                    {kClip + " --dry-run" + option + large, 3, "large.json:2:24: found 1e999, expected"}});
  }
}

TEST_F(CommandLine, Row12AndRow13WorldsAndCharactersThatCouldNotBeReplayed) {
  const auto world = [&](const std::string& name, const std::string& members) {
    return " --dry-run --world " + Write(name, R"({"format": "retrace-world", "version": 1, )" + members + "}");
  };
  const std::string scatter =
      R"({"name": "p", "per_square_metre": 1, "half_width": 1, "from": 0, "beyond": 0, "width": [1, 1], "height": [1, 1],
          "density": 1, "seed": 1})";
  std::string character = io::ReadFile(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  character.replace(character.find("\"trunk\""), 7, "\"tr\\nunk\"");
  ExpectRefusals(kReconstruct,
                 {
                     {kClip + world("a.json", "\"scatter\": [" + scatter + ", " + scatter + "]"), 3,
                      "a.json: /scatter/1/name: found the name \"p\""},
                     {kClip + world("b.json", R"("environment": {"ground": {"material": {"spring":
                                            {"erp": 0.5, "cfm": 1e-308, "time_step": 0.001}}}})"),
                      3, "b.json: /environment/ground/material/spring/cfm: found 1e-308"},
                     {kClip + world("c.json", R"("environment": {"boxes": [
                                            {"name": "a", "size": [1, 1, 1], "position": [1e9, 0, 0]}]})"),
                      3, "c.json: /environment/boxes/0/position/0: found 1000000000.0"},
                     {kClip + " --dry-run --character " + Write("d.json", character), 3,
                      "expected a name of 1 to 100 bytes without control characters, braces and stray blanks"},
                 });
}

}  // namespace
}  // namespace retrace::apps
