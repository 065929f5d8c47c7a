#include "jobs/composed_run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "control/sample_control.h"
#include "jobs/sample_runs.h"
#include "retrace/io/file.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

/// The human stands for 0.3 s.
struct StandingResult {
  StandingResult() : control(control::Standing(3)) {
    reference.assign(37, character::RestPose(control::Human()));
    const character::ReferenceMotion motion(control::Human(), kCompositionFrame, reference, kCompositionFrame);
    evaluation =
        metrics::Evaluate(control::Human(), control::Replay(control::Human(), control), motion, control.duration(), {});
  }
  bool success() const { return ending == "completed" && evaluation.success(); }

  control::OpenLoopControl control;
  std::vector<character::Pose> reference;
  metrics::Evaluation evaluation;
  std::string ending = "completed";
  results::RunTimer timer;
};

TEST(ComposedRun, PartsAreRowsOfATable) {
  const std::vector<PartRow> rows = {{.end = 1.5, .control = "walk", .event = "plan"},
                                     {.start = 1.5,
                                      .end = 2,
                                      .control = "get, up",
                                      .cut = 0.25,
                                      .distance = 0.125,
                                      .tries = 3,
                                      .event = "get_up",
                                      .transition = "kinematic",
                                      .hidden_impulse = 40}};
  EXPECT_EQ(FormatParts(rows),
            "start,end,control,cut,distance,tries,event,transition,hidden_impulse\n"
            "0,1.5,walk,0,0,0,plan,,0\n"
            "1.5,2,\"get, up\",0.25,0.125,3,get_up,kinematic,40\n");
}

TEST(ComposedRun, TheManifestSaysWhatItIs) {
  StandingResult result;
  const Configuration configuration = CompositionConfiguration();
  ComposedRun run = MakeComposedRun(control::Human(), configuration, result);
  run.program = "compose";
  run.member = "composition";
  *run.what = {{"parts", 2}};
  io::Json manifest = ManifestOf(run, {.command = "compose a b"});
  EXPECT_EQ(manifest["format"], results::kRunFormat);
  EXPECT_EQ(manifest["program"], "compose");
  EXPECT_EQ(manifest["status"], "completed");
  EXPECT_EQ(manifest["success"], true);
  EXPECT_EQ(manifest["physical"], true);
  EXPECT_EQ(manifest["command"], "compose a b");
  EXPECT_EQ(manifest["composition"]["parts"], 2);
  EXPECT_EQ(manifest["seed"], configuration.sampling.seed);
  EXPECT_FALSE(manifest.contains("pushes"));
  EXPECT_FALSE(manifest.contains("characters"));
  // What is a part of what was asked for, is kinematic and was pushed, says so.
  result.ending = "nothing leads on";
  result.control.pushes = {{control::Human().root, Vec3(0, 0, 5), 0.1, 0.1}};
  result.control.transitions = {{24, 0.1, result.control.start}};
  manifest = ManifestOf(MakeComposedRun(control::Human(), configuration, result), {});
  EXPECT_EQ(manifest["status"], "partial");
  EXPECT_EQ(manifest["success"], false);
  EXPECT_EQ(manifest["physical"], false);
  EXPECT_EQ(manifest["pushes"][0]["body"], "pelvis");
}

TEST(ComposedRun, IsARunThatReplaysToTheBit) {
  const SampleFolder samples;
  const StandingResult result;
  const Configuration configuration = CompositionConfiguration();
  ComposedRun run = MakeComposedRun(control::Human(), configuration, result);
  run.program = "compose";
  run.member = "composition";
  run.parts = {{.end = 0.3, .control = "stand", .event = "plan"}};
  {
    results::RunFolder folder(samples / "run", false);
    io::Json manifest = WriteComposedRun(folder, run, {});
    EXPECT_FALSE(std::filesystem::exists(samples / "run" / results::kManifestFile));
    FinishWith(folder, std::move(manifest));
  }
  const StoredRun stored(samples / "run");
  EXPECT_EQ(Verify(stored).difference, "");
  ASSERT_TRUE(stored.characters[0].reference);
  EXPECT_NEAR(stored.characters[0].reference->duration(), 0.3, 1e-9);
  EXPECT_EQ(io::ReadFile(stored.folder / results::kCompositionFile), FormatParts(run.parts));
  // It is an input of the next one, by its hash.
  run.inputs = {&stored};
  const io::Json manifest = ManifestOf(run, {});
  EXPECT_EQ(manifest["inputs"][0]["sha256"], io::Sha256(io::ReadFile(stored.folder / results::kControlFile)));
}

}  // namespace
}  // namespace retrace::runs
