/// evaluate as a user meets it: lists, tables, resuming, any number of workers, refusals.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/results/run_table.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kSamples = " --method sampling --samples 40 --saved 8 ";

class Evaluate : public CommandLine {
 protected:
  /// Two short clips with three runs, and one that is not there.
  void SetUp() override {
    CommandLine::SetUp();
    list_ = Write("list.tsv",
                  "# short\nclip\tstart\tend\tseeds\tgroup\tname\nsquat.bvh\t0\t0.3\t2\ta\t-\n"
                  "walk.bvh\t0\t0.2\t1\tb\tstep\nnone.bvh\n");
  }
  Outcome Run(const std::string& output, const std::string& more = "", const std::string& progress = "none") const {
    return Execute(kEvaluate + " " + list_ + " --clips " + kClips + kSamples + more + " --progress " + progress +
                   " --output " + Path(output));
  }
  /// runs.csv without the columns that tell times.
  std::string Rows(const std::string& output) const {
    const std::string path = Path(output) + "/runs.csv";
    std::vector<results::RunRow> rows = results::ParseRuns(io::ReadFile(path), path);
    for (results::RunRow& row : rows) {
      for (size_t f = 0; f < results::kFigures.size(); ++f) {
        if (results::kFigures[f].kind == results::FigureKind::kTiming) row.figures[f] = 0;
      }
    }
    return results::FormatRuns(rows);
  }
  std::string Read(const std::string& name) const { return io::ReadFile(Path(name)); }

  const std::string kClips = std::string(RETRACE_SOURCE_DIR) + "/data/clips";
  std::string list_;
};

TEST_F(Evaluate, LeavesTablesAndLightRunFolders) {
  const Outcome outcome = Run("out", "--threads 2", "plain");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("[3/3] "));
  EXPECT_THAT(outcome.text, HasSubstr("| squat | 2/2 (0.22) |"));
  EXPECT_THAT(outcome.text, HasSubstr("| none | skipped |"));
  const results::Table runs = results::ReadTable(Path("out") + "/runs.csv");
  EXPECT_EQ(runs.Text("clip"),
            (std::vector<std::string>{"squat", "squat", "step", "none", "none", "none", "none", "none"}));
  EXPECT_EQ(runs.Text("seed")[1], "2");
  EXPECT_EQ(runs.Text("replayed")[2], "1");
  EXPECT_EQ(runs.Text("status")[3], "skipped");
  EXPECT_THAT(runs.Text("message")[3], HasSubstr("none.bvh is missing"));
  EXPECT_THAT(Read("out/summary.md"), HasSubstr("| **all** | 3/3 |"));
  EXPECT_EQ(results::ReadTable(Path("out") + "/summary.csv").Text("scope").back(), "total");
  const std::string run = Path("out") + "/runs/step.1";
  EXPECT_EQ(std::distance(fs::directory_iterator(run), fs::directory_iterator{}), 2);
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_TRUE(manifest["metrics"]["torque_rms"].contains("left_knee"));
  EXPECT_EQ(Execute(kReplay + " " + run).code, 0);
  // A light folder has no tables to compare with, but their hashes.
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  std::string text = io::ReadFile(run + "/manifest.json");
  const auto hash = manifest["tables_sha256"]["contacts.csv"].get<std::string>();
  text.replace(text.find(hash), 4, hash[0] == '0' ? "1111" : "0000");
  io::WriteFile(run + "/manifest.json", text);
  const Outcome changed = Execute(kReplay + " " + run + " --verify");
  EXPECT_EQ(changed.code, 4);
  EXPECT_THAT(changed.text, HasSubstr("manifest.json: was changed since the run was written"));
  // The run is what reconstruct makes of the same clip and seed.
  const Outcome alone = Execute(kReconstruct + " " + kClips + "/walk.bvh --end 0.2 --seed 1" + kSamples +
                                "--progress none --output " + Path("alone"));
  EXPECT_EQ(alone.code, 0) << alone.text;
  EXPECT_EQ(Read("alone/control.json"), io::ReadFile(run + "/control.json"));
}

