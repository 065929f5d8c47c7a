/// Left and right of recordings, whatever exchanged them, and poses that are no part of a motion: on the way to a
/// reference.
#include "retrace/retargeting/handedness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "character/sample_human.h"
#include "retrace/io/error.h"
#include "retrace/recordings/asf_amc.h"
#include "retrace/recordings/bvh.h"
#include "retrace/retargeting/reference.h"
#include "retrace/retargeting/subject.h"

namespace retrace::character::sides {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kClips = std::string(RETRACE_SOURCE_DIR) + "/data/clips/";

motion::Clip Walk() {
  return motion::ReadBvh(kClips + "walk.bvh");
}

/// With every joint of the left named as the one of the right, and the reverse.
motion::Clip NamesExchanged(motion::Clip clip) {
  for (motion::Joint& joint : clip.skeleton.joints) {
    const size_t left = joint.name.find("Left"), right = joint.name.find("Right");
    if (left != std::string::npos) joint.name.replace(left, 4, "Right");
    if (right != std::string::npos) joint.name.replace(right, 5, "Left");
  }
  return clip;
}

/// In axes of which two are exchanged: z up and left-handed.
motion::Clip LeftHanded(motion::Clip clip) {
  const auto swapped = [](const Vec3& v) { return Vec3(v.x(), v.z(), v.y()); };
  for (motion::Joint& joint : clip.skeleton.joints) joint.offset = swapped(joint.offset);
  for (motion::Frame& frame : clip.frames) {
    for (Vec3& translation : frame.translations) translation = swapped(translation);
    for (Quat& q : frame.rotations) q = Quat(q.w(), -q.x(), -q.z(), -q.y());
  }
  return clip;
}

struct Made {
  std::vector<Pose> poses;
  ReferenceReport report;
};

Made Make(const motion::Clip& clip, const ReferenceOptions& options = {}, const Character& character = Human()) {
  Made made;
  made.poses = MakeReference(character, clip, "walk.bvh", options, made.report).poses();
  return made;
}

bool Doubts(const ReferenceReport& report, const std::string& kind) {
  return std::any_of(report.doubts.begin(), report.doubts.end(),
                     [&](const Doubt& doubt) { return doubt.kind == kind; });
}

double LargestAngle(const std::vector<Pose>& a, const std::vector<Pose>& b) {
  double largest = 0;
  EXPECT_EQ(a.size(), b.size());
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    for (size_t j = 0; j < a[i].joint_rotations.size(); ++j) {
      largest = std::max(largest, AngleBetween(a[i].joint_rotations[j], b[i].joint_rotations[j]));
    }
  }
  return largest;
}

TEST(Handedness, OfRecordingsThatAreRightIsNotDoubted) {
  const Made walk = Make(Walk());
  EXPECT_FALSE(walk.report.handedness.mirrored);
  EXPECT_FALSE(Doubts(walk.report, "mirrored"));
  ASSERT_EQ(walk.report.handedness.votes.size(), 4u);
  for (const SideVote& vote : walk.report.handedness.votes) {
    EXPECT_GT(vote.value, 0.9) << vote.of;
    EXPECT_GT(vote.weight, 0.5) << vote.of;
  }
  for (const char* clip : {"squat.bvh", "stand.bvh", "roll_sideways.bvh"}) {
    EXPECT_FALSE(Make(motion::ReadBvh(kClips + clip)).report.handedness.mirrored) << clip;
  }
}

TEST(Handedness, WhateverExchangedLeftAndRightIsSeenAndMended) {
  const Made walk = Make(Walk());
  const std::pair<const char*, motion::Clip> exchanged[] = {{"mirrored", motion::Mirrored(Walk())},
                                                            {"left-handed axes", LeftHanded(Walk())},
                                                            {"names", NamesExchanged(Walk())}};
  for (const auto& [how, clip] : exchanged) {
    ReferenceOptions options;
    const Made twisted = Make(clip, options);
    EXPECT_TRUE(twisted.report.handedness.mirrored) << how;
    ASSERT_TRUE(Doubts(twisted.report, "mirrored")) << how;
    EXPECT_THAT(twisted.report.doubts[0].text, HasSubstr("mirroring it (mirror) mends it"));
    options.mirror = true;
    const Made mended = Make(clip, options);
    EXPECT_FALSE(mended.report.handedness.mirrored) << how;
    EXPECT_FALSE(Doubts(mended.report, "mirrored")) << how;
    EXPECT_NEAR(mended.report.joint_distance, walk.report.joint_distance, 1e-3) << how;
    // Exchanged names give the mirror image, the others the walk that was recorded.
    if (how != std::string("names")) {
      EXPECT_LT(LargestAngle(mended.poses, walk.poses), Radians(1)) << how;
    }
  }
}

