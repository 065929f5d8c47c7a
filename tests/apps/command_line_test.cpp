/// The programs as a user meets them: message and exit code, files, the same bytes from any number of threads.
#include "apps/command_line.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST_F(CommandLine, MistakesGiveOneMessageAndTheirCode) {
  const std::string bad_bvh = Write("bad.bvh", "HIERARCHY\nROOT hips\n{\n  OFFSET 0 zero 0\n");
  const std::string amc = Write("walk.amc", ":FULLY-SPECIFIED\n");
  std::string character = io::ReadFile(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  character.replace(character.find("5.494"), 5, "-1");
  const std::string bad_character = Write("bad.json", character);
  const std::string full = Path("full");
  fs::create_directories(full);
  Write("full/notes.txt", "mine");
  ExpectRefusals(kReconstruct,
                 {
                     {"", 2, "a clip is needed"},
                     {kClip + " --nonsense", 2, "--nonsense"},
                     {kClip + " --method sampling --samples 10 --saved 20", 2,
                      "/search/saved: found 20, expected at most /search/samples, which is 10"},
                     {kClip + " --set /search/nonsense=1", 2, "there is no such setting"},
                     {kClip + " --set /search/discarded=2", 2, "/search/discarded"},
                     {kClip + " --character nobody", 2, "human"},
                     {kClip + " --check-continuation -1", 2, "--check-continuation"},
                     {kClip + " --set /run/tail=31", 2, "/run/tail: found 31, expected a number from 0 to 30"},
                     {kClip + " --set /run/tail=1e-9", 2, "/run/tail: found 1e-09, expected 0, or 0.1 to 30"},
                     {kClip + " --start 50", 2, "found a start of 50 s"},
                     {amc, 2, "--skeleton"},
                     {kClip + kSmall + "--output " + full, 2, "--force"},
                     {kClip + " --variations 0", 2, "--variations"},
                     {kClip + " --max-tries 5", 2, "--variations"},
                     {kClip + " --variations 3 --max-tries 2", 2, "found at most 2 tries"},
                     {kClip + kSmall + "--variations 2 --output " + full, 2, "--force"},
                     {Path("none.bvh"), 3, "none.bvh"},
                     {bad_bvh, 3, "bad.bvh:4:12: found"},
                     {kClip + " --character " + bad_character, 3, "/bodies/0/mass: found -1"},
                     {kClip + kSmall + "--output " + bad_bvh + "/below", 5, "below"},
                 });
  EXPECT_EQ(Execute(kReplay + " " + Path("no_run")).code, 3);
}

TEST_F(CommandLine, PrintedConfigurationIsReadBack) {
  const Outcome asked = Execute(kReconstruct + " --print-config --samples 400 --set /search/budget=1000");
  EXPECT_THAT(asked.text, HasSubstr("\"budget\": 1000.0")) << "what is set holds, however many samples there are";
  const Outcome first = Execute(kReconstruct + " --print-config --set /search/samples=77 --saved 7");
  ASSERT_EQ(first.code, 0);
  EXPECT_THAT(first.text, HasSubstr("\"samples\": 77"));
  const Outcome second = Execute(kReconstruct + " --print-config --config " + Write("config.json", first.text));
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.text, first.text);
}

TEST_F(CommandLine, SolverIsChosen) {
  EXPECT_THAT(Execute(kReconstruct + " --print-config").text, HasSubstr("\"solver\": \"reduced\""));
  EXPECT_THAT(Execute(kReconstruct + " --print-config --solver eliminated").text, HasSubstr("\"solver\": \"reduced\""));
  EXPECT_THAT(Execute(kReconstruct + " --print-config --solver stock").text, HasSubstr("\"solver\": \"stock\""));
  const Outcome refused = Execute(kReconstruct + " --solver other");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.text, HasSubstr("--solver"));
}

TEST_F(CommandLine, AFailedSelfTestOfTheSolverIsSaid) {
  const std::string failing = "RETRACE_SOLVER_SELF_TEST=fail ";
  const std::string warning = ": warning: the self-test of the reduced solver failed, so the stock solver is used";
  const std::string run = Path("run");
  const Outcome made = Execute(failing + kReconstruct + " " + kClip + kSmall + "--output " + run);
  ASSERT_EQ(made.code, 0) << made.text;
  EXPECT_THAT(made.text, HasSubstr("reconstruct" + warning));
  const auto solver = io::ReadJson(run + "/manifest.json")["solver"].get<std::string>();
  EXPECT_EQ(solver, "stock: RETRACE_SOLVER_SELF_TEST is set to fail");
  // The control names the solver that it was found with, and so replays to the bit where the self-test succeeds.
  EXPECT_THAT(io::ReadFile(run + "/control.json"), HasSubstr("\"solver\":\"stock\""));
  const Outcome verified = Execute(kReplay + " " + run + " --verify");
  EXPECT_EQ(verified.code, 0) << verified.text;
  EXPECT_THAT(verified.text, testing::Not(HasSubstr("warning")));
  // It is another run than that of the same command elsewhere, and its bytes are those of the configured solver.
  const Outcome other = Execute(kReconstruct + " " + kClip + kSmall + "--resume --output " + run);
  EXPECT_EQ(other.code, 2) << other.text;
  const std::string stock = SmallRun("stock", "--solver stock");
  EXPECT_EQ(io::ReadFile(run + "/control.json"), io::ReadFile(stock + "/control.json"));
  const std::string plain = SmallRun("plain");
  EXPECT_EQ(io::ReadJson(plain + "/manifest.json")["solver"], "reduced");
  EXPECT_THAT(Execute(failing + kReplay + " " + plain).text, HasSubstr("replay" + warning));
  const std::string list = Write("list.tsv", "clip\tend\tseeds\n" + kClip + "\t0.2\t1\n");
  EXPECT_THAT(Execute(failing + kEvaluate + " " + list +
                      " --method sampling --samples 40 --saved 8 --progress none --output " + Path("out"))
                  .text,
              HasSubstr("evaluate" + warning));
}

