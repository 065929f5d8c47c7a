/// Sliding feet and depths.
#include "retrace/metrics/foot_slide.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "retrace/character/kinematics.h"

namespace retrace::metrics {
namespace {

/// Two states of a standing character, the second one moved.
std::vector<character::State> Moved(const character::Character& human, double height, const Vec3& offset) {
  character::Pose pose;
  const auto root = static_cast<size_t>(human.root);
  pose.root_position = human.bodies[root].rest_position;
  pose.root_position.y() += height;
  pose.joint_rotations.assign(human.joints.size(), Quat::Identity());
  std::vector<character::State> states(2);
  character::ForwardKinematics(human, pose, states[0]);
  states[1] = states[0];
  character::Translate(states[1], offset);
  return states;
}

TEST(FootSlide, IsTheSpeedOfFeetOnTheGroundAlone) {
  const auto human = character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  const double sole = DeepestPoint(human, Moved(human, -1, Vec3::Zero())) - 1;  // of the rest pose, under 0
  EXPECT_NEAR(FootSlide(human, Moved(human, sole, {0.003, 0, 0.004}), 0.01), 0.5, 1e-9);
  EXPECT_NEAR(FootSlide(human, Moved(human, sole, {0.003, 0.02, 0.004}), 0.01), 0.5, 1e-9);
  EXPECT_EQ(FootSlide(human, Moved(human, sole, {0.003, 0.05, 0.004}), 0.01), 0);  // it leaves the ground
  EXPECT_EQ(FootSlide(human, Moved(human, 0.1, {0.003, 0, 0.004}), 0.01), 0);
  EXPECT_EQ(FootSlide(human, std::vector(1, Moved(human, 0, Vec3::Zero())[0]), 0.01), 0);
}

TEST(DeepestPoint, IsThatOfAllStates) {
  const auto human = character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  const double sole = DeepestPoint(human, Moved(human, -1, Vec3::Zero())) - 1;
  EXPECT_NEAR(DeepestPoint(human, Moved(human, sole, {0, -0.02, 0})), 0.02, 1e-9);
  EXPECT_EQ(DeepestPoint(human, Moved(human, sole + 0.3, {0, 1, 0})), 0);
}

}  // namespace
}  // namespace retrace::metrics