TEST(Handedness, MirroringWhatIsRightIsDoubted) {
  ReferenceOptions options;
  options.mirror = true;
  const Made made = Make(Walk(), options);
  ASSERT_TRUE(Doubts(made.report, "mirrored"));
  EXPECT_THAT(made.report.doubts[0].text, HasSubstr("unmirrored they are not"));
}

TEST(Handedness, OfABodyOnFourLegsIsThatOfItsRestPose) {
  const Character quadruped = LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/quadruped.json");
  const motion::Clip trot = motion::ReadBvh(kClips + "trot.bvh");
  EXPECT_FALSE(Make(trot, {}, quadruped).report.handedness.mirrored);
  const Made twisted = Make(motion::Mirrored(trot), {}, quadruped);
  EXPECT_TRUE(twisted.report.handedness.mirrored);
  ReferenceOptions options;
  options.mirror = true;
  EXPECT_LT(LargestAngle(Make(motion::Mirrored(trot), options, quadruped).poses, Make(trot, {}, quadruped).poses),
            1e-6);
}

TEST(Handedness, ASubjectIsMadeOfTheMirroredRecording) {
  ReferenceOptions options;
  std::vector<std::string> notes;
  const Character expected = MakeSubject(Human(), Walk(), "walk.bvh", options, notes);
  options.mirror = true;
  const Character subject = MakeSubject(Human(), motion::Mirrored(Walk()), "walk.bvh", options, notes);
  EXPECT_NEAR(subject.height, expected.height, 1e-9);
}

/// A calibration: a T-pose that is not quite the rest pose.
motion::Frame Calibration(const motion::Clip& clip) {
  motion::Frame frame = clip.frames.front();
  for (Quat& rotation : frame.rotations) rotation = Quat::Identity();
  frame.rotations[1] = AxisRotation(2, Radians(20));
  return frame;
}

TEST(CalibrationPoses, AtBothEndsAreLeftOutAndNamedAndKeptWhereThatIsAskedFor) {
  const motion::Clip walk = Walk();
  const std::vector<Pose> expected = Make(walk).poses;
  for (const size_t before : {size_t{0}, size_t{1}, size_t{40}}) {
    for (const size_t after : {size_t{0}, size_t{1}, size_t{25}}) {
      motion::Clip clip = walk;
      clip.frames.insert(clip.frames.begin(), before, Calibration(walk));
      clip.frames.insert(clip.frames.end(), after, Calibration(walk));
      const Made made = Make(clip);
      EXPECT_EQ(made.report.lead_in_frames, static_cast<int>(before));
      EXPECT_EQ(made.report.lead_out_frames, static_cast<int>(after));
      // Only what the whole recording tells of the axes of segments may differ.
      ASSERT_EQ(made.poses.size(), expected.size());
      EXPECT_LT(LargestAngle(made.poses, expected), Radians(2));
      if (before > 0) {
        EXPECT_THAT(made.report.notes, Contains(HasSubstr("frames at the start are left out")));
      }
      if (after > 0) {
        EXPECT_THAT(made.report.notes, Contains(HasSubstr("frames at the end are left out")));
      }
      ReferenceOptions keep;
      keep.keep_calibration_frames = true;
      const Made kept = Make(clip, keep);
      EXPECT_EQ(kept.report.lead_in_frames + kept.report.lead_out_frames, 0);
    }
  }
}

TEST(CalibrationPoses, AnEndThatIsGivenIsMovedBeforeThem) {
  motion::Clip clip = Walk();
  const double end = clip.duration();
  clip.frames.insert(clip.frames.end(), 20, Calibration(Walk()));
  ReferenceOptions options;
  options.end = clip.duration();
  const Made made = Make(clip, options);
  EXPECT_NEAR(static_cast<double>(made.poses.size() - 1) / 120, end, 0.01);
  EXPECT_THAT(made.report.notes, Contains(HasSubstr("the end is moved from ")));
}

TEST(Proportions, OfABodyThatIsNoneAreDoubted) {
  EXPECT_FALSE(Doubts(Make(Walk()).report, "proportions"));
  EXPECT_TRUE(Doubts(Make(motion::ReadBvh(kClips + "trot.bvh")).report, "proportions"));
}

}  // namespace
}  // namespace retrace::character::sides
