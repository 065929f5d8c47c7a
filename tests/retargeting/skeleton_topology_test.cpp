/// Skeletons whose names say nothing are mapped by their shape as by their names.
#include "retargeting/skeleton_topology.h"

#include <gtest/gtest.h>

#include "retrace/recordings/bvh.h"
#include "retrace/retargeting/skeleton_mapping.h"

namespace retrace::character {
namespace {

motion::Clip WalkClip() {
  return motion::ReadBvh(std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh");
}

TEST(SkeletonTopology, FindsTheLimbsThatTheNamesSay) {
  motion::Clip clip = WalkClip();
  const SkeletonMap named = MapClip(clip, "walk.bvh", nullptr);
  for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) clip.skeleton.joints[j].name = "joint" + std::to_string(j);
  const std::optional<SkeletonMap> found = MapByTopology(clip);
  ASSERT_TRUE(found.has_value());
  for (const char* side : {"left_", "right_"}) {
    for (const char* segment : {"upper_arm", "lower_arm", "thigh", "shin", "foot"}) {
      const std::string name = std::string(side) + segment;
      ASSERT_TRUE(found->Has(name)) << name;
      EXPECT_EQ(found->segments.at(name).position, named.segments.at(name).position) << name;
    }
  }
  EXPECT_EQ(found->segments.at("pelvis").position, named.segments.at("pelvis").position);
  EXPECT_TRUE(found->Has("head"));
}

TEST(SkeletonTopology, KnowsLeftFromRightWhateverTheOrderOfTheJoints) {
  motion::Clip clip = WalkClip();
  const SkeletonMap named = MapClip(clip, "walk.bvh", nullptr);
  // Mirrored, what was the left leg is the right one.
  for (motion::Joint& joint : clip.skeleton.joints) joint.offset.x() *= -1;
  for (motion::Frame& frame : clip.frames) {
    for (Vec3& translation : frame.translations) translation.x() *= -1;
    for (Quat& rotation : frame.rotations) rotation = Quat(rotation.w(), rotation.x(), -rotation.y(), -rotation.z());
  }
  const std::optional<SkeletonMap> found = MapByTopology(clip);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->segments.at("right_thigh").position, named.segments.at("left_thigh").position);
  EXPECT_EQ(found->segments.at("left_upper_arm").position, named.segments.at("right_upper_arm").position);
}

TEST(SkeletonTopology, AChainIsNoBody) {
  motion::Clip clip;
  clip.frame_time = 1.0 / 30;
  for (int j = 0; j < 12; ++j) {
    clip.skeleton.joints.push_back({"joint" + std::to_string(j), j - 1, Vec3(0, 0.1, 0), false});
  }
  motion::Frame frame;
  frame.translations.assign(12, Vec3(0, 0.1, 0));
  frame.rotations.assign(12, Quat::Identity());
  clip.frames.assign(5, frame);
  EXPECT_FALSE(MapByTopology(clip).has_value());
}

}  // namespace
}  // namespace retrace::character
