/// Motions that Assimp writes as GLB, FBX and Collada files read back as they were: it is the independent writer.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "recordings/random_clip.h"
#include "recordings/scene_writer.h"
#include "recordings/well_formed.h"
#include "retrace/recordings/recording.h"

namespace retrace::recordings {
namespace {

using motion::Clip;
using motion::GlobalPose;

/// A motion as animation tools have it: joints that turn, a root that moves.
Clip AnimatedClip(uint64_t seed, int joint_count, double frame_rate, int frames) {
  RandomStream random(seed, RandomStage::kTest, 1, 0);
  Clip clip = motion::laws::RandomClip(seed, joint_count, true);
  clip.frame_time = 1 / frame_rate;
  double size = 0;
  for (motion::Joint& joint : clip.skeleton.joints) {
    joint.end_site = false;
    size = std::max(size, joint.offset.norm());
  }
  for (motion::Joint& joint : clip.skeleton.joints) joint.offset /= size;
  clip.frames.clear();
  for (int f = 0; f < frames; ++f) {
    motion::Frame& frame = clip.frames.emplace_back();
    for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) {
      const motion::Joint& joint = clip.skeleton.joints[j];
      frame.translations.push_back(joint.parent < 0 ? motion::laws::RandomVector(random, 1) : joint.offset);
      frame.rotations.push_back(f == 0 ? motion::laws::RandomRotation(random)
                                       : Quat(clip.frames[static_cast<size_t>(f) - 1].rotations[j] *
                                              FromRotationVector(motion::laws::RandomVector(random, 0.3))));
    }
  }
  return clip;
}

std::vector<Quat> RestTurns(const Clip& clip, uint64_t seed) {
  RandomStream random(seed, RandomStage::kTest, 2, 0);
  std::vector<Quat> turns;
  for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) turns.push_back(motion::laws::RandomRotation(random));
  return turns;
}

/// The largest distance of a joint from its position, and of the columns of its orientation; both relative to a size
/// of 1. Infinite where a joint is missing.
double Distance(const Clip& a, const Clip& b) {
  double largest = 0;
  if (a.frames.size() != b.frames.size()) return std::numeric_limits<double>::infinity();
  GlobalPose pose_a, pose_b;
  for (size_t f = 0; f < a.frames.size(); ++f) {
    ForwardKinematics(a.skeleton, a.frames[f], pose_a);
    ForwardKinematics(b.skeleton, b.frames[f], pose_b);
    for (size_t j = 0; j < a.skeleton.joints.size(); ++j) {
      const int k = b.skeleton.Find(a.skeleton.joints[j].name);
      if (k < 0) return std::numeric_limits<double>::infinity();
      const auto other = static_cast<size_t>(k);
      largest = std::max(largest, (pose_a.positions[j] - pose_b.positions[other]).norm());
      largest = std::max(
          largest, (pose_a.orientations[j].toRotationMatrix() - pose_b.orientations[other].toRotationMatrix()).norm());
    }
  }
  return largest;
}

Clip ReadBack(const std::string& bytes, const std::string& name) {
  Clip clip = ParseRecording({{bytes, name}, {}, {}});
  EXPECT_EQ(motion::laws::BrokenPromise(clip), "");
  return clip;
}

/// @param unit meters per unit of length, by what Assimp writes about the file
void ReadsBack(const std::string& format, const std::string& name, double unit, double tolerance) {
  const auto seed = *rc::gen::arbitrary<uint64_t>().as("seed");
  const auto joints = *rc::gen::inRange(2, 24).as("joints");
  const auto rate = *rc::gen::element(24.0, 30.0, 60.0, 120.0).as("rate");
  Clip clip = AnimatedClip(seed, joints, rate, 9);
  clip.unit = unit;
  const std::string bytes = Export(WrittenScene(clip, RestTurns(clip, seed)), format);
  const Clip again = ReadBack(bytes, name);
  RC_ASSERT(std::abs(again.frame_time * rate - 1) < 1e-6);
  RC_ASSERT(again.skeleton.joints.size() == clip.skeleton.joints.size());
  RC_ASSERT(std::abs(again.unit - unit) < 1e-9);
  RC_ASSERT(Distance(clip, again) < tolerance);
}

// Numbers in these files have 24 bits, and chains of joints add their roundings up; FBX has angles, near gimbal lock,
// too.
RC_GTEST_PROP(SceneRoundTrip, Glb, ()) {
  ReadsBack("glb2", "clip.glb", 1, 2e-5);
}

RC_GTEST_PROP(SceneRoundTrip, Fbx, ()) {
  ReadsBack("fbxa", "clip.fbx", 0.01, 1e-3);
}

RC_GTEST_PROP(SceneRoundTrip, Collada, ()) {
  ReadsBack("collada", "clip.dae", 1, 1e-4);
}

}  // namespace
}  // namespace retrace::recordings
