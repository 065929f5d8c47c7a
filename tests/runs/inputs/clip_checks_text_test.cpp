#include "retrace/runs/inputs/clip_checks_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "retrace/io/error.h"

namespace retrace::runs {
namespace {

/// A clip of the toolkit, and what is recognized in it.
struct Findings {
  explicit Findings(const std::string& name, const std::string& character = "human") {
    options.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/" + name;
    files = ReadInputs(ClipInputs(options));
    recording = ParseClip(files, options.choice);
    found.emplace(options, files, character, recording);
  }
  ClipOptions options;
  std::vector<InputFile> files;
  motion::Clip recording;
  std::optional<ClipFindings> found;
};

TEST(ClipFindings, DescribeTheRecordingAndItsMotion) {
  const Findings walk("walk.bvh");
  const io::Json json = walk.found->ToJson();
  EXPECT_EQ(json["clip"], walk.options.file.string());
  EXPECT_EQ(json["frames"], walk.recording.frames.size());
  EXPECT_NEAR(json["frame_rate"].get<double>(), 60, 1e-3);
  EXPECT_EQ(json["frame_rate_known"], true);
  EXPECT_NEAR(json["duration"].get<double>(), 3.2, 1e-6);
  ASSERT_EQ(json["joints"].size(), walk.recording.skeleton.joints.size());
  EXPECT_TRUE(json["joints"][0]["parent"].is_null());
  for (size_t j = 1; j < json["joints"].size(); ++j) {
    const auto parent = static_cast<size_t>(walk.recording.skeleton.joints[j].parent);
    EXPECT_EQ(json["joints"][j]["parent"], walk.recording.skeleton.joints[parent].name);
    EXPECT_NEAR(json["joints"][j]["length"].get<double>(), walk.recording.skeleton.joints[j].offset.norm(), 1e-9);
  }
  EXPECT_EQ(json["segments"].size(), walk.found->boundaries.size());
  EXPECT_TRUE(json["mapping"].contains("left_foot"));
  for (size_t b = 1; b < walk.found->boundaries.size(); ++b) {
    EXPECT_LT(walk.found->boundaries[b - 1].time, walk.found->boundaries[b].time);
  }
}

TEST(ClipFindings, TheTimeScaleIsSuggestedByFlightsAlone) {
  Findings walk("walk.bvh");
  ClipFindings& found = *walk.found;
  EXPECT_EQ(found.SuggestedTimeScale(), 1);
  // A flight at half of the gravity, which is that of a motion that is played too slowly.
  found.checks.flight_acceleration = kStandardGravity / 2;
  found.checks.time_scale = 0.7;
  EXPECT_EQ(found.SuggestedTimeScale(), 1);  // as long as nothing warns of it
  found.checks.warnings.push_back({.kind = "flight_speed", .text = ""});
  EXPECT_EQ(found.SuggestedTimeScale(), 0.7);
  found.checks.flight_acceleration = 0;
  EXPECT_EQ(found.SuggestedTimeScale(), 1);
}

TEST(ClipFindings, TheSameMotionInTwoFormatsIsFoundAlike) {
  const Findings bvh("squat.bvh"), amc("squat.amc");
  EXPECT_NEAR(amc.found->reference.duration(), bvh.found->reference.duration(), 0.02);
  EXPECT_EQ(amc.found->kind.kind, bvh.found->kind.kind);
  EXPECT_EQ(amc.files.size(), 2u);  // with the skeleton
}

TEST(ClipFindings, RefusesACharacterThatTheRecordingDoesNotFit) {
  EXPECT_THROW(Findings("walk.bvh", "quadruped"), InputError);
  EXPECT_THROW(Findings("walk.bvh", "humann"), UsageError);
}

}  // namespace
}  // namespace retrace::runs
