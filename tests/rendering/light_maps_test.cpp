/// Shadows of solids at known heights.
#include "rendering/light_maps.h"

#include <gtest/gtest.h>

namespace retrace::rendering {
namespace {

Picture UnderABoard(double height) {
  Picture picture;
  picture.sun = Vec3(0, 1, 0);
  picture.reach = 2;
  picture.solids.push_back(
      Placed(BoxSolid(Vec3(1, 0.02, 1), ColorOf("#808080")), Quat::Identity(), Vec3(0, height, 0)));
  return picture;
}

TEST(LightMaps, TheSunIsHiddenBelowABoardAndNotBesideIt) {
  const LightMaps light(UnderABoard(1));
  EXPECT_NEAR(light.SunOnGround(0.1, 0.2), 0, 1e-5);
  EXPECT_EQ(light.SunOnGround(0.8, 0), 1);
  EXPECT_EQ(light.SunOnGround(100, 0), 1);
  EXPECT_NEAR(light.SunOnGround(0.5, 0), 0.5, 0.15);  // at the edge
  EXPECT_EQ(light.SunAt(Vec3(0, 0.5, 0)), 0);
  EXPECT_EQ(light.SunAt(Vec3(0, 1.01, 0)), 1);  // its own upper side
  EXPECT_EQ(light.SunAt(Vec3(0.8, 0.5, 0)), 1);
}

TEST(LightMaps, WhatIsCloseHidesTheSkyAndWhatIsHighDoesNot) {
  EXPECT_LT(LightMaps(UnderABoard(0.02)).SkyOnGround(0, 0), 0.45);
  EXPECT_GT(LightMaps(UnderABoard(1)).SkyOnGround(0, 0), 0.99);
  EXPECT_EQ(LightMaps(UnderABoard(0.02)).SkyOnGround(0.9, 0), 1);
}

TEST(LightMaps, ShadowsStayOnTheirRasterWhenTheFocusMoves) {
  Picture picture = UnderABoard(0.5);
  const float before = LightMaps(picture).SunOnGround(0.497, 0.1);
  picture.focus = Vec3(0.7, 0, 0.3);
  EXPECT_NEAR(LightMaps(picture).SunOnGround(0.497, 0.1), before, 1e-4);
}

}  // namespace
}  // namespace retrace::rendering
