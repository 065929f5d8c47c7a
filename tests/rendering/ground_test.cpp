/// Rows of the ground as seen from straight above.
#include "rendering/ground.h"

#include <gtest/gtest.h>

namespace retrace::rendering {
namespace {

/// The row of ground from x = -1 to 1 at some z, a pixel for each centimeter.
std::vector<Color> RowOf(const Picture& picture, double z) {
  const LightMaps light(picture);
  const Ground ground(picture, light);
  std::vector<Color> row(200);
  const double height = picture.camera.eye.y();
  ground.DrawRow({Vec3(-0.995 / height, -1, z / height), Vec3(0.01 / height, 0, 0)}, row);
  return row;
}

Picture FromAbove() {
  Picture picture;
  picture.camera.eye = Vec3(0, 5, 0);
  return picture;
}

TEST(Ground, HasALineAtEachMeter) {
  const std::vector<Color> row = RowOf(FromAbove(), 0.5);
  const float open = row[150][1];
  EXPECT_FLOAT_EQ(open, FromAbove().ground_color[1]);
  EXPECT_LT(row[99][1], open - 0.1F);
  EXPECT_LT(row[100][1], open - 0.1F);
  EXPECT_FLOAT_EQ(row[90][1], open);
  for (const Color& color : RowOf(FromAbove(), 1)) EXPECT_LT(color[1], open - 0.1F);
}

TEST(Ground, BecomesBackgroundFarAway) {
  Picture picture = FromAbove();
  picture.focus = Vec3(40, 0, 0);
  for (const Color& color : RowOf(picture, 0.5)) EXPECT_EQ(color, picture.background);
  picture.focus = Vec3::Zero();
  picture.has_ground = false;
  for (const Color& color : RowOf(picture, 0.5)) EXPECT_EQ(color, picture.background);
}

TEST(Ground, TheLatestMarkIsSeen) {
  Picture picture = FromAbove();
  picture.mark_side = 0.1;
  picture.marks = {{0.55, 0.55, ColorOf("#ff0000")}, {0.55, 0.55, ColorOf("#0000ff")}};
  const std::vector<Color> row = RowOf(picture, 0.55);
  EXPECT_EQ(row[155], ColorOf("#0000ff"));
  EXPECT_EQ(row[145], picture.ground_color);
  EXPECT_EQ(row[165], picture.ground_color);
}

}  // namespace
}  // namespace retrace::rendering
