#include "retrace/runs/stored/scene_files.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "control/sample_control.h"
#include "retrace/io/file.h"
#include "retrace/math/rotation.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/runs/stored/verification.h"
#include "sample_folder.h"

namespace retrace::runs {
namespace {

/// Two humans that stand 3 m apart for 0.2 s.
struct StandingPair {
  StandingPair()
      : poses(25, character::RestPose(control::Human())),
        reference(control::Human(), 1.0 / 120, poses, 1.0 / 120),
        scene(control::MakeScene(control::Human(), control::Standing(2))) {
    control::AddToScene(control::Human(), control::Standing(2), Quat::Identity(), Vec3(3, 0, 0), scene);
    characters.resize(2);
    characters[0].reference = &reference;
    characters[0].source = "stand";
    characters[0].control_sha256 = "aa";
    characters[0].reference_text = "the rest pose";
    characters[1].gates.joint_position = 0.125;
  }
  std::vector<character::Pose> poses;
  character::ReferenceMotion reference;
  control::Scene scene;
  std::vector<SceneCharacter> characters;
};

TEST(SceneFiles, CharactersHaveNumbersWhereThereAreSeveral) {
  EXPECT_EQ(NumberOf({control::Human()}, 0), "");
  EXPECT_EQ(NumberOf({control::Human(), control::Human()}, 1), ", character 2 (human)");
}

TEST(SceneFiles, TheManifestNamesTheFolderOfEachCharacter) {
  const StandingPair pair;
  const io::Json list = CharactersMember(pair.scene, pair.characters);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["folder"], "character_1");
  EXPECT_EQ(list[1]["folder"], "character_2");
  EXPECT_EQ(list[0]["run"], "stand");
  EXPECT_EQ(list[0]["control_sha256"], "aa");
  EXPECT_EQ(list[0]["reference"], "the rest pose");
  EXPECT_EQ(list[1]["gates"]["joint_position"], 0.125);
}

TEST(SceneFiles, ASceneIsARunOfSeveralThatReplaysToTheBit) {
  const SampleFolder samples;
  const StandingPair pair;
  {
    results::RunFolder folder(samples / "pair", false);
    WriteScene(folder, pair.scene, pair.characters, "a pair");
    io::Json manifest = BeginManifest("strike", "completed");
    manifest["characters"] = CharactersMember(pair.scene, pair.characters);
    FinishWith(folder, std::move(manifest));
  }
  const StoredRun run(samples / "pair");
  EXPECT_EQ(Verify(run).difference, "");
  ASSERT_EQ(run.characters.size(), 2u);
  ASSERT_TRUE(run.characters[0].reference);
  EXPECT_NEAR(run.characters[0].reference->duration(), 0.2, 1e-9);
  EXPECT_FALSE(run.characters[1].reference);
  EXPECT_EQ(run.characters[1].gates.joint_position, 0.125);
  for (const std::string character : {"character_1", "character_2"}) {
    EXPECT_TRUE(std::filesystem::exists(samples / "pair" / character / results::kTrajectoryFile)) << character;
    EXPECT_TRUE(std::filesystem::exists(samples / "pair" / character / results::kFilmStripFile)) << character;
  }
  EXPECT_TRUE(std::filesystem::exists(samples / "pair" / results::kFilmStripFile));
  // The second character does what the first one does, 3 m beside it.
  const control::Trajectory whole = control::Replay(run.scene);
  const character::State first = run.scene.layout().StateOf(whole.states.back(), 0),
                         second = run.scene.layout().StateOf(whole.states.back(), 1);
  for (size_t b = 0; b < first.size(); ++b) {
    EXPECT_LT((second[b].position - first[b].position - Vec3(3, 0, 0)).norm(), 1e-9);
  }
}

TEST(SceneFiles, AMotionAloneHasNoFolderOfItsOwn) {
  const SampleFolder samples;
  const StandingPair pair;
  const control::Trajectory motion = control::Replay(control::Human(), control::Standing(2));
  const std::vector<CharacterMotion> motions = {{motion, nullptr}};
  results::RunFolder folder(samples / "one", false);
  WriteMotions(folder, {control::Human()}, pair.scene.world, motions, "one");
  folder.FinishFiles();
  EXPECT_TRUE(std::filesystem::exists(samples / "one" / results::kTrajectoryFile));
  EXPECT_FALSE(std::filesystem::exists(samples / "one" / results::kReferenceFile));
  EXPECT_FALSE(std::filesystem::exists(samples / "one" / "character_1"));
}

}  // namespace
}  // namespace retrace::runs
