/// Run folders of one character and of several: written, read back, verified, put together.
#include "retrace/runs/stored/stored_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "control/sample_control.h"
#include "retrace/character/skeleton.h"
#include "retrace/control/push_text.h"
#include "retrace/control/pushes.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/jobs/push_table.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"
#include "retrace/results/tables.h"
#include "retrace/runs/stored/replay.h"
#include "retrace/runs/stored/replay_files.h"
#include "retrace/runs/stored/run_export.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/runs/stored/stored_scene.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;
using character::Human;
using control::Standing;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class StoredRunTest : public testing::Test {
 protected:
  StoredRunTest() {
    std::string name = (fs::temp_directory_path() / "stored-run-XXXXXX").string();
    base_ = ::mkdtemp(name.data());
  }
  ~StoredRunTest() override { fs::remove_all(base_); }

  /// The folder of a run of a standing character, with the rest pose as its reference. Its control lasts tenths of a
  /// second.
  fs::path Stand(const std::string& name, int fragments, const control::OpenLoopControl* other = nullptr) const {
    const control::OpenLoopControl control = other != nullptr ? *other : Standing(fragments);
    const fs::path folder = base_ / name;
    fs::create_directories(folder);
    io::WriteFile(folder / "control.json", control::FormatControl(Human(), control));
    const std::vector<character::Pose> poses(static_cast<size_t>(12 * fragments + 1), character::RestPose(Human()));
    io::WriteFile(folder / "reference.bvh", motion::FormatBvh(character::ClipOf(Human(), poses, 1.0 / 120)));
    return folder;
  }
  /// Writes a replay of a run into a new folder.
  fs::path Write(const StoredRun& run, const std::string& name) const {
    results::RunFolder folder(base_ / name, false);
    WriteReplay(folder, run, Replay(run), {});
    return base_ / name;
  }
  static std::vector<std::string> Names(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }

  fs::path base_;
};