TEST_F(CommandLine, DryRunTellsAndWritesNothing) {
  const Outcome outcome = Execute("cd " + folder_.string() + " && " + kReconstruct + " " + kClip + " --dry-run");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, HasSubstr("locomotion"));
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_THAT(Execute(kReconstruct + " --version").text, HasSubstr("reconstruct "));
}

TEST_F(CommandLine, RunFolderIsCompleteAndReplays) {
  const std::string run = SmallRun("run");
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  for (const char* key : {"status", "success", "evaluation", "command", "configuration", "seed", "inputs", "reference",
                          "preparation", "cost", "workers", "provenance", "files"}) {
    EXPECT_TRUE(manifest.contains(key)) << key;
  }
  EXPECT_TRUE(manifest["success"].get<bool>());
  for (const auto& file : manifest["files"]) {
    const std::string bytes = io::ReadFile(run + "/" + file["name"].get<std::string>());
    EXPECT_EQ(io::Sha256(bytes), file["sha256"].get<std::string>());
  }
  EXPECT_EQ(manifest["files"].size(), 13u);
  // Only what the manifest names, the manifest, and README.txt.
  EXPECT_EQ(std::distance(fs::directory_iterator(run), fs::directory_iterator{}), 15);

  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  const Outcome tracked = Execute(kReplay + " " + run + " --track-only --output " + Path("tracked"));
  EXPECT_THAT(tracked.code, testing::AnyOf(0, 4)) << tracked.text;
  std::string table = io::ReadFile(run + "/trajectory.csv");
  const size_t digit = table.rfind('.') + 1;
  table[digit] = table[digit] == '1' ? '2' : '1';
  io::WriteFile(run + "/trajectory.csv", table);
  const Outcome changed = Execute(kReplay + " " + run + " --verify");
  EXPECT_EQ(changed.code, 4);
  EXPECT_THAT(changed.text, HasSubstr("trajectory.csv:"));
}

TEST_F(CommandLine, TheInsideViewFollowsFromTheContacts) {
  const std::string run = SmallRun("run");
  const results::Table contacts = results::ReadTable(run + "/contacts.csv");
  const results::Table totals = results::ReadTable(run + "/contact_totals.csv");
  const auto sum = [](const std::vector<double>& numbers) {
    double total = 0;
    for (const double number : numbers) total += number;
    return total;
  };
  const double normal = sum(totals.Numbers("normal_force"));
  EXPECT_GT(normal, 0);
  EXPECT_NEAR(sum(contacts.Numbers("force_y")), normal, 1e-6 * normal)
      << "on level ground; feet do not touch each other";
  EXPECT_NEAR(sum(results::ReadTable(run + "/body_contacts.csv").Numbers("normal_force")), normal, 1e-9 * normal);
  const results::Table map = results::ReadTable(run + "/pressure.csv");
  const auto area = map.Numbers("area");
  const auto pressure = map.Numbers("pressure");
  double mapped = 0;
  for (size_t i = 0; i < area.size(); ++i) mapped += area[i] * pressure[i];
  EXPECT_NEAR(4 * mapped, normal, 1e-5 * normal) << "a frame is the mean over four steps";
  const results::Table summary = results::ReadTable(run + "/contact_summary.csv");
  EXPECT_EQ(summary.Text("body").back(), "all");
  EXPECT_NEAR(summary.Numbers("impulse").back(), normal / 240, 1e-9 * normal);

  const Outcome replayed = Execute(kReplay + " " + run + " --output " + Path("again"));
  EXPECT_EQ(replayed.code, 0) << replayed.text;
  for (const char* file : {"body_contacts.csv", "contact_totals.csv", "contact_summary.csv", "pressure.csv"}) {
    EXPECT_EQ(io::ReadFile(Path("again") + "/" + file), io::ReadFile(run + "/" + file)) << file;
  }
  // They are verified too.
  io::WriteFile(run + "/pressure.csv", "time\n");
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 4);
  fs::remove(run + "/pressure.csv");
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 4);
  // Without a manifest it is unknown what else was removed.
  fs::remove(run + "/manifest.json");
  const Outcome unsealed = Execute(kReplay + " " + run + " --verify");
  EXPECT_EQ(unsealed.code, 4);
  EXPECT_THAT(unsealed.text, HasSubstr("manifest.json: no such file"));
}

