/// The return to the recorded skeleton: what the character does as the reference does comes back as it was recorded;
/// what it does otherwise comes back as that, by forward kinematics of the recorded skeleton.
#include "retrace/retargeting/source_motion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>

#include "character/sample_human.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/recordings/bvh.h"
#include "retrace/recordings/recording.h"
#include "retrace/retargeting/reference.h"

namespace retrace::character {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A recording of 60 frames per second with its reference, which is not smoothed.
struct ReturnCase {
  motion::Clip clip;
  ReferenceOptions options;
  ReferenceReport report;
  std::vector<Pose> poses;  ///< of the reference, 120 per second

  explicit ReturnCase(const std::function<void(motion::Clip&)>& change = nullptr, ReferenceOptions set = {})
      : clip(recordings::ReadRecording(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh")),
        options(std::move(set)) {
    options.smoothing = 0;
    if (change) change(clip);
    poses = MakeReference(Human(), clip, "walk.bvh", options, report).poses();
  }

  double duration() const { return static_cast<double>(poses.size() - 1) / 120; }

  SourceMotion Return(const std::function<void(Pose&)>& change = nullptr) const {
    return OnSourceSkeleton(Human(), clip, "walk.bvh", options, duration(), [&](double time, State& state) {
      Pose pose = poses[static_cast<size_t>(std::lround(120 * time))];
      if (change) change(pose);
      ForwardKinematics(Human(), pose, state);
    });
  }
};

/// Largest difference of the joints' orientations in the world [rad], and of their positions [m].
struct ReturnedDifference {
  double angle = 0;
  double distance = 0;
};
ReturnedDifference DifferenceOf(const motion::Clip& a, const motion::Clip& b, size_t first, double unit) {
  ReturnedDifference difference;
  motion::GlobalPose one, other;
  for (size_t f = 0; f < a.frames.size(); ++f) {
    motion::ForwardKinematics(a.skeleton, a.frames[f], one);
    motion::ForwardKinematics(b.skeleton, b.frames.at(first + f), other);
    for (size_t j = 0; j < one.positions.size(); ++j) {
      difference.angle = std::max(difference.angle, AngleBetween(one.orientations[j], other.orientations[j]));
      difference.distance = std::max(difference.distance, unit * (one.positions[j] - other.positions[j]).norm());
    }
  }
  return difference;
}

TEST(SourceMotion, WhatFollowsTheReferenceIsTheRecording) {
  const ReturnCase walk;
  const SourceMotion returned = walk.Return();
  EXPECT_EQ(returned.clip.frames.size(), walk.clip.frames.size());
  EXPECT_EQ(returned.clip.frame_time, walk.clip.frame_time);
  EXPECT_EQ(returned.start, 0);
  for (size_t j = 0; j < walk.clip.skeleton.joints.size(); ++j) {
    EXPECT_EQ(returned.clip.skeleton.joints[j].name, walk.clip.skeleton.joints[j].name);
    EXPECT_EQ(returned.clip.skeleton.joints[j].parent, walk.clip.skeleton.joints[j].parent);
    EXPECT_EQ(returned.clip.skeleton.joints[j].offset, walk.clip.skeleton.joints[j].offset);
  }
  const ReturnedDifference difference = DifferenceOf(returned.clip, walk.clip, 0, returned.unit);
  EXPECT_LT(difference.angle, 1e-6);
  EXPECT_LT(difference.distance, 1e-6);
}

TEST(SourceMotion, UnitAxesHeadingTimeScaleAndMirrorAreUndone) {
  const auto in_centimeters = [](motion::Clip& clip) {
    for (motion::Joint& joint : clip.skeleton.joints) joint.offset *= 100;
    for (motion::Frame& frame : clip.frames) {
      for (Vec3& translation : frame.translations) translation *= 100;
    }
  };
  const auto z_up = [](motion::Clip& clip) {
    const Quat lie = AxisRotation(0, kPi / 2);
    for (motion::Joint& joint : clip.skeleton.joints) joint.offset = lie * joint.offset;
    for (motion::Frame& frame : clip.frames) {
      for (size_t j = 0; j < frame.rotations.size(); ++j) {
        frame.translations[j] = lie * frame.translations[j];
        frame.rotations[j] = lie * frame.rotations[j] * lie.conjugate();
      }
    }
  };
  const auto tilted = [](motion::Clip& clip) {
    const Quat tilt = AxisRotation(2, 0.05);
    for (motion::Frame& frame : clip.frames) {
      frame.translations[0] = tilt * frame.translations[0] + Vec3(1, 2, 3);
      frame.rotations[0] = tilt * frame.rotations[0];
    }
  };
  const auto mirrored = [](motion::Clip& clip) { clip = motion::Mirrored(std::move(clip)); };
  ReferenceOptions turned, slow, mirror, part;
  turned.facing = 2;
  slow.time_scale = 2;
  mirror.mirror = true;
  part.start = 0.5;
  part.end = 2;
  const auto expect = [](const ReturnCase& recorded, const char* what) {
    SCOPED_TRACE(what);
    const SourceMotion returned = recorded.Return();
    const auto first = static_cast<size_t>(std::lround(returned.start / recorded.clip.frame_time));
    const ReturnedDifference difference = DifferenceOf(returned.clip, recorded.clip, first, returned.unit);
    EXPECT_LT(difference.angle, 1e-6);
    EXPECT_LT(difference.distance, 1e-6);
  };
  expect(ReturnCase(in_centimeters), "centimeters");
  expect(ReturnCase(z_up), "z up");
  expect(ReturnCase(tilted), "tilted floor");
  expect(ReturnCase(nullptr, turned), "facing");
  expect(ReturnCase(mirrored, mirror), "mirrored");
  expect(ReturnCase(nullptr, part), "a part");

  // Played twice as long, every other frame is one of the recording.
  const ReturnCase slowed(nullptr, slow);
  SourceMotion returned = slowed.Return();
  EXPECT_NEAR(returned.clip.duration(), 2 * slowed.clip.duration(), 1e-6);
  std::vector<motion::Frame> every_other;
  for (size_t f = 0; f < returned.clip.frames.size(); f += 2) every_other.push_back(returned.clip.frames[f]);
  returned.clip.frames = every_other;
  EXPECT_LT(DifferenceOf(returned.clip, slowed.clip, 0, 1).angle, 1e-6);
}

RC_GTEST_PROP(SourceMotionProperty, ForwardKinematicsOfTheReturnAgreeWithTheBodies, ()) {
  static const ReturnCase walk;
  RandomStream random(*rc::gen::arbitrary<uint64_t>(), RandomStage::kTest, 0, 0);
  const Quat yaw = AxisRotation(1, random.Uniform(-kPi, kPi));
  const Vec3 shift(random.Uniform(-3, 3), random.Uniform(0, 1), random.Uniform(-3, 3));
  std::vector<Quat> turns;
  for (const Joint& joint : Human().joints) {
    turns.push_back(joint.type == JointType::kHinge ? FromRotationVector(random.Uniform(-0.4, 0.4) * joint.direction())
                                                    : FromRotationVector(RandomVector(random, 0.4)));
  }
  const auto change = [&](Pose& pose) {
    Place(yaw, shift, pose);
    for (size_t j = 0; j < turns.size(); ++j) pose.joint_rotations[j] = pose.joint_rotations[j] * turns[j];
  };
  const SourceMotion returned = walk.Return(change);
  motion::GlobalPose before, after;
  State plain, changed;
  const double scale = walk.report.scale;
  for (size_t f = 0; f < returned.clip.frames.size(); f += 20) {
    motion::ForwardKinematics(walk.clip.skeleton, walk.clip.frames[f], before);
    motion::ForwardKinematics(returned.clip.skeleton, returned.clip.frames[f], after);
    Pose pose = walk.poses[2 * f];
    ForwardKinematics(Human(), pose, plain);
    change(pose);
    ForwardKinematics(Human(), pose, changed);
    for (size_t b = 0; b < Human().bodies.size(); ++b) {
      const auto segment = walk.report.map.segments.find(Human().bodies[b].segment);
      if (segment == walk.report.map.segments.end()) continue;
      const auto joint = static_cast<size_t>(segment->second.orientation);
      const Quat of_body = changed[b].orientation * plain[b].orientation.conjugate();
      const Quat of_joint = after.orientations[joint] * before.orientations[joint].conjugate();
      RC_ASSERT(AngleBetween(of_body, of_joint) < 2e-5);  // the fitted floor is turned by as much
    }
    // The thighs' bones: same length relative to the character's, same direction against the recorded one.
    const auto hips = [&](const motion::GlobalPose& p) {
      Vec3 sum = Vec3::Zero();
      for (const char* side : {"left_thigh", "right_thigh"}) {
        sum += 0.5 * scale * p.positions[static_cast<size_t>(walk.report.map.segments.at(side).position)];
      }
      return sum;
    };
    const auto body_hips = [&](const State& state) {
      return Vec3(0.5 * (JointPosition(Human(), JointOf(Human(), "left_hip"), state) +
                         JointPosition(Human(), JointOf(Human(), "right_hip"), state)));
    };
    // The floor was moved by a constant.
    const Vec3 floor(0, walk.report.floor_height, 0);
    RC_ASSERT((hips(after) - body_hips(changed) - (hips(before) - body_hips(plain))).norm() < 1e-4);
    RC_ASSERT((hips(before) - body_hips(plain) - floor).norm() < 1e-4);
  }
}

TEST(SourceMotion, WhatNoBodyTurnsIsAsRecorded) {
  const ReturnCase walk([](motion::Clip& clip) {
    // A finger on each hand, and a prop that hangs in the hand.
    const int hand = clip.skeleton.Find("LeftHand");
    clip.skeleton.joints.push_back({"LeftFinger", hand, Vec3(0.02, 0, 0)});
    for (size_t f = 0; f < clip.frames.size(); ++f) {
      clip.frames[f].translations.push_back(Vec3(0.02, 0, 0));
      clip.frames[f].rotations.push_back(AxisRotation(2, 0.01 * static_cast<double>(f)));
    }
  });
  const SourceMotion returned = walk.Return([](Pose& pose) {
    for (Quat& rotation : pose.joint_rotations) rotation = rotation * AxisRotation(0, 0.2);
  });
  EXPECT_THAT(returned.moved, Contains("LeftHand"));
  EXPECT_THAT(returned.moved, Not(Contains("LeftFinger")));
  const auto finger = static_cast<size_t>(returned.clip.skeleton.Find("LeftFinger"));
  for (size_t f = 0; f < returned.clip.frames.size(); ++f) {
    EXPECT_EQ(returned.clip.frames[f].rotations[finger].coeffs(), walk.clip.frames[f].rotations[finger].coeffs());
    EXPECT_EQ(returned.clip.frames[f].translations[finger], Vec3(0.02, 0, 0));
  }
}

TEST(SourceMotion, ASpikeThatTheReferenceBridgesDoesNotReturn) {
  const ReturnCase walk;
  constexpr size_t kSpike = 90;
  const ReturnCase spiked([](motion::Clip& clip) {
    const auto elbow = static_cast<size_t>(clip.skeleton.Find("LeftForeArm"));
    clip.frames[kSpike].rotations[elbow] = clip.frames[kSpike].rotations[elbow] * AxisRotation(1, 1.5);
  });
  const SourceMotion returned = spiked.Return();
  motion::GlobalPose here, there;
  motion::ForwardKinematics(returned.clip.skeleton, returned.clip.frames[kSpike], here);
  motion::ForwardKinematics(walk.clip.skeleton, walk.clip.frames[kSpike], there);
  const auto elbow = static_cast<size_t>(walk.clip.skeleton.Find("LeftForeArm"));
  EXPECT_LT(AngleBetween(here.orientations[elbow], there.orientations[elbow]), 0.1);
}

TEST(SourceMotion, ARepeatedCycleReturnsWithTheBody) {
  ReferenceOptions loop;
  loop.loop = 6;
  const ReturnCase walk(nullptr, loop);
  const SourceMotion returned = walk.Return();
  EXPECT_NEAR(returned.clip.duration(), 6, 0.02);
  // It goes straight on: the hips travel as the reference does.
  const auto hips = static_cast<size_t>(walk.report.map.segments.at("pelvis").position);
  motion::GlobalPose first, last;
  motion::ForwardKinematics(returned.clip.skeleton, returned.clip.frames.front(), first);
  motion::ForwardKinematics(returned.clip.skeleton, returned.clip.frames.back(), last);
  const Vec3 of_reference = walk.poses.back().root_position - walk.poses.front().root_position;
  const Vec3 of_return = walk.report.scale * (last.positions[hips] - first.positions[hips]);
  EXPECT_NEAR(of_return.z(), of_reference.z(), 0.02);
}

TEST(SourceMotion, ARetimedPartReturnsAtItsSpeed) {
  ReferenceOptions options;
  options.retimings = {{1, 1.5, 2}};
  const ReturnCase walk(nullptr, options);
  const motion::Clip& returned = walk.Return().clip;
  ASSERT_EQ(returned.frames.size(), walk.clip.frames.size() + 30) << "half a second twice as long";
  // Before, within and after it. Poses between frames are interpolated at different instants.
  const PlaybackClock clock(0, walk.clip.duration(), 1, options.retimings, "walk.bvh");
  motion::GlobalPose one, other;
  for (const size_t f : {30, 75, 90, 130}) {
    const auto recorded = static_cast<size_t>(std::lround(60 * clock.RecordedTime(static_cast<double>(f) / 60)));
    motion::ForwardKinematics(returned.skeleton, returned.frames[f], one);
    motion::ForwardKinematics(walk.clip.skeleton, walk.clip.frames[recorded], other);
    for (size_t j = 0; j < one.orientations.size(); ++j) {
      EXPECT_LT(AngleBetween(one.orientations[j], other.orientations[j]), Radians(5)) << f << " " << j;
    }
  }
}

TEST(SourceMotion, PlanarCharactersAreRefused) {
  Character planar = Human();
  planar.planar = true;
  const ReturnCase walk;
  try {
    OnSourceSkeleton(planar, walk.clip, "walk.bvh", walk.options, 1, [](double, State&) {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("which moves in a plane"));
  }
}

}  // namespace
}  // namespace retrace::character
