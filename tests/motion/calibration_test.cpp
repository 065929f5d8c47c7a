/// Poses before and after a motion, of motions that are known by construction.
#include "retrace/motion/calibration.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "retrace/math/rotation.h"

namespace retrace::motion::calibration {
namespace {

/// A figure of a trunk, two arms and two legs, in meters.
Skeleton Figure() {
  return {{{"Hips", -1, {0, 1, 0}, false},
           {"Trunk", 0, {0, 0.5, 0}, false},
           {"LeftArm", 1, {0.2, 0, 0}, false},
           {"LeftHand", 2, {0.6, 0, 0}, false},
           {"RightArm", 1, {-0.2, 0, 0}, false},
           {"RightHand", 4, {-0.6, 0, 0}, false},
           {"LeftLeg", 0, {0.1, -0.05, 0}, false},
           {"LeftFoot", 6, {0, -0.9, 0}, false},
           {"RightLeg", 0, {-0.1, -0.05, 0}, false},
           {"RightFoot", 8, {0, -0.9, 0}, false}}};
}

Frame Pose(const Skeleton& skeleton, double arms, double legs, double ahead) {
  Frame frame;
  for (const Joint& joint : skeleton.joints) {
    frame.translations.push_back(joint.offset);
    frame.rotations.push_back(Quat::Identity());
  }
  frame.translations[0].z() = ahead;
  frame.rotations[2] = AxisRotation(2, -arms);
  frame.rotations[4] = AxisRotation(2, arms);
  frame.rotations[6] = AxisRotation(0, legs);
  frame.rotations[8] = AxisRotation(0, -legs);
  return frame;
}

/// A run: faster than most recordings, arms at the sides.
Clip Running(size_t frames, double rate) {
  Clip clip;
  clip.skeleton = Figure();
  clip.frame_time = 1 / rate;
  for (size_t f = 0; f < frames; ++f) {
    const double t = static_cast<double>(f) / rate;
    clip.frames.push_back(Pose(clip.skeleton, 1.3, 0.8 * std::sin(9 * t), 3 * t));
  }
  return clip;
}

struct Added {
  size_t before = 0, after = 0;
};

RC_GTEST_PROP(Calibration, PosesAtBothEndsOfAMotionAreLeftOutWhateverTheirNumber, ()) {
  const double rate = *rc::gen::element(30.0, 60.0, 100.0, 120.0, 240.0);
  Clip clip = Running(static_cast<size_t>(2 * rate), rate);
  const size_t motion = clip.frames.size();
  Added added;
  for (const bool start : {true, false}) {
    const auto poses = *rc::gen::inRange(0, 4);
    for (int p = 0; p < poses; ++p) {
      // T-poses and others, where the motion is or at the origin, each held for some frames.
      const double arms = 0.1 * *rc::gen::inRange(-1, 2) - 0.9 * (p % 2);
      const double there = start ? clip.frames.front().translations[0].z() : clip.frames.back().translations[0].z();
      const double ahead = *rc::gen::arbitrary<bool>() ? there : -1;
      const auto held = *rc::gen::inRange<size_t>(1, 30);
      const auto at = start ? clip.frames.begin() : clip.frames.end();
      clip.frames.insert(at, held, Pose(clip.skeleton, arms, 0.01 * p, ahead));
      (start ? added.before : added.after) += held;
    }
  }
  const MotionFrames found = FindMotionFrames(clip, 1);
  RC_ASSERT(found.first == added.before);
  RC_ASSERT(found.end == added.before + motion);
  RC_ASSERT((found.jump_before > 0) == (added.before > 0));
  RC_ASSERT((found.jump_after > 0) == (added.after > 0));
}

RC_GTEST_PROP(Calibration, AMotionThatBeginsAndEndsAnyhowIsWhole, ()) {
  const double rate = *rc::gen::element(16.0, 30.0, 60.0, 120.0);
  Clip clip = Running(static_cast<size_t>(2 * rate), rate);
  // From standing still, and to it, within a tenth of a second.
  const auto still = *rc::gen::inRange<size_t>(0, 30);
  clip.frames.insert(clip.frames.begin(), still, clip.frames.front());
  clip.frames.insert(clip.frames.end(), still, clip.frames.back());
  const MotionFrames found = FindMotionFrames(clip, 1);
  RC_ASSERT(found.first == 0u);
  RC_ASSERT(found.end == clip.frames.size());
}

TEST(Calibration, ARecordingOfPosesKeepsThemAll) {
  Clip clip;
  clip.skeleton = Figure();
  clip.frame_time = 1.0 / 30;
  for (int p = 0; p < 6; ++p) {
    clip.frames.insert(clip.frames.end(), 15, Pose(clip.skeleton, p % 2, 0.1 * p, 0.5 * p));
  }
  const MotionFrames found = FindMotionFrames(clip, 1);
  EXPECT_EQ(found.first, 0u);
  EXPECT_EQ(found.end, clip.frames.size());
}

/// A body that stood, of which frames were lost when it began to go.
TEST(Calibration, AStandIsNoCalibrationHoweverAbruptlyItEnds) {
  Clip clip = Running(240, 120);
  clip.frames.insert(clip.frames.begin(), 60, Pose(clip.skeleton, 1.3, 0.2, -0.1));
  EXPECT_EQ(FindMotionFrames(clip, 1).first, 0u);
  clip.frames[59] = Pose(clip.skeleton, 0, 0, 0);
  EXPECT_EQ(FindMotionFrames(clip, 1).first, 60u) << "with a T-pose between";
}

TEST(Calibration, AJumpInTheMiddleIsNoCalibration) {
  Clip clip = Running(240, 120);
  for (size_t f = 120; f < 240; ++f) clip.frames[f].translations[0].x() += 1;
  const MotionFrames found = FindMotionFrames(clip, 1);
  EXPECT_EQ(found.first, 0u);
  EXPECT_EQ(found.end, 240u);
}

TEST(Mirrored, IsTheImageOfEveryPlaceAndItsOwnInverse) {
  const Clip clip = Running(20, 30);
  const Clip image = Mirrored(clip);
  GlobalPose a, b;
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    ForwardKinematics(clip.skeleton, clip.frames[f], a);
    ForwardKinematics(image.skeleton, image.frames[f], b);
    for (size_t j = 0; j < a.positions.size(); ++j) {
      EXPECT_LT((Vec3(-a.positions[j].x(), a.positions[j].y(), a.positions[j].z()) - b.positions[j]).norm(), 1e-12);
    }
  }
  const Clip again = Mirrored(image);
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    EXPECT_EQ(again.frames[f].translations[0], clip.frames[f].translations[0]);
    EXPECT_EQ(again.frames[f].rotations[6].coeffs(), clip.frames[f].rotations[6].coeffs());
  }
}

}  // namespace
}  // namespace retrace::motion::calibration