TEST_F(CommandLine, PushesAreSaidInTheirSyntaxOrRefused) {
  const std::string run = SmallRun("run");
  ExpectRefusals(kReplay,
                 {
                     {run + " --push trunk", 2, "expected BODY,FX:FY:FZ,START,DURATION"},
                     {run + " --push tail,1:0:0,0,1", 2, "found the body \"tail\", expected one of head, trunk"},
                     {run + " --push trunk,1:0,0,1", 2, "found the force \"1:0\""},
                     {run + " --push trunk,0:0:0,0,1", 2, "not all 0"},
                     {run + " --push trunk,1:0:0,0.6,1", 2, "found the start \"0.6\", expected an instant"},
                     {run + " --push trunk,1:0:0,0.1,0", 2, "found the duration \"0\""},
                     {run + " --push trunk,1:0:0,0.1,0.1 --verify", 2, "--verify"},
                     {run + " --push-table trunk --verify", 2, "--verify"},
                     {run + " --push-table trunk --push trunk,1:0:0,0,1", 2, "--push-table"},
                     {run + " --push-table tail", 2, "found the body \"tail\""},
                     {run + " --push-table trunk --push-times 0.7", 2, "found the start \"0.7\""},
                     {run + " --push-forces 10", 2, "--push-table"},
                     {run + " --push-table trunk --push-forces=-10", 2, "--push-forces"},
                 });
}

TEST_F(CommandLine, APushedReplayIsMarkedAndNeverTakenForTheRunItself) {
  const std::string run = SmallRun("run");
  const std::string pushed = Path("pushed");
  const Outcome weak = Execute(kReplay + " " + run + " --push trunk,0:0:20,0.1,0.1 --output " + pushed);
  EXPECT_EQ(weak.code, 0) << weak.text;
  EXPECT_THAT(weak.text, HasSubstr("pushed: trunk by 0:0:20 N from 0.10 to 0.20 s"));
  EXPECT_THAT(weak.text, HasSubstr("pushed, within tolerance"));
  const io::Json manifest = io::ReadJson(pushed + "/manifest.json");
  EXPECT_EQ(manifest["program"], "replay under pushes");
  EXPECT_EQ(manifest["perturbed"], true);
  EXPECT_EQ(manifest["pushes"],
            io::ParseJson(R"([{"body": "trunk", "force": [0.0, 0.0, 20.0], "start": 0.1, "duration": 0.1}])", "t"));
  EXPECT_THAT(io::ReadFile(pushed + "/filmstrip.svg"), HasSubstr("pushed"));
  EXPECT_NE(io::ReadFile(pushed + "/trajectory.csv"), io::ReadFile(run + "/trajectory.csv"));
  const Outcome verified = Execute(kReplay + " " + pushed + " --verify");
  EXPECT_EQ(verified.code, 0) << verified.text;
  EXPECT_THAT(verified.text, HasSubstr("under the pushes of its manifest"));
  EXPECT_THAT(Execute(kReplay + " " + pushed).text, HasSubstr("this is its control without them"));
  EXPECT_FALSE(io::ReadJson(run + "/manifest.json").contains("perturbed"));

  const Outcome strong = Execute(kReplay + " " + run + " --push trunk,0:0:4000,0.1,0.1 --push head,900:0:0,0.2,0.1");
  EXPECT_EQ(strong.code, 4) << strong.text;
  EXPECT_THAT(strong.text, HasSubstr("pushed, out of tolerance"));
  EXPECT_THAT(strong.text, HasSubstr("pushed: head by 900:0:0 N"));
}