TEST_F(Evaluate, RowsHaveCharactersOfTheirOwn) {
  const std::string list = Write("characters.tsv",
                                 "clip\tname\tend\tcharacter\tsettings\nstand.bvh\thuman\t0.2\t-\t-\n"
                                 "stand.bvh\trobot\t0.2\tasimo\t/search/samples=24 /search/saved=6\n");
  const Outcome outcome =
      Execute(kEvaluate + " " + list + " --clips " + kClips + " --seeds 1 --method sampling --set /search/samples=40" +
              " --set /search/saved=8 --progress none --output " + Path("characters"));
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const io::Json human = io::ReadJson(Path("characters") + "/runs/human.1/control.json");
  const io::Json robot = io::ReadJson(Path("characters") + "/runs/robot.1/control.json");
  EXPECT_EQ(human["character"]["name"], "human");
  EXPECT_EQ(robot["character"]["name"], "asimo");
  const io::Json manifest = io::ReadJson(Path("characters") + "/runs/robot.1/manifest.json");
  EXPECT_EQ(manifest["configuration"]["search"]["samples"], 24);
  // The control holds the meshes: it replays in a fresh process, far from the character's file.
  EXPECT_EQ(Execute(kReplay + " " + Path("characters") + "/runs/robot.1 --verify").code, 0);
}

TEST_F(Evaluate, GivesTheSameRowsForAnyNumberOfThreads) {
  ASSERT_EQ(Run("one", "--threads 1").code, 0);
  ASSERT_EQ(Run("two", "--threads 2 --keep all").code, 0);
  EXPECT_EQ(Rows("one"), Rows("two"));
  EXPECT_TRUE(fs::exists(Path("two") + "/runs/squat.2/costs.csv"));
}

TEST_F(Evaluate, GoesOnWhereItWasStopped) {
  ASSERT_EQ(Run("whole").code, 0);
  const std::string bytes = Read("whole/runs.csv");
  // A part of the list, and a run that was killed before its manifest.
  ASSERT_EQ(Run("parts", "--only squat").code, 0);
  EXPECT_THAT(Read("parts/runs.csv"), Not(HasSubstr("step")));
  fs::remove(Path("parts") + "/runs/squat.2/manifest.json");
  const Outcome outcome = Run("parts", "", "plain");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, HasSubstr("[2/2] "));  // squat.2 and step.1
  EXPECT_EQ(Rows("parts"), Rows("whole"));
  // Nothing is left to do: not even the times change, and a part of the list forgets nothing.
  ASSERT_EQ(Run("whole", "--only step").code, 0);
  std::string without_skipped = bytes.substr(0, bytes.find("none,"));
  EXPECT_EQ(Read("whole/runs.csv"), without_skipped);
  ASSERT_EQ(Run("whole").code, 0);
  EXPECT_EQ(Read("whole/runs.csv"), bytes);
}

TEST_F(Evaluate, SharesMakeTheWhole) {
  ASSERT_EQ(Run("whole").code, 0);
  for (const char* share : {"2/3", "1/3", "3/3"}) ASSERT_EQ(Run("shared", std::string("--share ") + share).code, 0);
  const Outcome last = Run("shared", "", "plain");
  EXPECT_EQ(last.code, 0);
  EXPECT_THAT(last.text, Not(HasSubstr("[1/"))) << "something was left to run";
  EXPECT_EQ(Rows("shared"), Rows("whole"));
}

TEST_F(Evaluate, RefusesToMixConfigurations) {
  ASSERT_EQ(Run("out", "--only step").code, 0);
  const std::string before = Rows("out");
  const Outcome refused = Run("out", "--only step --set /gates/root_height=0.2");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.text,
              HasSubstr("step.1: found another run: /configuration/gates/root_height was 0.25 and is 0.2"));
  EXPECT_THAT(refused.text, HasSubstr("--force"));
  EXPECT_EQ(Rows("out"), before);
  EXPECT_EQ(Run("out", "--only step --set /gates/joint_position=1e-6 --force").code, 0);
  EXPECT_THAT(Rows("out"), HasSubstr("joint_position"));
}

