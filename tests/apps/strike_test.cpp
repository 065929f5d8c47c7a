/// The program `strike`, and `respond` to another character.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "recordings/marked_walker.h"
#include "recordings/trc_writer.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kBundledClips = std::string(RETRACE_SOURCE_DIR) + "/data/clips/";
/// A character that walks into a standing one.
const std::string kWalkIntoStand =
    kStrike + " " + kBundledClips + "stand.bvh --attacker " + kBundledClips + "walk.bvh --stance 1.8 --seconds 1.2";

class StrikeProgram : public CommandLine {};

TEST_F(StrikeProgram, LeavesASceneThatTheOthersTake) {
  const std::string run = Path("run");
  const Outcome outcome = Execute(kWalkIntoStand + " --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("the recordings touch at "));
  EXPECT_THAT(outcome.text, HasSubstr("  the impact: 2:"));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  EXPECT_EQ(Execute(kExport + " " + run + " --to bvh").code, 0);
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["program"], "strike");
  EXPECT_EQ(manifest["characters"].size(), 2u);
  const io::Json& strike = manifest["strike"];
  // The impact of the simulation comes with that of the recordings, and pushes the receiver backward.
  EXPECT_NEAR(strike["start"].get<double>() + strike["impact"]["start"].get<double>(),
              strike["touch"]["time"].get<double>(), 0.1);
  EXPECT_GT(strike["impact"]["largest_force"].get<double>(), 0);
  EXPECT_EQ(Execute(kWalkIntoStand + " --output " + run).code, 2);  // in use
  ASSERT_EQ(Execute(kWalkIntoStand + " --output " + Path("again")).code, 0);
  EXPECT_EQ(io::ReadFile(run + "/control.json"), io::ReadFile(Path("again/control.json")));
}

TEST_F(StrikeProgram, TheOneThatIsStruckResponds) {
  const std::string struck = Path("struck"), run = Path("run"), library = Path("library");
  fs::create_directories(Path("clips"));
  for (const char* name : {"walk.bvh", "stand.bvh"}) {
    io::WriteFile(Path("clips/") + name, io::ReadFile(kBundledClips + name));
  }
  ASSERT_EQ(Execute(kRecordingLibrary + " " + Path("clips") + " --output " + library).code, 0);
  ASSERT_EQ(Execute(kWalkIntoStand + " --output " + struck).code, 0);
  const std::string command = kRespond + " " + struck + " --library " + library +
                              " --seconds 1.2 --stand 0.2 --samples 60 --saved 15 --candidates 2 "
                              "--set /refinement/passes=0 --force-search --progress plain";
  const Outcome outcome = Execute(command + " --output " + run);
  EXPECT_TRUE(outcome.code == 0 || outcome.code == 4) << outcome.text;
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["success"].get<bool>(), outcome.code == 0);
  EXPECT_THAT(manifest["response"]["impact"]["what"].get<std::string>(), HasSubstr(", which meets 1:"));
  EXPECT_EQ(manifest["response"]["struck"], 1);
  EXPECT_EQ(manifest["response"]["others"].size(), 1u);
  EXPECT_EQ(manifest.contains("characters"), !manifest["response"].contains("others_left_out"));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  EXPECT_EQ(Execute(kReport + " " + run + " --output " + Path("report.html")).code, 0);
  // In company it gives up among the others.
  EXPECT_EQ(io::ReadJson(run + "/ragdoll.json").contains("characters"), manifest.contains("characters"));
  const std::string page = io::ReadFile(Path("report.html"));
  EXPECT_THAT(page, HasSubstr("\"ragdoll\":{"));
  EXPECT_THAT(page, HasSubstr("\"candidates\":["));
  ASSERT_EQ(Execute(command + " --threads 1 --output " + Path("again")).code, outcome.code);
  EXPECT_EQ(io::ReadFile(run + "/control.json"), io::ReadFile(Path("again/control.json")));
  // Until the exit both move as they did without a response.
  if (manifest.contains("characters")) {
    EXPECT_EQ(results::ReadTable(run + "/character_1/composition.csv").Text("event"),
              (std::vector<std::string>{"plan", "answer"}));
    const results::Table response = results::ReadTable(run + "/character_1/trajectory.csv"),
                         before = results::ReadTable(struck + "/character_1/trajectory.csv");
    const double exit = manifest["response"]["exit"];
    const std::vector<double> times = response.Numbers("time"), height = response.Numbers("root_y"),
                              expected = before.Numbers("root_y");
    size_t compared = 0;
    for (; times[compared] <= exit; ++compared) ASSERT_EQ(height[compared], expected[compared]) << times[compared];
    EXPECT_GT(compared, 40u);
  }

  ExpectRefusals(kRespond, {{struck + " --library " + library + " --receiver 3 --output " + Path("no"), 2,
                             "--struck: found 3, expected one of the 2 characters"},
                            {struck + " --library " + library + " --push trunk,0:0:1,1,0.1 --output " + Path("no"), 2,
                             "found several characters and a push, expected an impact of one of them alone"},
                            {struck + " --library " + library + " --after 900 --output " + Path("no"), 3,
                             "found an impact that never touches"}});
}