TEST_F(CommandLine, CharactersOfOtherRunsJoinARun) {
  const std::string run = SmallRun("run");
  const std::string other = SmallRun("other", "--seed 2");
  const std::string scene = Path("scene");
  const Outcome joined = Execute(kReplay + " " + run + " --with " + other + ",0,1.5,180 --output " + scene);
  EXPECT_EQ(joined.code, 0) << joined.text;
  EXPECT_THAT(joined.text, HasSubstr("with: character 2 is human of " + other));
  EXPECT_THAT(joined.text, HasSubstr(run + ", character 1 (human): within tolerance"));
  EXPECT_THAT(joined.text, HasSubstr(run + ", character 2 (human): within tolerance"));
  // They do not touch: the first one's motion has not changed.
  for (const char* table : {"/trajectory.csv", "/contacts.csv", "/torques.csv", "/pressure.csv"}) {
    EXPECT_EQ(io::ReadFile(scene + "/character_1" + table), io::ReadFile(run + table)) << table;
  }
  const Outcome verified = Execute(kReplay + " " + scene + " --verify");
  EXPECT_EQ(verified.code, 0) << verified.text;
  EXPECT_THAT(verified.text, HasSubstr("of 2 characters are the same to the bit"));
  const Outcome replayed = Execute(kReplay + " " + scene);
  EXPECT_EQ(replayed.code, 0) << replayed.text;
  EXPECT_THAT(replayed.text, HasSubstr(scene + ", character 2 (human): within tolerance"));

  const Outcome pushed = Execute(kReplay + " " + scene + " --push 2:trunk,0:0:4000,0.1,0.1");
  EXPECT_EQ(pushed.code, 4) << "one of them is out of tolerance";
  EXPECT_THAT(pushed.text, HasSubstr("pushed: 2:trunk by 0:0:4000 N from 0.10 to 0.20 s"));
  EXPECT_THAT(pushed.text, HasSubstr("character 1 (human): pushed, within tolerance"));
  EXPECT_THAT(pushed.text, HasSubstr("character 2 (human): pushed, out of tolerance"));
  const std::string three = Path("three");
  const Outcome again = Execute(kReplay + " " + scene + " --with " + run + ",3,0 --output " + three);
  EXPECT_EQ(again.code, 0) << again.text;
  EXPECT_TRUE(fs::exists(three + "/character_3/motion.bvh"));
  ExpectRefusals(
      kReplay, {
                   {scene + " --push trunk,0:0:1,0,1", 2, "found the body \"trunk\", expected one of 1:head, 1:trunk"},
                   {scene + " --push 4:trunk,0:0:1,0,1", 2, "found the body \"4:trunk\""},
                   {three + " --push-table 1:trunk", 2, "found 3 characters, expected one: --push-table is of one"},
                   {three + " --world ice", 2, "found 3 characters, expected one: a world is placed along"},
                   {run + " --with " + other + " --push-table trunk", 2, "it cannot go with --with"},
                   {run + " --with " + other + " --verify", 2, "it cannot go with --with"},
                   {run + " --with " + other + ",1", 2, "found 2 parts between commas, expected OTHER, OTHER,X,Z"},
                   {run + " --with " + other + ",1,far", 2, "found \"far\""},
                   {run + " --with " + Path("none"), 3, "none: found no such folder, expected the folder of a run"},
                   {run + " --with " + Path("crates") + " --world crates", 3, "crates: found no such folder"},
               });
  // A run over a scene leaves nothing of it.
  EXPECT_EQ(Execute(kReplay + " " + run + " --output " + scene + " --force").code, 0);
  EXPECT_FALSE(fs::exists(scene + "/character_1"));
  EXPECT_EQ(Execute(kReplay + " " + scene + " --verify").code, 0);
}

TEST_F(CommandLine, OnlyTheRunsOwnWorldMayHaveThingsInIt) {
  const std::string run = SmallRun("run");
  const std::string crates = SmallRun("crates", "--world crates");
  ExpectRefusals(kReplay, {{run + " --with " + crates, 2, "a world with things of its own"}});
  const Outcome joined = Execute(kReplay + " " + run + " --world crates --with " + run + ",3,0 --output " + Path("s"));
  EXPECT_THAT(joined.code, testing::AnyOf(0, 4)) << joined.text;
  EXPECT_EQ(Execute(kReplay + " " + Path("s") + " --verify").code, 0);
  const Outcome other_way = Execute(kReplay + " " + crates + " --with " + run + ",3,0 --output " + Path("t"));
  EXPECT_THAT(other_way.code, testing::AnyOf(0, 4)) << other_way.text;
  EXPECT_EQ(Execute(kReplay + " " + Path("t") + " --verify").code, 0);
}

TEST_F(CommandLine, APushWorksInAWorldWithFreeBodies) {
  const std::string run = SmallRun("run");
  const Outcome pushed = Execute(kReplay + " " + run + " --world crates --push trunk,0:0:20,0.1,0.1");
  EXPECT_THAT(pushed.code, testing::AnyOf(0, 4)) << pushed.text;
  EXPECT_THAT(pushed.text, HasSubstr("pushed: trunk by 0:0:20 N"));
}

TEST_F(CommandLine, ATableOfPushesSaysHowLongTheControlSurvives) {
  const std::string run = SmallRun("run");
  const std::string table_folder = Path("table");
  const Outcome outcome = Execute(kReplay + " " + run + " --push-table trunk --push-forces 1,4000 --push-times 0.1 " +
                                  "--push-duration 0.1 --output " + table_folder);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("pushed at trunk for 0.10 s"));
  const results::Table table = results::ReadTable(table_folder + "/push_table.csv");
  ASSERT_EQ(table.num_rows(), 8u);
  for (size_t row = 0; row < 8; ++row) {
    const bool strong = table.Numbers("force")[row] == 4000;
    EXPECT_EQ(table.Numbers("left")[row], strong) << row;
    EXPECT_EQ(table.Text("gate")[row].empty(), !strong);
    if (strong) {
      EXPECT_LT(table.Numbers("survived")[row], 0.4);
    } else {
      EXPECT_NEAR(table.Numbers("survived")[row], 0.4, 1e-9);
    }
    const double size = std::hypot(table.Numbers("force_x")[row], table.Numbers("force_z")[row]);
    EXPECT_NEAR(size, table.Numbers("force")[row], 1e-9 * size);
  }
  EXPECT_EQ(io::ReadJson(table_folder + "/manifest.json")["program"], "replay of a push table");
  io::Json manifest = io::ReadJson(run + "/manifest.json");
  manifest["configuration"]["gates"]["joint_position"] = 1e-6;
  io::WriteFile(run + "/manifest.json", manifest.dump());
  const Outcome outside = Execute(kReplay + " " + run + " --push-table trunk");
  EXPECT_EQ(outside.code, 4);
  EXPECT_THAT(outside.text, HasSubstr("without a push: there is nothing to survive"));
}

