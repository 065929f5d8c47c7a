/// Motions that no body can perform, as a user meets them: --repair and --best-effort.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/recordings/bvh.h"

namespace retrace::apps {
namespace {

using testing::HasSubstr;
using testing::Not;

// The bundled squat, taken to stand a hand's breadth over the floor.
const std::string kLifted = kClip + " --end 1 --floor-height -0.1";

TEST_F(CommandLine, InspectTellsWhatARepairWouldChange) {
  const Outcome outcome = Execute(kInspect + " " + kLifted + " --repair");
  EXPECT_EQ(outcome.code, 0);
  for (const char* text : {"as recorded, from 0.00 to", "left_foot stands 0.1", "m over the floor",
                           "repaired: 1.00 s of", "the body is shifted by up to 0.1", "changed: 0.00 to 1.00 s"}) {
    EXPECT_THAT(outcome.text, HasSubstr(text));
  }
  const Outcome json = Execute(kInspect + " " + kLifted + " --repair --json");
  const io::Json found = io::ParseJson(json.text, "inspect");
  EXPECT_EQ(found["repair"]["found"][0]["kind"], "stance");
  EXPECT_TRUE(found["repair"]["left"].empty());
  EXPECT_THAT(Execute(kInspect + " " + kClip + " --repair").text, HasSubstr("the motion stays as recorded"));
  const Outcome floating = Execute(kInspect + " " + kClip + " --floor-height -1 --repair");
  EXPECT_EQ(floating.code, 3) << floating.text;
  EXPECT_THAT(floating.text, HasSubstr("the body is in the air"));
  EXPECT_THAT(floating.text, HasSubstr("expected a support"));
}

TEST_F(CommandLine, ReconstructRepairsAReferenceAndLabelsIt) {
  const std::string plain = Path("plain"), asked = Path("asked"), repaired = Path("repaired");
  const std::string tracking = " --method tracking --check-continuation 0 --progress plain --output ";
  // A clip without findings: the same bytes.
  ASSERT_EQ(Execute(kReconstruct + " " + kClip + " --end 1" + tracking + plain).code, 0);
  ASSERT_EQ(Execute(kReconstruct + " " + kClip + " --end 1 --repair" + tracking + asked).code, 0);
  for (const char* file : {"/control.json", "/reference.bvh", "/motion.bvh"}) {
    EXPECT_EQ(io::ReadFile(plain + file), io::ReadFile(asked + file)) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(asked + "/repair.csv"));
  EXPECT_FALSE(std::filesystem::exists(asked + "/recording.bvh"));
  EXPECT_EQ(io::ReadJson(asked + "/manifest.json")["repair"]["changed"], false);
  EXPECT_FALSE(io::ReadJson(plain + "/manifest.json").contains("repair"));

  const Outcome outcome = Execute(kReconstruct + " " + kLifted + " --repair" + tracking + repaired);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("against the unrepaired motion on the new clock: mean joint error"));
  const io::Json manifest = io::ReadJson(repaired + "/manifest.json");
  EXPECT_EQ(manifest["repair"]["changed"], true);
  EXPECT_THAT(manifest["repair"]["label"].get<std::string>(), HasSubstr("repaired"));
  EXPECT_NEAR(manifest["repair"]["root_shift"]["largest"].get<double>(), 0.1, 0.02);
  EXPECT_NEAR(manifest["against_recording"]["gates"]["root_height"]["worst"].get<double>(), 0.1, 0.05);
  EXPECT_TRUE(io::ReadFile(repaired + "/repair.csv").starts_with("time,recorded_time,speed,height,"));
  const motion::Clip before = motion::ReadBvh(repaired + "/recording.bvh");
  const motion::Clip after = motion::ReadBvh(repaired + "/reference.bvh");
  ASSERT_EQ(before.frames.size(), after.frames.size()) << "they have one clock";
  double most = 0;
  for (size_t i = 0; i < before.frames.size(); ++i) {
    most = std::max(most, (before.frames[i].translations[0] - after.frames[i].translations[0]).norm());
  }
  EXPECT_NEAR(most, manifest["repair"]["root_shift"]["largest"].get<double>(), 1e-6);
  EXPECT_EQ(Execute(kReplay + " " + repaired + " --verify").code, 0);
}

TEST_F(CommandLine, TrackRepairsTheReferenceToo) {
  const std::string tracked = Path("tracked"), forces = Path("forces");
  const Outcome outcome = Execute(kTrack + " " + kLifted + " --repair --output " + tracked);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("as recorded, from 0.00 to"));
  EXPECT_THAT(outcome.text, HasSubstr("the body is shifted by up to 0.1"));
  EXPECT_EQ(io::ReadJson(tracked + "/manifest.json")["repair"]["changed"], true);
  EXPECT_TRUE(std::filesystem::exists(tracked + "/repair.csv"));
  EXPECT_EQ(Execute(kReplay + " " + tracked + " --verify").code, 0);
  EXPECT_NE(Execute(kTrack + " " + kLifted + " --output " + Path("lifted")).code, 2);
  EXPECT_FALSE(io::ReadJson(Path("lifted") + "/manifest.json").contains("repair"));
}

TEST_F(CommandLine, ABestEffortGoesOnToTheEnd) {
  const std::string lost = Path("lost"), effort = Path("effort");
  const std::string command =
      kReconstruct + " " + kWalkClip +
      " --end 1 --method sampling --samples 20 --saved 5 --check-continuation 0 --progress plain"
      " --set /gates/joint_position=0.02 --set /search/budget=60";
  ASSERT_EQ(Execute(command + " --output " + lost).code, 4);
  EXPECT_EQ(io::ReadJson(lost + "/manifest.json")["evaluation"]["completed"], false);
  const Outcome outcome = Execute(command + " --best-effort --output " + effort);
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("best effort within tolerance for "));
  EXPECT_THAT(outcome.text, HasSubstr("outside from "));
  const io::Json manifest = io::ReadJson(effort + "/manifest.json");
  EXPECT_EQ(manifest["evaluation"]["completed"], true);
  EXPECT_EQ(manifest["status"], "completed");
  EXPECT_GT(manifest["best_effort"]["inside"], 0.01);
  EXPECT_LT(manifest["best_effort"]["inside"], 0.99);
  EXPECT_FALSE(manifest["best_effort"]["excursions"].empty());
  EXPECT_THAT(Execute(kReplay + " " + effort + " --verify").text, Not(HasSubstr("differ")));
  const std::string again = Path("again");
  ASSERT_EQ(Execute(command + " --best-effort --threads 1 --output " + again).code, 4);
  EXPECT_EQ(io::ReadFile(effort + "/control.json"), io::ReadFile(again + "/control.json"));
}

TEST_F(CommandLine, WhatCannotBeRepairedOrGoOnIsRefused) {
  ExpectRefusals(kReconstruct,
                 {{kClip + " --best-effort --method tracking", 2,
                   "/search/best_effort: found true with the method tracking, expected auto or sampling"},
                  {kClip + " --floor-height -1 --repair --output " + Path("none"), 3, "the body is in the air"},
                  {kClip + " --set /run/repair=2", 2, "/run/repair: found 2"}});
}

}  // namespace
}  // namespace retrace::apps