/// Markers of two people who walk towards one another.
std::string TwoWalkers() {
  const recordings::MarkedWalker walker(40);
  recordings::Markers both{{}, 20, {}, 1, {}};
  for (const char* person : {"Anna:", "Bob:"}) {
    for (const std::string& name : walker.names) both.names.push_back(person + name);
  }
  for (const auto& places : walker.markers) {
    auto& frame = both.places.emplace_back(places);
    for (const Vec3& place : places) frame.emplace_back(-place.x(), place.y(), 2.4 - place.z());
  }
  return recordings::WriteTrc(both);
}

TEST_F(StrikeProgram, TakesBothPeopleOfOneFile) {
  const std::string pair = Path("pair.trc");
  io::WriteFile(pair, TwoWalkers());
  const std::string command = kStrike + " " + pair + " --pair --seconds 0.5 --output ";
  const Outcome outcome = Execute(command + Path("run"));
  EXPECT_TRUE(outcome.code == 0 || outcome.code == 4) << outcome.text;
  const io::Json choice = io::ReadJson(Path("run/manifest.json"))["strike"]["choice"];
  EXPECT_EQ(choice["receiver"]["performer"], "Anna");
  EXPECT_EQ(choice["attacker"]["performer"], "Bob");
  // The same two by name, from either side.
  ASSERT_EQ(Execute(command + Path("named") + " --performer Anna --attacker-performer Bob").code, outcome.code);
  ASSERT_EQ(
      Execute(command + Path("other") + " --attacker " + pair + " --performer Anna --attacker-performer Bob").code,
      outcome.code);
  for (const char* run : {"named", "other"}) {
    EXPECT_EQ(io::ReadFile(Path(run) + "/control.json"), io::ReadFile(Path("run/control.json"))) << run;
  }
  ASSERT_EQ(Execute(command + Path("turned") + " --performer Bob").code, outcome.code);
  EXPECT_EQ(io::ReadJson(Path("turned/manifest.json"))["strike"]["choice"]["attacker"]["performer"], "Anna");
  ExpectRefusals(kStrike + " " + pair + " --output " + Path("no"),
                 {{"--pair --performer Bob --attacker-performer Bob", 2, "found \"Bob\" for both, expected two people"},
                  {"--pair --performer Eve", 2, "found no performer \"Eve\", expected one of \"Anna\", \"Bob\""},
                  {"--stance 1", 2, "found one clip and no --attacker, expected that of the attacker first"},
                  {"--pair --attacker-skeleton x.asf", 2, "expected both"}});
  ExpectRefusals(kStrike + " " + kBundledClips + "walk.bvh --output " + Path("no"),
                 {{"--pair", 2, "walk.bvh: found one person, expected two"}});
}

/// A walking character that runs into a standing one, as one film.
const std::string kKinematicFilm = kStrike + " " + kBundledClips + "walk.bvh " + kBundledClips +
                                   "stand.bvh --with left_hand --transition kinematic --progress plain";
const std::string kFilm =
    kStrike + " " + kBundledClips + "walk.bvh " + kBundledClips +
    "stand.bvh --with left_hand --samples 40 --saved 10 --set /refinement/passes=0 --progress plain";