TEST_F(CommandLine, WorldsArePartOfTheControl) {
  const std::string run = SmallRun(
      "run", "--world platform --world " + std::string(RETRACE_SOURCE_DIR) + "/data/worlds/pebbles.json --threads 2");
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["world"]["names"], io::Json({"platform", "pebbles"}));
  EXPECT_GT(manifest["world"]["free_bodies"].get<int>(), 5);
  std::set<std::string> inputs;
  for (const auto& input : manifest["inputs"]) inputs.insert(fs::path(input["file"].get<std::string>()).filename());
  EXPECT_TRUE(inputs.contains("platform.json") && inputs.contains("pebbles.json"));
  EXPECT_THAT(io::ReadFile(run + "/contacts.csv"), HasSubstr(",platform,"));
  EXPECT_EQ(Execute("cd / && " + kReplay + " " + run + " --verify").code, 0);
  const std::string again = SmallRun("again", "--world platform --world pebbles --threads 1");
  EXPECT_EQ(io::ReadFile(run + "/control.json"), io::ReadFile(again + "/control.json"));
  // The same control elsewhere, where it need not succeed.
  const Outcome moved = Execute(kReplay + " " + run + " --world ice --world vest --output " + Path("moved"));
  EXPECT_TRUE(moved.code == 0 || moved.code == 4) << moved.text;
  EXPECT_THAT(moved.text, HasSubstr("world: ice + vest: ground friction 0.1, 10 kg on trunk"));
  EXPECT_EQ(Execute(kReplay + " " + Path("moved") + " --verify").code, 0);
}

TEST_F(CommandLine, AControlOfAPlainFloorSaysNothingOfWorlds) {
  const std::string run = SmallRun("run");
  EXPECT_THAT(io::ReadFile(run + "/control.json"), testing::Not(HasSubstr("environment")));
  EXPECT_FALSE(io::ReadJson(run + "/manifest.json").contains("world"));
}

TEST_F(CommandLine, WorldsThatMakeNoSenseAreRefused) {
  const std::string world = R"({"format": "retrace-world", "version": 1, "environment": {"boxes": [{"name": "a"}]}})";
  const std::string bad = Write("bad.json", world);
  ExpectRefusals(kReconstruct,
                 {
                     {kClip + " --world nowhere", 2, "expected a JSON file or one of: armchair, balls, beam10, beam5"},
                     {kClip + " --world ice --world ice", 2, "found the ground's friction twice"},
                     {kClip + " --world " + bad, 3, "bad.json: /environment/boxes/0"},
                     {kClip + " --world " + Path("none.json"), 3, "none.json"},
                 });
  const std::string run = SmallRun("run");
  ExpectRefusals(kReplay, {{run + " --verify --world ice", 2, "--world"}});
  const Outcome outcome = Execute(kReconstruct + " " + kWalkClip + " --dry-run --world step");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, HasSubstr("world: step: step"));
  EXPECT_THAT(outcome.text, HasSubstr("heights follow the ground"));
  EXPECT_THAT(outcome.text, HasSubstr("warning: the reference is inside step"));
}

TEST_F(CommandLine, ForcesObeyNewtonsLaw) {
  const std::string run = SmallRun("run");
  const results::Table table = results::ReadTable(run + "/trajectory.csv");
  const auto time = table.Numbers("time");
  const double mass = 62.5316;
  double residual = 0;
  const char* const axes[] = {"x", "y", "z"};
  for (int a = 0; a < 3; ++a) {
    const auto velocity = table.Numbers(std::string("com_v") + axes[a]);
    const auto force = table.Numbers(std::string("force_") + axes[a]);
    for (size_t i = 1; i < time.size(); ++i) {
      const double acceleration = (velocity[i] - velocity[i - 1]) / (time[i] - time[i - 1]);
      residual +=
          std::abs(force[i] - mass * (acceleration + (a == 1 ? 9.81 : 0))) / static_cast<double>(time.size() - 1);
    }
  }
  EXPECT_LT(residual, 0.01 * mass * 9.81);
}

TEST_F(CommandLine, BelowTheGatesIsCodeFourWithAllFiles) {
  const std::string run = Path("run");
  EXPECT_EQ(Execute(kReconstruct + " " + kClip + kSmall +
                    "--set /gates/joint_position=1e-6 --set /search/max_back_offs=3 --output " + run)
                .code,
            4);
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_FALSE(manifest["success"].get<bool>());
  EXPECT_FALSE(manifest["evaluation"]["completed"].get<bool>());
  EXPECT_LT(manifest["evaluation"]["simulated_duration"].get<double>(), 0.5);
  EXPECT_TRUE(fs::exists(run + "/control.json"));
  EXPECT_EQ(manifest["files"].size(), 12u);
}