std::string MessageOf(const std::function<void()>& call, ExitCode code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

TEST_F(StoredRunTest, OfOneCharacterHasItsFilesInTheFolderItself) {
  const StoredRun run(Stand("one", 2));
  const fs::path folder = Write(run, "replayed");
  EXPECT_THAT(Names(folder),
              UnorderedElementsAre("control.json", "motion.bvh", "reference.bvh", "trajectory.csv", "contacts.csv",
                                   "torques.csv", "body_contacts.csv", "contact_totals.csv", "contact_summary.csv",
                                   "pressure.csv", "filmstrip.svg", "manifest.json", "README.txt"));
  const io::Json manifest = io::ReadJson(folder / "manifest.json");
  EXPECT_EQ(manifest["success"], true);
  EXPECT_TRUE(manifest.contains("evaluation"));
  EXPECT_FALSE(manifest.contains("characters"));
  EXPECT_EQ(io::ReadFile(folder / "control.json"), io::ReadFile(run.folder / "control.json"));
  EXPECT_EQ(Verify(StoredRun(folder)).difference, "");
}

TEST_F(StoredRunTest, ASceneIsWrittenReadBackAndVerified) {
  StoredRun run(Stand("one", 3));
  const auto notes = Join(StoredRun(Stand("two", 3)), {Radians(180), Vec3(0.2, 0, 2)}, run);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("character 2 is human of " + (base_ / "two").string()));
  EXPECT_THAT(notes[0], HasSubstr("x 0.20, z 2.00"));
  const fs::path folder = Write(run, "scene");
  EXPECT_THAT(Names(folder), UnorderedElementsAre("control.json", "manifest.json", "filmstrip.svg", "README.txt",
                                                  "character_1", "character_2"));
  for (const char* part : {"character_1", "character_2"}) {
    EXPECT_THAT(Names(folder / part),
                UnorderedElementsAre("motion.bvh", "reference.bvh", "trajectory.csv", "contacts.csv", "torques.csv",
                                     "body_contacts.csv", "contact_totals.csv", "contact_summary.csv", "pressure.csv",
                                     "filmstrip.svg"));
  }
  EXPECT_THAT(io::ReadFile(folder / "character_2/filmstrip.svg"), HasSubstr("<title>replay, character 2 (human)"));

  const StoredRun scene(folder);
  ASSERT_EQ(scene.characters.size(), 2u);
  EXPECT_EQ(Verify(scene).difference, "");
  EXPECT_EQ(scene.characters[1].run, (base_ / "two").string());
  EXPECT_EQ(scene.characters[1].control_sha256, io::Sha256(io::ReadFile(base_ / "two/control.json")));
  EXPECT_DOUBLE_EQ(scene.characters[1].placement.heading, kPi);
  EXPECT_EQ(scene.characters[1].placement.offset, Vec3(0.2, 0, 2));
  const io::Json manifest = io::ReadJson(folder / "manifest.json");
  EXPECT_EQ(manifest["program"], "replay with others");
  EXPECT_EQ(manifest["success"], true);
  EXPECT_EQ(manifest["inputs"].size(), 2u);
  EXPECT_EQ(manifest["characters"][1]["folder"], "character_2");
  EXPECT_EQ(manifest["characters"][1]["evaluation"]["success"], true) << "the reference was turned and moved, too";
  EXPECT_LT(manifest["characters"][1]["evaluation"]["drift"].get<double>(), 0.1);

  // Written again from what was read, nothing changes.
  const fs::path again = Write(scene, "again");
  for (const char* name : {"control.json", "character_1/trajectory.csv", "character_2/contacts.csv",
                           "character_2/reference.bvh", "character_2/motion.bvh"}) {
    EXPECT_EQ(io::ReadFile(again / name), io::ReadFile(folder / name)) << name;
  }
  EXPECT_EQ(io::ReadJson(again / "manifest.json")["characters"], manifest["characters"]);

  std::string table = io::ReadFile(folder / "character_2/torques.csv");
  table[table.size() - 3] = table[table.size() - 3] == '1' ? '2' : '1';
  io::WriteFile(folder / "character_2/torques.csv", table);
  EXPECT_THAT(Verify(scene).difference, HasSubstr("character_2/torques.csv:"));
  fs::remove(folder / "character_2/torques.csv");
  EXPECT_THAT(Verify(scene).difference, HasSubstr("character_2/torques.csv: was removed"));
}

TEST_F(StoredRunTest, CharactersThatDoNotTouchHaveTheTablesOfEachAlone) {
  StoredRun run(Stand("one", 3));
  Join(StoredRun(Stand("two", 3)), {0.5, Vec3(2, 0, 0)}, run);
  const Replayed replayed = Replay(run);
  for (const size_t c : {0u, 1u}) {
    const control::Trajectory alone = control::Replay(Human(), control::ControlOf(run.scene, c));
    MotionTables tables_alone(Human());
    MotionTables tables_together(Human());
    const auto compare = [](const std::vector<NamedTable>& of_each, const std::vector<NamedTable>& together) {
      ASSERT_EQ(of_each.size(), together.size());
      for (size_t t = 0; t < of_each.size(); ++t) EXPECT_EQ(together[t].text, of_each[t].text) << of_each[t].name;
    };
    compare(tables_alone.Add(alone), tables_together.Add(replayed.characters[c].trajectory));
    compare(tables_alone.Finish(), tables_together.Finish());
  }
}

TEST_F(StoredRunTest, TablesAreTheSameWhetherTheNumberOfStepsIsKnownOrNot) {
  const StoredRun run(Stand("one", 15));
  const auto texts = [&](std::optional<size_t> num_steps) {
    std::map<std::string, std::string> whole;
    MotionTables tables(Human(), num_steps);
    const auto append = [&](const std::vector<NamedTable>& pieces) {
      for (const NamedTable& piece : pieces) whole[piece.name] += piece.text;
    };
    ReplayInParts(run.scene, {}, [&](size_t, const control::Trajectory& part) { append(tables.Add(part)); });
    append(tables.Finish());
    return whole;
  };
  EXPECT_EQ(texts(control::ControlOf(run.scene, 0).num_steps()), texts({}));
}