/// Whether a folder has all files of a film, and the parts of each follow one another from its beginning on.
void CheckFilm(const std::string& film, const std::string& first, bool physical) {
  for (const char* file : {"report.html", "character_1/motion.bvh", "character_2/motion.bvh", "control.json"}) {
    EXPECT_TRUE(fs::exists(film + "/" + file)) << file;
  }
  bool glb = false;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(film)) {
    glb = glb || entry.path().extension() == ".glb";
  }
  EXPECT_TRUE(glb);
  const results::Table parts = results::ReadTable(film + "/parts.csv");
  const std::vector<double> character = parts.Numbers("character"), start = parts.Numbers("start"),
                            end = parts.Numbers("end");
  const std::vector<std::string> kinds = parts.Text("kind");
  ASSERT_GE(kinds.size(), 4u);
  for (size_t row = 0; row < kinds.size(); ++row) {
    const bool begins = row == 0 || character[row] != character[row - 1];
    EXPECT_EQ(start[row], begins ? 0 : end[row - 1]) << row;
    if (begins) {
      EXPECT_EQ(kinds[row], first) << row;
    } else if (physical) {
      EXPECT_EQ(kinds[row], "simulated") << row;
    }
  }
  EXPECT_EQ(Execute(kReplay + " " + film + " --verify").code, 0);
  EXPECT_THAT(io::ReadFile(film + "/report.html"), HasSubstr("As recorded up to "));
}

/// One film from two clips: the wind-up as it was recorded, the impact and what follows simulated, of both.
TEST_F(StrikeProgram, MakesAFilmOfTwoClips) {
  const std::string film = Path("film");
  const Outcome outcome = Execute(kFilm + " --output " + film);
  ASSERT_TRUE(outcome.code == 0 || outcome.code == 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("the strike: the attacker's left_hand at the receiver's "));
  const io::Json manifest = io::ReadJson(film + "/manifest.json");
  EXPECT_EQ(manifest["program"], "strike");
  EXPECT_EQ(manifest["success"].get<bool>(), outcome.code == 0);
  // It counts both.
  const bool attacker = manifest["response"]["others"][0]["within_gates"];
  const bool receiver = manifest["status"] == "completed" && manifest["evaluation"]["success"].get<bool>();
  EXPECT_EQ(outcome.code == 0, attacker && receiver);
  CheckFilm(film, "recorded", true);
  EXPECT_GT(manifest["film"]["lead"].get<double>(), 0.2);
  ExpectRefusals(kRespond, {{film + " --library " + film + "-motions --output " + Path("no"), 2,
                             "found a motion with a beginning that is not simulated"}});
}

/// Without a search: feedback leads both on, or a recorded motion is blended in.
TEST_F(StrikeProgram, LeadsBothOnByFeedbackOrByABlendFromAllAround) {
  const std::string around = Path("around"), film = around + "/02";
  const Outcome outcome = Execute(kKinematicFilm + " --around 2 --output " + around);
  ASSERT_TRUE(outcome.code == 0 || outcome.code == 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("180 degrees: the "));
  const results::Table table = results::ReadTable(around + "/around.csv");
  EXPECT_EQ(table.Numbers("facing"), (std::vector<double>{0, 180}));
  EXPECT_TRUE(fs::exists(around + "/01/manifest.json"));
  EXPECT_THAT(io::ReadFile(around + "/contact_sheet.svg"), HasSubstr("180 degrees: "));
  const io::Json manifest = io::ReadJson(film + "/manifest.json");
  EXPECT_FALSE(manifest["physical"].get<bool>());
  CheckFilm(film, "recorded", false);
  for (const io::Json& other : manifest["response"]["others"]) EXPECT_TRUE(other["within_gates"].get<bool>());
  if (manifest["response"]["blend"].is_object()) {
    EXPECT_THAT(results::ReadTable(film + "/parts.csv").Text("kind"), testing::Contains("blended"));
    EXPECT_LT(manifest["response"]["blend"]["deepest"].get<double>(), 0.03);
    EXPECT_TRUE(manifest["response"]["blend"].contains("acceptable"));
  }
  const Outcome again = Execute(kKinematicFilm + " --facing 180 --threads 1 --output " + Path("again"));
  ASSERT_TRUE(again.code == 0 || again.code == 4) << again.text;
  const auto fragments = [](const std::string& folder) { return io::ReadJson(folder + "/control.json")["characters"]; };
  EXPECT_EQ(fragments(film), fragments(Path("again")));
}