TEST_F(CommandLine, ALostRunSaysWhereAndKeepsItsBeginning) {
  const std::string run = Path("run");
  const std::string tight =
      " --end 1.2 --method sampling --samples 40 --saved 8 --progress plain --set /gates/root_height=0.01 --set " +
      std::string("/gates/joint_position=0.02 --set /schedule/segmentation=off --set /run/baseline=reference");
  const Outcome failed = Execute(kReconstruct + " " + kClip + tight + " --set /search/max_back_offs=2 --output " + run);
  EXPECT_EQ(failed.code, 4) << failed.text;
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["status"], "left-gates");
  EXPECT_EQ(manifest["search"]["ending"], "left-gates");
  const io::Json failure = manifest["search"]["failure"];
  const double reached = manifest["evaluation"]["simulated_duration"].get<double>();
  EXPECT_GT(reached, 0);
  EXPECT_LT(reached, 1.1);
  EXPECT_NEAR(failure["start"].get<double>(), reached, 1e-9);
  EXPECT_THAT(failed.text, HasSubstr("not reconstructed, out of tolerance at " + std::to_string(reached).substr(0, 4) +
                                     " of 1.20 s"));
  EXPECT_THAT(failed.text, HasSubstr("no sample stays within tolerance; drawn "));
  EXPECT_THAT(failed.text, HasSubstr("to try next: the setting /search/max_back_offs=1000 (it has gone back 2 times"));

  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  const Outcome replayed = Execute(kReplay + " " + run + " --output " + Path("again"));
  EXPECT_EQ(replayed.code, 4);
  EXPECT_THAT(replayed.text, HasSubstr("ends after " + std::to_string(reached).substr(0, 4) +
                                       " of 1.20 s: the control goes no further"));
  EXPECT_EQ(io::ReadJson(Path("again") + "/manifest.json")["status"], "partial");
  EXPECT_EQ(io::ReadFile(Path("again") + "/trajectory.csv"), io::ReadFile(run + "/trajectory.csv"));
}

TEST_F(CommandLine, ASpentBudgetIsNamed) {
  const std::string run = Path("run");
  const Outcome spent = Execute(
      kReconstruct + " " + kClip +
      " --end 0.5 --method sampling --samples 60 --saved 12 --progress plain --set /search/budget=40 --output " + run);
  EXPECT_EQ(spent.code, 4) << spent.text;
  EXPECT_THAT(spent.text, HasSubstr("the budget, 40, has no room for another fragment"));
  EXPECT_THAT(spent.text, HasSubstr("to try next: the setting /search/budget="));
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["status"], "budget");
  EXPECT_FALSE(manifest["search"]["failure"].contains("fragment")) << "the last sample was within tolerance";
  // What it advises does.
  const std::string advice = manifest["search"]["failure"]["advice"][0]["set"];
  EXPECT_EQ(Execute(kReconstruct + " " + kClip + kSmall + "--set " + advice + " --output " + Path("more")).code, 0);
}

TEST_F(CommandLine, NothingAtAllIsKeptAndSaid) {
  const std::string run = Path("run");
  const Outcome failed =
      Execute(kReconstruct + " " + kClip + " --end 0.5 --method sampling --samples 20 --saved 4 --progress plain" +
              " --set /gates/joint_position=1e-6 --set /search/max_back_offs=1 --output " + run);
  EXPECT_EQ(failed.code, 4) << failed.text;
  EXPECT_THAT(failed.text, HasSubstr("out of tolerance at 0.00 of 0.50 s"));
  EXPECT_THAT(failed.text, HasSubstr("fragment 1 of 5"));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
}

TEST_F(CommandLine, TheEndIsJudgedAndWhatFollowsItIsKept) {
  const std::string stand =
      kReconstruct + " " + RETRACE_SOURCE_DIR + "/data/clips/stand.bvh --end 0.5 --progress plain ";
  const Outcome judged = Execute(stand + "--check-continuation 1 --output " + Path("judged"));
  ASSERT_EQ(judged.code, 0) << judged.text;
  EXPECT_THAT(judged.text, HasSubstr("the end is viable: on the feet for 1.0 s more "));
  const io::Json end = io::ReadJson(Path("judged") + "/manifest.json")["end"];
  EXPECT_EQ(end["verdict"], "viable");
  EXPECT_EQ(end["seconds"], 1);
  EXPECT_EQ(Execute(kReplay + " " + Path("judged") + " --verify").code, 0);
  // What goes on replays in a folder of its own.
  fs::create_directories(Path("onward"));
  fs::copy_file(Path("judged") + "/continuation.json", Path("onward") + "/control.json");
  const Outcome onward = Execute(kReplay + " " + Path("onward"));
  EXPECT_EQ(onward.code, 0) << onward.text;
  const Outcome without = Execute(stand + "--check-continuation 0 --output " + Path("without"));
  ASSERT_EQ(without.code, 0) << without.text;
  EXPECT_THAT(without.text, testing::Not(HasSubstr("the end is")));
  EXPECT_FALSE(fs::exists(Path("without") + "/continuation.json"));
  EXPECT_FALSE(io::ReadJson(Path("without") + "/manifest.json").contains("end"));
  EXPECT_EQ(io::ReadFile(Path("without") + "/control.json"), io::ReadFile(Path("judged") + "/control.json"));
}

