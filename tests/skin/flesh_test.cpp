/// Distances from flesh, and where a body has it.
#include "skin/flesh.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "character/sample_human.h"

namespace retrace::skin {
namespace {

TEST(Flesh, OfABallAndOfAConeAreThoseOfGeometry) {
  const Flesh ball = {.from = Vec3(1, 2, 3), .to = Vec3(1, 2, 3), .from_radius = 0.5, .to_radius = 0.5};
  EXPECT_NEAR(ball.At(Vec3(1, 2, 5)), 1.5, 1e-12);
  EXPECT_NEAR(ball.At(Vec3(1, 2, 3)), -0.5, 1e-12);
  const Flesh rod = {.from = Vec3(0, 0, 0), .to = Vec3(0, 2, 0), .from_radius = 0.2, .to_radius = 0.2};
  EXPECT_NEAR(rod.At(Vec3(1, 1, 0)), 0.8, 1e-12);
  EXPECT_NEAR(rod.At(Vec3(0, 3, 0)), 0.8, 1e-12);
}

RC_GTEST_PROP(Flesh, ChangesByNoMoreThanTheDistance, ()) {
  // What blocks of the surface net are left out by.
  const auto number = [](int low, int high) { return 0.01 * *rc::gen::inRange(low, high); };
  const auto place = [&] { return Vec3(number(-100, 100), number(-100, 100), number(-100, 100)); };
  const double radius = number(1, 30);
  Flesh flesh = {.from = place(), .to = place(), .from_radius = radius, .to_radius = radius};
  flesh.flatness = Vec3(number(80, 300), number(80, 300), number(80, 300));
  const Vec3 a = place(), b = place();
  RC_ASSERT(std::abs(flesh.At(a) - flesh.At(b)) <= (a - b).norm() + 1e-9);
}

TEST(Flesh, AllBodiesOfAHumanHaveSomeAndJointsAreInside) {
  const character::Character& human = character::Human();
  const std::optional<FleshedBody> body = FleshOf(human);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->limbs.size(), 4U);
  std::vector<const Flesh*> all;
  for (const Flesh& flesh : body->trunk) all.push_back(&flesh);
  for (const auto& limb : body->limbs) {
    for (const Flesh& flesh : limb) all.push_back(&flesh);
  }
  for (const character::Joint& joint : human.joints) {
    double least = 1;
    for (const Flesh* const flesh : all) least = std::min(least, flesh->At(joint.anchor));
    EXPECT_LT(least, 0) << joint.name;
  }
  EXPECT_FALSE(FleshOf(character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/asimo.json")));
}

}  // namespace
}  // namespace retrace::skin