/// The kick of a recording meets the body that it is to meet, and both are within tolerance to their ends.
TEST_F(StrikeProgram, AKickLandsAsAimed) {
  const std::string kick = std::string(RETRACE_SHARED_DIR) + "/mocap/clips/kick_mass.bvh";
  if (!fs::exists(kick)) GTEST_SKIP() << kick << " is absent";
  const std::string film = Path("film");
  const Outcome outcome = Execute(kStrike + " " + kick + " " + kBundledClips +
                                  "stand.bvh --with right_foot --at pelvis --transition kinematic --output " + film);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  const io::Json manifest = io::ReadJson(film + "/manifest.json"), strike = manifest["strike"];
  EXPECT_TRUE(strike["aim"]["as_aimed"].get<bool>());
  EXPECT_EQ(strike["impact"]["body"], "1:pelvis");
  EXPECT_EQ(strike["impact"]["other"], "2:right_foot");
}

TEST_F(StrikeProgram, RefusesWhatHasNoEffect) {
  const std::string stand = kBundledClips + "stand.bvh", walk = kBundledClips + "walk.bvh",
                    output = " --output " + Path("run");
  const std::string one = stand + " --attacker " + walk + output, two = walk + " " + stand + output;
  ExpectRefusals(kStrike, {{one + " --with left_hand", 2, "--with has no effect here: it needs two clips"},
                           {one + " --facing 90", 2, "--facing has no effect here"},
                           {one + " --samples 100", 2, "--samples has no effect here: it needs a film"},
                           {one + " --transition kinematic", 2, "--transition has no effect here"},
                           {two + " --transition kinematic --seed 2", 2, "--seed has no effect here"},
                           {two + " --set /trajectory/knots=4", 2, "--set /trajectory/knots has no effect here: no "},
                           {two + " --scene --seed 2", 2, "--seed has no effect here"},
                           {two + " --attacker " + walk, 2, "--attacker: found it beside two clips"},
                           {two + " --stance 1", 2, "--stance: found it beside two clips"},
                           {two + " --with left_fot", 2, "did you mean \"left_foot\"?"},
                           {two + " --at nobody", 2, "--at: found no body \"nobody\" of human"},
                           {two + " --with left_foot --at head", 3, "a strike of the left_foot that passes the head"}});
}

TEST_F(StrikeProgram, RefusesWhatItCannotUse) {
  const std::string stand = kBundledClips + "stand.bvh", walk = kBundledClips + "walk.bvh",
                    output = " --output " + Path("run");
  const std::string clips = stand + " --attacker " + walk + output;
  ExpectRefusals(kStrike,
                 {{clips + " --stance 9", 3, "found an impact that never touches: the attacker's "},
                  {clips + " --stance 0.1", 3, "found characters that begin inside one another: the attacker's "},
                  {clips + " --stance 1,2,3,4", 2, "found 4 parts between commas, expected AHEAD"},
                  {clips + " --pair --stance 1", 2, "--pair: found --stance with it"},
                  {clips + " --pair --attacker-start 1", 2, "--pair: found --attacker-start with it"},
                  {clips + " --search-window 0", 2, "--search-window"},
                  {clips + " --start 99", 2, "99"},
                  {clips + " --character quadruped", 3, ""},
                  {clips + " --character nobody", 2, "nobody"},
                  {clips + " --set /simulation/nothing=1", 2, "nothing"},
                  {stand + output, 2, "found one clip and no --attacker, expected that of the attacker first"},
                  {stand + " --attacker " + Path("none.bvh") + output, 3, "none.bvh"},
                  {stand + " --attacker " + Path("alone.amc") + output, 2, "needs --attacker-skeleton FILE.asf"},
                  {stand + " --attacker " + Path("alone.mot") + output, 2, "needs --attacker-skeleton FILE.osim"}});
  EXPECT_FALSE(fs::exists(Path("run/manifest.json")));
}

}  // namespace
}  // namespace retrace::apps