TEST_F(CommandLine, SamplesAreWrittenOnRequest) {
  const std::string run = SmallRun("run");
  EXPECT_FALSE(fs::exists(run + "/samples.csv"));
  const std::string all = SmallRun("all", "--sample-costs");
  for (const char* file : {"control.json", "costs.csv", "trajectory.csv"}) {
    EXPECT_EQ(io::ReadFile(run + "/" + file), io::ReadFile(all + "/" + file)) << file;
  }
  const results::Table iterations = results::ReadTable(run + "/costs.csv");
  const results::Table samples = results::ReadTable(all + "/samples.csv");
  const std::vector<double> drawn = iterations.Numbers("samples");
  EXPECT_EQ(std::accumulate(drawn.begin(), drawn.end(), 0.0), static_cast<double>(samples.num_rows()));
  const std::vector<double> chosen = samples.Numbers("chosen");
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), 1),
            static_cast<long>(io::ReadJson(run + "/control.json")["fragments"].size()));
  EXPECT_LT(10 * fs::file_size(run + "/costs.csv"), fs::file_size(all + "/samples.csv"));
  EXPECT_EQ(Execute(kReplay + " " + all + " --verify").code, 0);
  const Outcome none =
      Execute(kReconstruct + " " + kClip + " --method trajectory --sample-costs --output " + Path("none"));
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.text, HasSubstr("found the method trajectory for the costs of samples, expected auto or sampling"));
  // A run without them does not leave those of another behind.
  ASSERT_EQ(Execute(kReconstruct + " " + kClip + kSmall + "--force --output " + all).code, 0);
  EXPECT_FALSE(fs::exists(all + "/samples.csv"));
}

TEST_F(CommandLine, VariationsAreWholeRunsOfOneSeedEach) {
  const std::string all = Path("all");
  const std::string walk = kReconstruct + " " + kWalkClip + kSmall;
  const Outcome outcome = Execute(walk + "--seed 5 --variations 3 --output " + all);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.text, "");
  const io::Json list = io::ReadJson(all + "/variations.json");
  EXPECT_TRUE(list["success"].get<bool>());
  EXPECT_EQ(list["found"], 3);
  const results::Table table = results::ReadTable(all + "/variations.csv");
  ASSERT_EQ(table.num_rows(), 3u);
  std::set<std::string> controls;
  for (size_t v = 0; v < 3; ++v) {
    const std::string run = all + "/" + std::to_string(v + 1);
    EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
    EXPECT_EQ(Execute(kReplay + " " + run).code, 0);
    const io::Json manifest = io::ReadJson(run + "/manifest.json");
    EXPECT_EQ(manifest["files"].size(), 12u);
    EXPECT_EQ(manifest["variation"], (io::Json{{"number", v + 1}, {"of", 3}}));
    const auto seed = manifest["seed"].get<uint64_t>();
    EXPECT_GE(seed, 5u);
    EXPECT_EQ(table.Numbers("seed")[v], static_cast<double>(seed));
    EXPECT_EQ(table.Numbers("joint_error")[v], manifest["evaluation"]["mean_joint_error"].get<double>());
    EXPECT_EQ(table.Numbers("drift")[v], manifest["evaluation"]["drift"].get<double>());
    EXPECT_EQ(table.Numbers("cost")[v], manifest["search"]["path_cost"].get<double>());
    EXPECT_EQ(table.Numbers("simulated_seconds")[v], manifest["cost"]["simulated_seconds"].get<double>());
    const std::string control = io::ReadFile(run + "/control.json");
    EXPECT_EQ(list["variations"][v]["control_sha256"], io::Sha256(control));
    controls.insert(control);
    // The same as a run of that seed alone.
    const std::string alone = Path("alone" + std::to_string(v));
    ASSERT_EQ(Execute(walk + "--seed " + std::to_string(seed) + " --output " + alone).code, 0);
    for (const char* file : {"control.json", "trajectory.csv", "costs.csv"}) {
      EXPECT_EQ(io::ReadFile(alone + "/" + file), io::ReadFile(run + "/" + file)) << file;
    }
  }
  EXPECT_EQ(controls.size(), 3u);

  const results::Table spread = results::ReadTable(all + "/spread.csv");
  EXPECT_EQ(spread.num_rows(), 121u);  // 0.5 s of 1/240 s
  EXPECT_EQ(spread.Numbers("root")[0], 0) << "all start alike";
  EXPECT_GT(spread.Numbers("joints")[120], 0);
  EXPECT_GT(spread.Numbers("targets")[120], 0);
  const io::Json pairs = list["spread"]["pairs"];
  EXPECT_GT(pairs["smallest"].get<double>(), 0);
  EXPECT_LE(pairs["smallest"].get<double>(), pairs["median"].get<double>());
  EXPECT_LE(pairs["median"].get<double>(), pairs["largest"].get<double>());
}