TEST_F(Evaluate, TellsWhatCannotBeReadAndRunsTheRest) {
  Write("bad.bvh", "HIERARCHY\nROOT hips\n{\n  OFFSET 0 zero 0\n");
  list_ = Write("list.tsv", "clip\tend\tsettings\tname\n" + Path("bad.bvh") + "\n" + kClips +
                                "/walk.bvh\t0.2\t/search/samples=30 /search/saved=6\tstep\n");
  const Outcome outcome =
      Execute(kEvaluate + " " + list_ + " --seeds 1 --progress plain --threads 1 --output " + Path("out"));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.text, HasSubstr("bad seed 1: failed-input: " + Path("bad.bvh") + ":4:12: found"));
  EXPECT_THAT(outcome.text, HasSubstr("| step | 1/1"));
  const std::string failures =
      "retrace evaluate: 1 of 2 runs could not be made; bad, seed 1: " + Path("bad.bvh") + ":4:12: found";
  EXPECT_THAT(outcome.text, HasSubstr(failures));
  const Outcome silent =
      Execute(kEvaluate + " " + list_ + " --seeds 1 --progress none --threads 1 --output " + Path("silent"));
  EXPECT_EQ(silent.code, 3);
  EXPECT_THAT(silent.text, StartsWith(failures));
  EXPECT_EQ(io::ReadJson(Path("out") + "/runs/step.1/manifest.json")["configuration"]["search"]["samples"], 30);
}

TEST_F(Evaluate, ClipsBelowWhatIsRequiredAreCodeFour) {
  EXPECT_EQ(Run("out", "--only step --require 1").code, 0);
  EXPECT_EQ(Run("out", "--only step --require 0.5 --force --set /gates/joint_position=1e-6").code, 4);
  EXPECT_EQ(Run("out", "--only step --force --set /gates/joint_position=1e-6").code, 0);
}

TEST_F(Evaluate, MistakesGiveOneMessageAndTheirCode) {
  const auto list = [&](const std::string& name, const std::string& text) {
    return Write(name, text) + " --clips " + kClips + kSamples + "--progress none --output " + Path("out");
  };
  fs::create_directories(Path("full"));
  Write("full/notes.txt", "mine");
  ExpectRefusals(
      kEvaluate,
      {
          {"", 2, "a list of clips is needed"},
          {list_ + " --nonsense", 2, "--nonsense"},
          {list_ + " --require 2", 2, "--require"},
          {list_ + " --only '('", 2, "the clips \"(\": expected a regular expression"},
          {list_ + " --only nothing", 2, "no clip of"},
          {list_ + " --set /search/nonsense=1", 2, "there is no such setting"},
          {list_ + " --output " + Path("full"), 2, "other files"},
          {list_ + " --output " + list_, 5, "found a file"},
          {Path("none.tsv"), 3, "none.tsv"},
          {list("a.tsv", ""), 3, "a.tsv: found no clips"},
          {list("b.tsv", "# c\nclip\tspeed\n"), 3, "b.tsv:2: found the column \"speed\""},
          {list("c.tsv", "start\tend\n"), 3, "c.tsv:1: found no column \"clip\""},
          {list("d.tsv", "clip\tend\nwalk.bvh\tlast\n"), 3,
           "d.tsv:2: end: found \"last\", expected a number from 0 to 86400"},
          {list("e.tsv", "clip\tstart\tend\nwalk.bvh\t2\t1\n"), 3, "e.tsv:2: end: found \"1\""},
          {list("f.tsv", "clip\nwalk.bvh\t1\n"), 3, "f.tsv:2: found 2 cells, expected at most 1"},
          {list("g.tsv", "clip\nwalk.bvh\n\nwalk.bvh\n"), 3,
           "g.tsv:4: found the name \"walk\" of " + Path("g.tsv") + ":2"},
          {list("h.tsv", "clip\tseeds\nwalk.bvh\t1.5\n"), 3,
           "h.tsv:2: seeds: found 1.5, expected a whole number from 1 to 1000000"},
          {list("i.tsv", "clip\tsettings\nwalk.bvh\t/search/nonsense=1\n"), 3, "i.tsv:2: /search/nonsense"},
          {list("w.tsv", "clip\tworld\nwalk.bvh\tice+nowhere\n"), 3,
           "w.tsv:2: the world \"nowhere\": expected a JSON file"},
          {list("v.tsv", "clip\tworld\nwalk.bvh\tice+\n"), 3, "v.tsv:2: world: found \"ice+\""},
          {list("u.tsv", "clip\tworld\nwalk.bvh\tice+ice\n"), 3, "u.tsv:2: the worlds ice, ice"},
          {list("character.tsv", "clip\tcharacter\nwalk.bvh\tnobody\n"), 3,
           "character.tsv:2: the character \"nobody\": expected a JSON file or one of: adult, asimo, asimo_neck3, "
           "heavy, human, medium, planar_human, quadruped, slim"},
          {list("j.tsv", "clip\ttime_scale\nwalk.bvh\t0\n"), 3,
           "j.tsv:2: time_scale: found 0, expected a number from 0.01 to 100"},
          {list("k.tsv", "clip\tclip\n"), 3, "k.tsv:1: found the column \"clip\" twice"},
          {list("l.tsv", "clip\tname\nwalk.bvh\ta/b\n"), 3, "l.tsv:2: name: found \"a/b\""},
          // Rows 10, 16 and 18 of the list of defects.
          {list("m.tsv", "clip\tstart\nwalk.bvh\tnan\n"), 3, "m.tsv:2: start: found nan, expected a number from 0"},
          {list("n.tsv", "clip\tend\nwalk.bvh\t-1\n"), 3, "n.tsv:2: end: found -1, expected a number from 0"},
          {list("o.tsv", "clip\tseeds\nwalk.bvh\t18446744073709551617\n"), 3, "o.tsv:2: seeds: found"},
          {list("p.tsv", "clip\tname\nwalk.bvh\t" + std::string(300, 'n') + "\n"), 3, "of at most 100 bytes"},
          {list("q.tsv", "clip\tname\n" + std::string(300, 'n') + ".bvh\tx\n"), 3, "File name too long"},
          {"--compare " + Path("x") + " " + Path("y"), 3, Path("x")},
      });
}

