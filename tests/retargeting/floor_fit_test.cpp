/// The floor under the feet of motions whose floor is known.
#include "retargeting/floor_fit.h"

#include <gtest/gtest.h>

#include "character/sample_human.h"
#include "retrace/recordings/bvh.h"
#include "retrace/retargeting/reference.h"

namespace retrace::character {
namespace {

constexpr double kPosesPerSecond = 120;

/// A walk on a floor at height 0.
std::vector<Pose> BundledWalk() {
  const std::string path = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
  ReferenceReport report;
  return MakeReference(Human(), motion::ReadBvh(path), path, {}, report).poses();
}

/// The whole motion turned about the origin and moved.
std::vector<Pose> Moved(std::vector<Pose> poses, const Quat& turn, const Vec3& shift) {
  for (Pose& pose : poses) {
    pose.root_position = turn * pose.root_position + shift;
    pose.root_orientation = turn * pose.root_orientation;
  }
  return poses;
}

TEST(FloorFit, FindsTheHeightOfTheFloor) {
  const std::vector<Pose> walk = BundledWalk();
  for (const double height : {-0.4, 0.0, 1.2}) {
    const FloorFit fit(Human(), Moved(walk, Quat::Identity(), Vec3(3, height, -2)), kPosesPerSecond);
    EXPECT_TRUE(fit.has_stance());
    const Plane plane = fit.Fit(false);
    EXPECT_NEAR(plane.height, height, 0.015);
    EXPECT_EQ(plane.Tilt(), 0);
    EXPECT_TRUE(fit.LevelsOver(plane).empty()) << "no foot stands beside the floor";
  }
}

TEST(FloorFit, FindsATiltAlongTheWay) {
  const std::vector<Pose> walk = BundledWalk();
  const Vec3 along = (walk.back().root_position - walk.front().root_position).normalized();
  const double slope = 0.035;  // 2 degrees, as a camera that is not level has them
  const Quat turn(Eigen::AngleAxisd(-std::atan(slope), Vec3::UnitY().cross(along).normalized()));
  const Plane plane = FloorFit(Human(), Moved(walk, turn, Vec3::Zero()), kPosesPerSecond).Fit(true);
  EXPECT_NEAR(plane.slope_x * along.x() + plane.slope_z * along.z(), slope, 0.01);
  EXPECT_NEAR(plane.At(Vec3::Zero()), 0, 0.03);
}

TEST(FloorFit, FeetThatNeverStandShowNone) {
  std::vector<Pose> poses;
  for (int f = 0; f < 120; ++f) {
    Pose pose = RestPose(Human());
    pose.root_position.y() += 0.5 + 2 * f / kPosesPerSecond;  // rises at 2 m/s
    poses.push_back(pose);
  }
  EXPECT_FALSE(FloorFit(Human(), poses, kPosesPerSecond).has_stance());
}

}  // namespace
}  // namespace retrace::character