TEST_F(CommandLine, EqualControlsCountOnceAndWhatWasFoundIsKept) {
  const std::string all = Path("all");
  const std::string walk = kReconstruct + " " + kWalkClip + kSmall + "--output " + all;
  ASSERT_EQ(Execute(walk + " --variations 2").code, 0);
  EXPECT_EQ(Execute(walk + " --variations 2").code, 2) << "the folder is in use";
  // Without displacements every seed gives the same control.
  const Outcome outcome =
      Execute(walk + " --variations 2 --max-tries 4 --force --set /search/window_scale=0 --set /search/refit=false " +
              "--set /refinement/passes=0");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.text, "reconstruct: found 1 of 2 variations with 4 seeds: 0 not within tolerance, 3 the same\n");
  const io::Json list = io::ReadJson(all + "/variations.json");
  EXPECT_FALSE(list["success"].get<bool>());
  EXPECT_EQ(list["found"], 1);
  ASSERT_EQ(list["tries"].size(), 4u);
  EXPECT_EQ(list["tries"][0]["folder"], "1");
  EXPECT_EQ(list["tries"][3]["same_as"], "1");
  EXPECT_TRUE(list["spread"]["pairs"]["smallest"].is_null());
  EXPECT_EQ(Execute(kReplay + " " + all + "/1 --verify").code, 0);
  EXPECT_FALSE(fs::exists(all + "/2")) << "left from before";
}

TEST_F(CommandLine, VariationsThatFailAreListedWithTheirFailure) {
  const std::string all = Path("all");
  const Outcome outcome =
      Execute(kReconstruct + " " + kClip +
              " --end 0.5 --method sampling --samples 20 --saved 4 --progress plain --variations 1 " +
              "--set /gates/joint_position=1e-6 --set /search/max_back_offs=1 --output " + all);
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("seed 3: left-gates after 0.00 of 0.50 s\n  fragment 1 of 5"));
  EXPECT_THAT(outcome.text, HasSubstr("found 0 of 1 variations with 3 seeds: 3 not within tolerance, 0 the same"));
  const io::Json list = io::ReadJson(all + "/variations.json");
  EXPECT_EQ(list["tries"][2]["status"], "left-gates");
  EXPECT_EQ(list["tries"][2]["failure"]["fragment"], 0);
  EXPECT_FALSE(list.contains("spread"));
  EXPECT_EQ(results::ReadTable(all + "/variations.csv").num_rows(), 0u);
  EXPECT_FALSE(fs::exists(all + "/1"));
}

TEST_F(CommandLine, ABodyOnFourLegsIsReconstructedLikeAnyOther) {
  const std::string trot = std::string(RETRACE_SOURCE_DIR) + "/data/clips/trot.bvh --character quadruped";
  const Outcome inspected = Execute(kInspect + " " + trot);
  EXPECT_EQ(inspected.code, 0) << inspected.text;
  EXPECT_THAT(inspected.text, HasSubstr("joints recognized by: the character's own names"));
  EXPECT_THAT(inspected.text, HasSubstr("motion      locomotion"));
  EXPECT_THAT(inspected.text, HasSubstr("left_fore_foot 0.12-0.40"));
  EXPECT_THAT(inspected.text, testing::Not(HasSubstr("warning")));
  const std::string run = Path("run");
  const Outcome outcome =
      Execute(kReconstruct + " " + trot +
              " --end 1 --method sampling --samples 200 --saved 40 --progress none --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  const results::Table summary = results::ReadTable(run + "/contact_summary.csv");
  EXPECT_THAT(summary.Text("body"), testing::UnorderedElementsAre("left_fore_foot", "right_fore_foot", "left_hind_foot",
                                                                  "right_hind_foot", "all"))
      << "it goes on its feet";
  const std::string walk = kWalkClip + " --character quadruped";
  ExpectRefusals(kReconstruct,
                 {{walk, 3, "expected joints named as the segments of the character, which is not human"}});
}

TEST_F(CommandLine, SameBytesForAnyNumberOfThreads) {
  std::string first;
  for (const int threads : {1, 2, 3}) {
    const std::string run = SmallRun(std::to_string(threads), "--threads " + std::to_string(threads));
    const std::string control = io::ReadFile(run + "/control.json");
    if (first.empty()) first = control;
    EXPECT_EQ(control, first) << threads << " threads";
  }
}

/// The C library rounds sines otherwise on a processor with fused multiply-add than on one without.
TEST_F(CommandLine, ResultsDoNotDependOnTheProcessor) {
  const std::string run = SmallRun("run");
  const std::string older =
      "GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F,-FMA_Usable,-FMA4_Usable,-AVX2_Usable ";
  const Outcome outcome = Execute(older + kReconstruct + " " + kClip + kSmall + "--output " + Path("older"));
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  for (const char* file : {"control.json", "trajectory.csv", "contacts.csv", "costs.csv", "reference.bvh"}) {
    EXPECT_TRUE(io::ReadFile(run + "/" + file) == io::ReadFile(Path("older/") + file)) << file;
  }
  EXPECT_EQ(Execute(older + kReplay + " " + run + " --verify").code, 0);
}

}  // namespace
}  // namespace retrace::apps
