/// The skin of the bundled characters, at rest and bent.
#include "retrace/skin/body_skin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "character/sample_human.h"

namespace retrace::skin {
namespace {

using character::Character;

Character Bundled(const std::string& name) {
  return character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/" + name + ".json");
}
character::State AtRest(const Character& character) {
  return StateOf(character, character::RestPose(character));
}
/// Twice the area of a triangle, as a vector across it.
Vec3 AcrossOf(const std::vector<Vec3>& places, const std::array<int, 3>& triangle) {
  const Vec3& a = places[static_cast<size_t>(triangle[0])];
  return (places[static_cast<size_t>(triangle[1])] - a).cross(places[static_cast<size_t>(triangle[2])] - a);
}

TEST(BodySkin, CoversHumansOfAllProportions) {
  for (const char* name : {"human", "adult", "slim", "medium", "heavy"}) {
    const Character character = Bundled(name);
    const BodySkin skin = MakeBodySkin(character);
    ASSERT_FALSE(skin.empty()) << name;
    EXPECT_LT(skin.surface.vertices.size(), 20000U) << name;
    ASSERT_EQ(skin.influences.size(), skin.surface.vertices.size());
    for (const auto& influences : skin.influences) {
      double sum = 0;
      for (const Influence& influence : influences) sum += influence.share;
      ASSERT_NEAR(sum, 1, 1e-9);
      ASSERT_GE(influences[0].share, influences[1].share);
    }
    const std::vector<Vec3> places = Posed(skin, AtRest(character));
    Vec3 low = places.front(), high = low;
    for (const Vec3& place : places) {
      low = low.cwiseMin(place);
      high = high.cwiseMax(place);
    }
    EXPECT_NEAR(high.y() - low.y(), character.height, 0.04) << name;
    EXPECT_NEAR(low.y(), 0, 0.02) << name;                // the soles are those of the shapes
    EXPECT_NEAR(high.x(), -low.x(), 0.01) << name;        // both sides alike
    EXPECT_GT(high.x(), 0.4 * character.height) << name;  // the T-pose, though it was made with lowered arms
    // As much flesh as the body has, roughly: the mass of humans is that of water.
    double volume = 0;
    for (const auto& triangle : skin.surface.triangles) {
      volume += AcrossOf(places, triangle).dot(places[static_cast<size_t>(triangle[0])]) / 6;
    }
    EXPECT_GT(volume, 0.75e-3 * character.total_mass()) << name;
    EXPECT_LT(volume, 1.35e-3 * character.total_mass()) << name;
  }
}

TEST(BodySkin, EachBodyCarriesSkinOfItsOwn) {
  const Character& human = character::Human();
  const BodySkin skin = MakeBodySkin(human);
  std::vector<size_t> carried(human.bodies.size(), 0);
  for (const auto& influences : skin.influences) ++carried[static_cast<size_t>(influences[0].body)];
  for (size_t b = 0; b < carried.size(); ++b) EXPECT_GT(carried[b], 20U) << human.bodies[b].name;
}

TEST(BodySkin, ABentLimbDragsNoSkinOfTheOtherOne) {
  const Character& human = character::Human();
  const BodySkin skin = MakeBodySkin(human);
  character::Pose pose = character::RestPose(human);
  const std::vector<Vec3> before = Posed(skin, StateOf(human, pose));
  RotationOf(human, pose, "left_hip") = AxisRotation(0, -1.2);
  RotationOf(human, pose, "left_knee") = AxisRotation(0, 1.6);
  const std::vector<Vec3> after = Posed(skin, StateOf(human, pose));
  const int right_shin = human.FindBody("right_shin"), left_foot = human.FindBody("left_foot");
  double moved = 0;
  for (size_t v = 0; v < before.size(); ++v) {
    const double distance = (after[v] - before[v]).norm();
    if (skin.influences[v][0].body == right_shin) {
      EXPECT_LT(distance, 1e-9);
    }
    if (skin.influences[v][0].body == left_foot) moved = std::max(moved, distance);
  }
  EXPECT_GT(moved, 0.3);
}

TEST(BodySkin, OthersHaveNone) {
  for (const char* name : {"asimo", "quadruped", "planar_human"})
    EXPECT_TRUE(MakeBodySkin(Bundled(name)).empty()) << name;
}

}  // namespace
}  // namespace retrace::skin