TEST_F(StoredRunTest, TouchingOnesHaveTheContactInBothTablesWithOppositeForces) {
  StoredRun run(Stand("one", 3));
  Join(StoredRun(Stand("two", 3)), {kPi, Vec3(0, 0, 0.22)}, run);  // chest to chest, a little inside one another
  const fs::path folder = Write(run, "scene");
  struct Row {
    double time;
    Vec3 point, force;
  };
  const auto rows = [&](const std::string& part, const std::string& other) {
    const results::Table table = results::ReadTable(folder / part / "contacts.csv");
    std::vector<Row> found;
    for (size_t i = 0; i < table.num_rows(); ++i) {
      if (table.Text("other")[i] != other) continue;
      const auto vector = [&](const std::string& prefix) {
        return Vec3(std::stod(table.Text(prefix + "x")[i]), std::stod(table.Text(prefix + "y")[i]),
                    std::stod(table.Text(prefix + "z")[i]));
      };
      found.push_back({std::stod(table.Text("time")[i]), vector(""), vector("force_")});
    }
    return found;
  };
  const std::vector<Row> first = rows("character_1", "character 2");
  const std::vector<Row> second = rows("character_2", "character 1");
  ASSERT_GT(first.size(), 0u);
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].time, second[i].time);
    EXPECT_EQ(first[i].point, second[i].point);
    EXPECT_EQ(first[i].force, -second[i].force);
  }
  EXPECT_EQ(Verify(StoredRun(folder)).difference, "");
}

TEST_F(StoredRunTest, AShorterControlIsHeldToItsOwnEnd) {
  StoredRun run(Stand("one", 2));
  Join(StoredRun(Stand("two", 5)), {0, Vec3(2, 0, 0)}, run);
  const Replayed replayed = Replay(run);
  EXPECT_NEAR(replayed.characters[0].evaluation->simulated_duration, 0.2, 1e-9);
  EXPECT_NEAR(replayed.characters[1].evaluation->simulated_duration, 0.5, 1e-9);
  EXPECT_EQ(replayed.characters[0].trajectory.num_steps(), 120u) << "it stands on while the other one moves";
  EXPECT_TRUE(replayed.completed());
  EXPECT_TRUE(replayed.success());
}

TEST_F(StoredRunTest, ASceneJoinsWithAllItsCharacters) {
  StoredRun inner(Stand("one", 2));
  Join(StoredRun(Stand("two", 2)), {kPi / 2, Vec3(0, 0, 2)}, inner);
  const fs::path folder = Write(inner, "inner");
  StoredRun run(Stand("three", 2));
  Join(StoredRun(folder), {kPi / 2, Vec3(0, 0, 5)}, run);
  ASSERT_EQ(run.characters.size(), 3u);
  EXPECT_EQ(run.characters[2].run, (base_ / "two").string());
  EXPECT_NEAR(run.characters[2].placement.heading, kPi, 1e-12);
  EXPECT_LT((run.characters[2].placement.offset - Vec3(2, 0, 5)).norm(), 1e-12);
  const Replayed replayed = Replay(run);
  EXPECT_TRUE(replayed.success());
  for (const CharacterReplay& character : replayed.characters) EXPECT_LT(character.evaluation->drift, 0.1);
  EXPECT_EQ(Verify(StoredRun(Write(run, "outer"))).difference, "");
}

TEST_F(StoredRunTest, ARunMayJoinItself) {
  StoredRun run(Stand("one", 2));
  Join(run, {0, Vec3(3, 0, 0)}, run);
  EXPECT_EQ(run.characters.size(), 2u);
  EXPECT_EQ(run.controls.size(), 2u);
  EXPECT_TRUE(Replay(run).success());
}

