/// The program `idle`.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class IdleProgram : public CommandLine {
 protected:
  /// Two of the bundled keys: planning takes the square of their number.
  std::string Keys() {
    io::Json keys = io::ReadJson(std::string(RETRACE_SOURCE_DIR) + "/data/keys/sitting.json");
    keys["keys"] = {keys["keys"][0], keys["keys"][3]};
    const std::string path = Path("two.json");
    io::WriteFile(path, keys.dump());
    return path;
  }
};

TEST_F(IdleProgram, LeavesARunThatTheOthersTake) {
  const std::string run = Path("run");
  const std::string command = kIdle + " " + Keys() + " --world rocker --seconds 4 --paths 2 --progress plain";
  const Outcome outcome = Execute(command + " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("2 of 2 pairs of keys have 2 paths"));
  EXPECT_THAT(outcome.text, HasSubstr("0 of 960 steps invalid"));
  for (const char* file : {"control.json", "idling.csv", "trajectory.csv", "motion.bvh", "manifest.json"}) {
    EXPECT_TRUE(fs::exists(run + "/" + file)) << file;
  }
  const results::Table parts = results::ReadTable(run + "/idling.csv");
  EXPECT_EQ(parts.Numbers("start").front(), 0);
  EXPECT_EQ(parts.Numbers("end").back(), 4);
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  const Outcome exported = Execute(kExport + " " + run + " --to all");
  EXPECT_EQ(exported.code, 0) << exported.text;
  EXPECT_EQ(Execute(command + " --output " + run).code, 2);  // in use
  const std::string other = Path("other");
  EXPECT_EQ(Execute(command + " --output " + other).code, 0);
  EXPECT_EQ(io::ReadFile(other + "/control.json"), io::ReadFile(run + "/control.json"));
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["program"], "idle");
  EXPECT_EQ(manifest["idling"]["carried_by"], "rocker");
  EXPECT_EQ(manifest["inputs"].size(), 3u);
}

TEST_F(IdleProgram, SaysWhereResultsAreOnlyWhereThereAreSome) {
  // The chair is behind the character, where a recorded motion sits down.
  const std::string run = Path("run");
  const Outcome outcome = Execute(kIdle + " sitting --world chair --seconds 2 --progress plain --output " + run);
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("the first key, upright, cannot be held in this world: nothing is written"));
  EXPECT_THAT(outcome.text, HasSubstr("m from where the key has it: nothing in this world carries it there"));
  EXPECT_THAT(outcome.text, testing::Not(HasSubstr("results in")));
  EXPECT_FALSE(fs::exists(run + "/control.json"));
}

TEST_F(IdleProgram, StandsOnItsFeet) {
  const std::string run = Path("standing");
  const std::string command = kIdle + " standing --seconds 2 --samples 20 --progress plain";
  const Outcome outcome = Execute(command + " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("standing: reached the end after 2.00 of 2.00 s"));
  EXPECT_THAT(outcome.text, HasSubstr("feet creep by at most "));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["idling"]["posture"], "standing");
  EXPECT_EQ(manifest["success"], true);
  EXPECT_EQ(results::ReadTable(run + "/idling.csv").Numbers("end").back(), 2);
  const std::string other = Path("other");
  EXPECT_EQ(Execute(command + " --threads 2 --output " + other).code, 0);
  EXPECT_EQ(io::ReadFile(other + "/control.json"), io::ReadFile(run + "/control.json"));
}

TEST_F(IdleProgram, RefusesWhatItCannotStandOn) {
  io::Json sitting = io::ReadJson(std::string(RETRACE_SOURCE_DIR) + "/data/keys/sitting.json");
  sitting["posture"] = "standing";
  const std::string low = Path("low.json"), other = Path("other.json");
  io::WriteFile(low, sitting.dump());
  sitting["posture"] = "hovering";
  io::WriteFile(other, sitting.dump());
  ExpectRefusals(kIdle, {{"standing --dry-run --world stool", 2, "found --world for keys that stand"},
                         {"standing --dry-run --noise 0.1", 2, "found --noise for keys that stand"},
                         {"sitting --world stool --dry-run --samples 9", 2, "found --samples for keys on furniture"},
                         {low + " --dry-run", 3, "low.json: /keys/0: found a pose that lies or sits"},
                         {other + " --dry-run --world stool", 3, "/posture: found \"hovering\""}});
}

TEST_F(IdleProgram, RefusesWhatItCannotUse) {
  ExpectRefusals(kIdle, {{"sitting --world no_such_world", 2, "no_such_world"},
                         {"standing_on_air --world stool", 2, "expected a JSON file or one of: "},
                         {"sitting --world stool --seconds 0", 2, "--seconds"},
                         {"sitting --dry-run", 3, "is its furniture there?"},
                         {"sitting --dry-run --world platform", 2, "course"},
                         {"sitting --world stool --allow-paths upright:forward:9 --dry-run", 2, "from 1 to 3"},
                         {Path("missing.json") + " --world stool", 3, "missing.json"}});
  const std::string keys = Path("keys.json");
  io::WriteFile(keys, R"({"format": "retrace-keys", "version": 1, "keys": []})");
  ExpectRefusals(kIdle, {{keys + " --world stool --dry-run", 3, "keys.json: /keys: "}});
}

}  // namespace
}  // namespace retrace::apps
