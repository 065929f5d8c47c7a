/// The skeleton of a clip as GLB, read back by the reader of recordings.
#include "retrace/exports/skeleton_glb.h"

#include <gtest/gtest.h>

#include "retrace/math/rotation.h"
#include "retrace/recordings/recording.h"

namespace retrace::exports {
namespace {

/// The walk in other units and with another axis that points up.
motion::Clip WalkIn(double unit, const Quat& turn) {
  motion::Clip clip = recordings::ReadRecording(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh");
  const Quat back = turn.conjugate();
  for (motion::Joint& joint : clip.skeleton.joints) joint.offset = back * Vec3(joint.offset / unit);
  for (motion::Frame& frame : clip.frames) {
    for (Vec3& translation : frame.translations) translation = back * Vec3(translation / unit);
    for (Quat& rotation : frame.rotations) rotation = back * rotation * turn;
  }
  return clip;
}

TEST(SkeletonGlb, IsTheClipInMetersWithYUp) {
  const motion::Clip walk = WalkIn(1, Quat::Identity());
  const std::pair<double, Quat> cases[] = {
      {1, Quat::Identity()}, {0.01, Quat::Identity()}, {0.0254, ShortestArc(Vec3::UnitZ(), Vec3::UnitY())}};
  for (const auto& [unit, turn] : cases) {
    const std::string bytes = FormatSkeletonGlb(WalkIn(unit, turn), "walk", unit, turn);
    recordings::Recording recording;
    recording.file = {bytes, "walk.glb"};
    const motion::Clip read = recordings::ParseRecording(recording);
    ASSERT_EQ(read.frames.size(), walk.frames.size());
    EXPECT_NEAR(read.frame_time, walk.frame_time, 1e-9);
    motion::GlobalPose a, b;
    for (size_t f = 0; f < walk.frames.size(); f += 16) {
      motion::ForwardKinematics(walk.skeleton, walk.frames[f], a);
      motion::ForwardKinematics(read.skeleton, read.frames[f], b);
      size_t compared = 0;
      for (size_t j = 0; j < walk.skeleton.joints.size(); ++j) {
        if (walk.skeleton.joints[j].end_site) continue;
        const int other = read.skeleton.Find(walk.skeleton.joints[j].name);
        ASSERT_GE(other, 0) << walk.skeleton.joints[j].name;
        const auto k = static_cast<size_t>(other);
        EXPECT_LT((a.positions[j] - b.positions[k]).norm(), 1e-5);
        EXPECT_LT(AngleBetween(a.orientations[j], b.orientations[k]), 1e-5);
        ++compared;
      }
      EXPECT_GT(compared, 15u);
    }
  }
}

}  // namespace
}  // namespace retrace::exports