TEST_F(StoredRunTest, GatesOfEachCharacterAreKept) {
  const fs::path strict = Stand("strict", 2);
  io::WriteFile(strict / "manifest.json", R"({"configuration": {"gates": {"joint_position": 1e-6}}})");
  StoredRun run(Stand("one", 2));
  Join(StoredRun(strict), {0, Vec3(2, 0, 0)}, run);
  const fs::path folder = Write(run, "scene");
  const Replayed replayed = Replay(StoredRun(folder));
  EXPECT_TRUE(replayed.characters[0].evaluation->success());
  EXPECT_FALSE(replayed.characters[1].evaluation->success());
  EXPECT_EQ(io::ReadJson(folder / "manifest.json")["success"], false);
}

TEST_F(StoredRunTest, SaysWhereTheWorldsDiffer) {
  control::OpenLoopControl icy = Standing(2);
  icy.world.friction = 0.1;
  StoredRun run(Stand("one", 2));
  const auto notes = Join(StoredRun(Stand("icy", 2, &icy)), {0, Vec3(2, 0, 0)}, run);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_THAT(notes[0], HasSubstr("icy was made in a world with another friction; here that of "));
}

TEST_F(StoredRunTest, RefusesWhatMakesNoScene) {
  control::OpenLoopControl slow = Standing(2);
  slow.world.time_step = 1.0 / 480;
  const fs::path other = Stand("slow", 2, &slow);
  StoredRun run(Stand("one", 2));
  EXPECT_THAT(MessageOf([&] { Join(StoredRun(other), {}, run); }, ExitCode::kUsage),
              HasSubstr("slow: a character with another time step"));
  Join(StoredRun(Stand("two", 2)), {0, Vec3(2, 0, 0)}, run);
  EXPECT_THAT(MessageOf([&] { PutInto(task::WorldVariation(), run); }, ExitCode::kUsage),
              HasSubstr("found 2 characters, expected one: a world is placed along the motion of one"));
  PushTableOptions table;
  table.body = "trunk";
  EXPECT_THAT(MessageOf([&] { TryPushes(run, Replay(run).first(), table); }, ExitCode::kUsage),
              HasSubstr("found 2 characters, expected one"));
  const fs::path folder = Write(run, "scene");
  io::Json manifest = io::ReadJson(folder / "manifest.json");
  manifest["characters"].erase(1);
  io::WriteFile(folder / "manifest.json", manifest.dump());
  EXPECT_THAT(MessageOf([&] { StoredRun{folder}; }, ExitCode::kInput), HasSubstr("/characters"));
  ExportOptions options;
  options.folder = folder;
  options.formats = {exports::ExportFormat::kTrc};
  options.output = base_ / "motion.trc";
  EXPECT_THAT(MessageOf([&] { ExportTargets(options, 2); }, ExitCode::kUsage),
              HasSubstr("expected that of a folder: there is a file for each of 2 characters"));
}

TEST_F(StoredRunTest, BodiesOfASceneAreNamedWithTheirCharacter) {
  StoredRun run(Stand("one", 3));
  const control::Push alone = control::ParsePush("trunk,0:0:300,0.1,0.1", run.scene);
  EXPECT_EQ(control::ParsePush("1:trunk,0:0:300,0.1,0.1", run.scene).body, alone.body);
  EXPECT_EQ(control::BodyName(run.scene, alone.body), "trunk");
  Join(StoredRun(Stand("two", 3)), {0, Vec3(2, 0, 0)}, run);
  const control::Push push = control::ParsePush("2:trunk,0:0:300,0.1,0.1", run.scene);
  EXPECT_EQ(push.body, run.scene.layout().BodyOf(1, alone.body));
  EXPECT_EQ(Describe(run.scene, push), "2:trunk by 0:0:300 N from 0.10 to 0.20 s");
  for (const char* body : {"trunk", "3:trunk", "2:nose", ":trunk"}) {
    EXPECT_THAT(
        MessageOf([&] { control::ParsePush(std::string(body) + ",0:0:300,0.1,0.1", run.scene); }, ExitCode::kUsage),
        HasSubstr("found the body \"" + std::string(body) + "\", expected one of 1:"));
  }
  // It moves that character, is kept, and is verified.
  const Replayed pushed = Replay(run, {push});
  const Replayed unpushed = Replay(run);
  const auto last = [](const Replayed& replayed, size_t c) { return replayed.characters[c].trajectory.states.back(); };
  EXPECT_TRUE(control::SameBits(last(pushed, 0), last(unpushed, 0)));
  EXPECT_FALSE(control::SameBits(last(pushed, 1), last(unpushed, 1)));
  results::RunFolder folder(base_ / "pushed", false);
  WriteReplay(folder, run, pushed, {});
  EXPECT_EQ(io::ReadJson(base_ / "pushed/manifest.json")["pushes"][0]["body"], "2:trunk");
  const StoredRun stored(base_ / "pushed");
  EXPECT_EQ(stored.pushes.at(0).body, push.body);
  EXPECT_EQ(Verify(stored).difference, "");
}