TEST_F(Evaluate, MakesABodyOfTheRecordedPersonForEachClip) {
  std::string child = io::ReadFile(kClips + "/squat.bvh");
  const auto scale = [&](const std::string& offset, const std::string& shorter) {
    ASSERT_NE(child.find(offset), std::string::npos) << offset;
    for (size_t at = 0; (at = child.find(offset, at)) != std::string::npos;) child.replace(at, offset.size(), shorter);
  };
  scale("OFFSET 0 -0.42 0", "OFFSET 0 -0.36 0");
  Write("child.bvh", child);
  list_ = Write("subjects.tsv", "clip\tname\tend\tseeds\tcharacter\nsquat.bvh\tnamed\t0.3\t1\tsubject\n" +
                                    Path("child.bvh") + "\tchild\t0.3\t1\tsubject\n");
  ASSERT_EQ(Run("out").code, 0);
  const auto height = [&](const std::string& run) {
    const io::Json character = io::ReadJson(Path("out/runs/" + run + "/control.json"))["character"];
    EXPECT_EQ(character["name"], "subject");
    return character["height"].get<double>();
  };
  EXPECT_LT(height("child.1"), height("named.1") - 0.05);
  EXPECT_EQ(Execute(kReplay + " " + Path("out/runs/child.1") + " --verify").code, 0);
  list_ = Write("other.tsv", "clip\tname\tend\tseeds\nsquat.bvh\tplain\t0.3\t1\n");
  ASSERT_EQ(Run("all", "--character subject").code, 0);
  EXPECT_EQ(io::ReadJson(Path("all/runs/plain.1/control.json"))["character"],
            io::ReadJson(Path("out/runs/named.1/control.json"))["character"]);
  ExpectRefusals(kEvaluate, {{Write("robot.tsv", "clip\tcharacter\nwalk.bvh\tsubjects\n") + " --clips " + kClips +
                                  kSamples + "--progress none --output " + Path("refused"),
                              3, "robot.tsv:2: the character \"subjects\": expected a JSON file or one of: "}});
}

TEST_F(Evaluate, RunsClipsInWorlds) {
  list_ = Write("worlds.tsv",
                "clip\tname\tend\tseeds\tworld\nsquat.bvh\tplain\t0.3\t1\t-\nsquat.bvh\tcold\t0.3\t1\tice+platform\n");
  ASSERT_EQ(Run("out").code, 0);
  EXPECT_THAT(Read("out/runs/cold.1/control.json"), HasSubstr("\"friction\":0.1"));
  EXPECT_THAT(Read("out/runs/cold.1/control.json"), HasSubstr("platform"));
  EXPECT_THAT(Read("out/runs/plain.1/control.json"), Not(HasSubstr("environment")));
  EXPECT_EQ(Execute(kReplay + " " + Path("out/runs/cold.1") + " --verify").code, 0);
}

