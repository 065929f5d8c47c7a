#include "retrace/character/mirror.h"

#include <gtest/gtest.h>

#include <string>

#include "retrace/character/kinematics.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

Character Bundled(const std::string& name) {
  return LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/" + name + ".json");
}

TEST(Mirror, BodiesOfTheImageAreWhereThoseOfTheOtherSideWouldBeSeen) {
  for (const char* name : {"human", "quadruped", "slim"}) {
    const Character character = Bundled(name);
    const std::optional<character::Mirror> mirror = character::Mirror::Of(character);
    ASSERT_TRUE(mirror) << name;
    RandomStream random(14, RandomStage::kTest, 0, 0);
    const auto turn = [&] { return FromRotationVector(Vec3(random.Normal(), random.Normal(), random.Normal()) * 0.5); };
    Pose pose;
    pose.root_position = {0.3, 0.8, -0.4};
    pose.root_orientation = turn();
    for (const Joint& joint : character.joints) {
      const Vec3 axis = Vec3::Unit(joint.axis);
      pose.joint_rotations.push_back(joint.type == JointType::kBall ? turn()
                                                                    : FromRotationVector(random.Normal() * 0.5 * axis));
    }
    const Pose image = mirror->Image(pose);
    State state, seen;
    ForwardKinematics(character, pose, state);
    ForwardKinematics(character, image, seen);
    const Eigen::DiagonalMatrix<double, 3> reflection(-1, 1, 1);
    for (size_t b = 0; b < state.size(); ++b) {
      const auto other = static_cast<size_t>(mirror->BodyOf(static_cast<int>(b)));
      EXPECT_LT((seen[other].position - reflection * state[b].position).norm(), 1e-9) << name << ": " << b;
      const Mat3 expected = reflection * state[b].orientation.toRotationMatrix() * reflection;
      EXPECT_LT((seen[other].orientation.toRotationMatrix() - expected).norm(), 1e-9) << name << ": " << b;
    }
    const Pose back = mirror->Image(image);
    EXPECT_EQ(back.root_position, pose.root_position);
    for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
      EXPECT_EQ(back.joint_rotations[j].coeffs(), pose.joint_rotations[j].coeffs());
    }
  }
}

TEST(Mirror, ThereIsNoneOfACharacterWithTwoDifferentSides) {
  Character character = Bundled("human");
  character.bodies[static_cast<size_t>(character.FindBody("left_hand"))].mass *= 1.1;
  EXPECT_FALSE(character::Mirror::Of(character));
  character = Bundled("human");
  character.bodies[static_cast<size_t>(character.FindBody("left_hand"))].name = "left_hook";
  EXPECT_FALSE(character::Mirror::Of(character));
}

}  // namespace
}  // namespace retrace::character