TEST_F(StoredRunTest, AFreeBodyCanBePushed) {
  control::OpenLoopControl control = Standing(2);
  simulation::FreeBody crate;
  crate.name = "crate";
  crate.shape.size = Vec3::Constant(0.3);
  crate.mass = 3;
  crate.position = Vec3(0, 0.15, 3);
  control.world.environment.bodies = {crate};
  control.world.environment.AppendStart(control.start);
  StoredRun run(Stand("one", 2, &control));
  Join(StoredRun(Stand("two", 2)), {0, Vec3(2, 0, 0)}, run);
  const control::Push push = control::ParsePush("crate,0:0:100,0,0.1", run.scene);
  EXPECT_EQ(push.body, run.scene.layout().FreeBody(0));
  EXPECT_EQ(control::BodyName(run.scene, push.body), "crate");
  for (const CharacterReplay& character : Replay(run, {push}).characters) {
    EXPECT_GT(character.trajectory.states.back().back().position.z(), 3.1) << "both have it in their state";
  }
}

TEST_F(StoredRunTest, TrackingDrivesEachAtItsOwnReference) {
  StoredRun run(Stand("one", 2));
  Join(StoredRun(Stand("two", 2)), {1, Vec3(2, 0, 0)}, run);
  run.scene.fragments[1][0].targets[0][0] = AxisRotation(0, 0.5);
  TrackReference(run);
  EXPECT_NEAR(AngleBetween(run.scene.fragments[1][0].targets[0][0], Quat::Identity()), 0, 1e-6);
  run.characters[0].reference.reset();
  EXPECT_THAT(MessageOf([&] { TrackReference(run); }, ExitCode::kInput), HasSubstr("the reference to track"));
  EXPECT_FALSE(Replay(run).characters[0].evaluation.has_value());
}

TEST(JoiningRun, IsReadFromItsText) {
  EXPECT_EQ(ParseJoiningRun("results/a").folder, "results/a");
  EXPECT_EQ(ParseJoiningRun("results/a").placement.offset, Vec3::Zero().eval());
  EXPECT_EQ(ParseJoiningRun("a,1.5,-2").placement.offset, Vec3(1.5, 0, -2));
  EXPECT_DOUBLE_EQ(ParseJoiningRun("a,0,1,90").placement.heading, kPi / 2);
  for (const auto& entry : std::vector<std::pair<std::string, std::string>>{{"a,1", "2 parts between commas"},
                                                                            {"a,1,2,3,4", "5 parts between commas"},
                                                                            {",1,2", "no folder"},
                                                                            {"a,1,x", "\"x\""},
                                                                            {"a,1,", "\"\""},
                                                                            {"a,nan,0", "\"nan\""},
                                                                            {"a,0,1e9", "\"1e9\""},
                                                                            {"a,0,0,361", "\"361\""}}) {
    EXPECT_THAT(
        MessageOf([&] { ParseJoiningRun(entry.first); }, ExitCode::kUsage),
        HasSubstr("the other run \"" + entry.first + "\": found " + entry.second + ", expected OTHER, OTHER,X,Z or"));
  }
}

}  // namespace
}  // namespace retrace::runs
