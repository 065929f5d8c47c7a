/// Which frames of a recording are its motion.
#include "retargeting/lead_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/io/error.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A trunk with two arms that swing, a second at 60 frames a second.
motion::Clip Swinging() {
  motion::Clip clip;
  clip.frame_time = 1.0 / 60;
  clip.skeleton = {
      {{"Hips", -1, {0, 0.9, 0}, true}, {"Left", 0, {0.3, 0.5, 0}, false}, {"Right", 0, {-0.3, 0.5, 0}, false}}};
  for (int f = 0; f < 60; ++f) {
    motion::Frame frame;
    for (const motion::Joint& joint : clip.skeleton.joints) {
      frame.translations.push_back(joint.offset);
      frame.rotations.push_back(AxisRotation(0, 0.5 + 0.4 * std::sin(0.1 * f)));
    }
    clip.frames.push_back(frame);
  }
  return clip;
}

motion::Frame RestOf(const motion::Clip& clip) {
  motion::Frame frame = clip.frames.front();
  for (Quat& rotation : frame.rotations) rotation.setIdentity();
  return frame;
}

UsedFrames FindIn(const motion::Clip& clip, const ReferenceOptions& options, ReferenceReport& report) {
  return FindUsedFrames(clip, 1, 1, "clip.bvh", options, report);
}

TEST(UsedFrames, AreAllOfAMotion) {
  ReferenceReport report;
  const motion::Clip clip = Swinging();
  const UsedFrames used = FindIn(clip, {}, report);
  EXPECT_EQ(used.first, 0u);
  EXPECT_EQ(used.end, clip.frames.size());
  EXPECT_TRUE(used.notes.empty());
  EXPECT_EQ(report.lead_in_frames, 0);
  EXPECT_EQ(report.lead_out_frames, 0);
}

TEST(UsedFrames, BeginAfterTheRestPose) {
  motion::Clip clip = Swinging();
  clip.frames.insert(clip.frames.begin(), 3, RestOf(clip));
  ReferenceReport report;
  const UsedFrames used = FindIn(clip, {}, report);
  EXPECT_EQ(used.first, 3u);
  EXPECT_EQ(report.lead_in_frames, 3);
  ASSERT_EQ(used.notes.size(), 1u);
  EXPECT_THAT(used.notes[0], HasSubstr("3 frames in the rest pose at the start are skipped"));
  ReferenceOptions keep;
  keep.keep_calibration_frames = true;
  EXPECT_EQ(FindIn(clip, keep, report).first, 0u);
}

TEST(UsedFrames, BeginWhereTheUserSaysSo) {
  ReferenceOptions options;
  options.skipped_frames = 7;
  ReferenceReport report;
  const UsedFrames used = FindIn(Swinging(), options, report);
  EXPECT_EQ(used.first, 7u);
  EXPECT_THAT(used.notes[0], HasSubstr("7 frames at the start are skipped, as given"));
  options.skipped_frames = 59;
  EXPECT_THAT([&] { FindIn(Swinging(), options, report); },
              ThrowsMessage<InputError>(HasSubstr("60 frames, of which 59 are skipped, expected at least two frames")));
}

TEST(UsedFrames, ARecordingThatStandsKeepsItsPose) {
  motion::Clip clip = Swinging();
  for (motion::Frame& frame : clip.frames) frame = RestOf(clip);
  ReferenceReport report;
  EXPECT_EQ(FindIn(clip, {}, report).first, 0u);
}

}  // namespace
}  // namespace retrace::character