TEST_F(Evaluate, ComparesTwoFolders) {
  ASSERT_EQ(Run("a").code, 0);
  ASSERT_EQ(Run("b", "--set /gates/joint_position=1e-6").code, 0);
  const Outcome outcome = Execute(kEvaluate + " --compare " + Path("a") + " " + Path("b"));
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("| squat | 2/2 | 0/2 | 2 | 0 | 0.500 |"));
  EXPECT_THAT(outcome.text, HasSubstr("| **all** | 3/3 | 0/3 | 3 | 0 | 0.250 |"));
  EXPECT_NEAR(results::ReadTable(Path("b") + "/compare.csv").Numbers("mcnemar_p").back(), 0.25, 1e-12);
  list_ = Write("other.tsv", "clip\tname\tend\nwalk.bvh\tother\t0.2\n");
  ASSERT_EQ(Run("c", "--seeds 1").code, 0);
  const Outcome nothing = Execute(kEvaluate + " --compare " + Path("a") + " " + Path("c"));
  EXPECT_EQ(nothing.code, 3);
  EXPECT_THAT(nothing.text, HasSubstr("no run of a clip and seed"));
}

TEST_F(Evaluate, NegativeControlsThatPassAreCodeFour) {
  // In a third of a second no one falls: the tolerances accept, and evaluate says so.
  const Outcome accepted = Run("out", "--only squat --controls", "plain");
  EXPECT_EQ(accepted.code, 4) << accepted.text;
  EXPECT_THAT(accepted.text, HasSubstr("accepted: squat, naive_tracking"));
  const results::Table table = results::ReadTable(Path("out") + "/negative_controls.csv");
  EXPECT_EQ(table.Text("control"),
            (std::vector<std::string>{"naive_tracking", "friction_0.05", "gains_0.1", "reference_upside_down"}));
  EXPECT_EQ(table.Text("accepted")[3], "0");
  EXPECT_EQ(table.Text("violated")[3], "root_orientation");
  EXPECT_FALSE(fs::exists(Path("out") + "/runs/squat.2"));  // seed 1 alone
  // Without a success there is nothing to spoil.
  const Outcome refused = Run("low", "--only squat --controls --set /gates/joint_position=1e-6", "plain");
  EXPECT_EQ(refused.code, 0) << refused.text;
  EXPECT_THAT(refused.text, HasSubstr("1 of 1 negative controls refused"));
  EXPECT_THAT(Read("low/negative_controls.csv"), HasSubstr("gains_0.1,,,,no successful control"));
}

TEST_F(Evaluate, RanksGiveTheRowsOfThreads) {
  if (std::string(RETRACE_MPIEXEC).empty()) GTEST_SKIP() << "mpirun is missing";
  ASSERT_EQ(Run("threads").code, 0);
  // One rank per run and, in groups, several.
  for (const char* ranks : {"-n 2 %s --ranks-per-run 1", "-n 4 %s --ranks-per-run 2", "-n 3 %s"}) {
    std::string command = kMpiRun + ranks;
    command.replace(command.find("%s"), 2, kEvaluate);
    const Outcome outcome = Execute(command + " " + list_ + " --clips " + kClips + kSamples +
                                    "--force --progress none --output " + Path("ranks"));
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_EQ(outcome.text, "");
    EXPECT_EQ(Rows("ranks"), Rows("threads")) << ranks;
    for (const char* run : {"squat.1", "squat.2", "step.1"}) {
      const std::string control = std::string("/runs/") + run + "/control.json";
      EXPECT_TRUE(Read("ranks" + control) == Read("threads" + control)) << run << ranks;
    }
    fs::remove_all(Path("ranks"));
  }
}

// Found by scripts/check/attack: the results could not be written, which ended as an internal error.
TEST_F(CommandLine, AListThatIsNotUtf8IsRefused) {
  const std::string list = Write("list.tsv", "clip\tgroup\nwalk.bvh\tto\xee\n");
  ExpectRefusals("", {{kEvaluate + " " + list + " --output " + Path("out"), 3,
                       list + ":2: found bytes that are not UTF-8, expected a text in UTF-8"}});
}

}  // namespace
}  // namespace retrace::apps
