/// Pictures of solids whose outlines, light and shadows are known.
#include "retrace/rendering/renderer.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "retrace/math/rotation.h"
#include "retrace/rendering/image.h"
#include "retrace/rendering/picture.h"

namespace retrace::rendering {
namespace {

constexpr int kSide = 200;  // [px]

struct Pixel {
  int r, g, b;
  bool operator==(const Pixel&) const = default;
};
Pixel At(const Image& image, int x, int y) {
  const uint8_t* p = image.Row(y) + 3 * static_cast<size_t>(x);
  return {p[0], p[1], p[2]};
}

/// A camera 10 m in front of the origin that sees 4 m of the plane there.
Picture Empty() {
  Picture picture;
  picture.has_ground = false;
  picture.camera.eye = Vec3(0, 0, 10);
  picture.camera.target = Vec3::Zero();
  picture.camera.angle = 2 * std::atan(0.2);
  picture.sun = Vec3(0, 0.5, 1);
  return picture;
}

TEST(Picture, ASolidIsSeenWhereItStands) {
  Picture picture = Empty();
  // From -1 to 0 across and from 0 to 1 up, in a plane that the camera sees at right angles.
  picture.solids.push_back(
      Placed(BoxSolid(Vec3(1, 1, 0.001), ColorOf("#cc2020")), Quat::Identity(), Vec3(-0.5, 0.5, 0)));
  const Image image = Draw(picture, kSide, kSide);
  int count = 0;
  const Pixel background = At(image, 5, 5);
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const bool inside = x >= 50 && x < 100 && y >= 50 && y < 100;  // 50 pixels for a meter
      const bool edge =
          std::abs(x - 49.5) < 1 || std::abs(x - 99.5) < 1 || std::abs(y - 49.5) < 1 || std::abs(y - 99.5) < 1;
      if (edge) continue;
      const Pixel pixel = At(image, x, y);
      ASSERT_EQ(pixel == background, !inside) << x << ", " << y;
      if (!inside) continue;
      ++count;
      ASSERT_GT(pixel.r, 2 * pixel.g);
    }
  }
  EXPECT_GT(count, 2000);
}

TEST(Picture, WhatIsNearerHidesTheRestAndAGhostLetsItThrough) {
  Picture picture = Empty();
  picture.solids.push_back(Placed(BoxSolid(Vec3(2, 2, 0.1), ColorOf("#2040cc")), Quat::Identity(), Vec3(0, 0, -1)));
  picture.solids.push_back(Placed(BoxSolid(Vec3(1, 1, 0.1), ColorOf("#cc2020")), Quat::Identity(), Vec3(0, 0, 1)));
  const Pixel red = At(Draw(picture, kSide, kSide), 100, 100);
  EXPECT_GT(red.r, 2 * red.b);
  std::swap(picture.solids[0], picture.solids[1]);  // the order does not matter
  EXPECT_EQ(At(Draw(picture, kSide, kSide), 100, 100), red);
  picture.solids.erase(picture.solids.begin());  // the blue one is left
  picture.ghosts = {Placed(BoxSolid(Vec3(1, 1, 0.1), ColorOf("#cc2020")), Quat::Identity(), Vec3(0, 0, 1))};
  const Pixel mixed = At(Draw(picture, kSide, kSide), 100, 100);
  EXPECT_GT(mixed.b, mixed.r);
  EXPECT_GT(mixed.r, At(Draw(picture, kSide, kSide), 60, 60).r);
  // Behind a solid it is not seen.
  picture.ghosts[0] = Placed(std::move(picture.ghosts[0]), Quat::Identity(), Vec3(0, 0, -4));
  EXPECT_EQ(At(Draw(picture, kSide, kSide), 100, 100), At(Draw(picture, kSide, kSide), 60, 60));
}

TEST(Picture, OneArrowIsSeenThroughABody) {
  Picture picture = Empty();
  picture.solids.push_back(BoxSolid(Vec3(2, 2, 2), ColorOf("#808080")));
  picture.arrows.push_back({Vec3(0, -0.5, 0), Vec3(0, 0.5, 0), ColorOf("#d55e00")});
  picture.arrow_radius = 0.05;
  const Pixel pixel = At(Draw(picture, kSide, kSide), 100, 110);
  EXPECT_GT(pixel.r, 2 * pixel.b);
}

TEST(Picture, ABallCastsItsShadowWhereTheSunIsHidden) {
  Picture picture;
  picture.camera.eye = Vec3(0, 12, 0.01);
  picture.camera.target = Vec3::Zero();
  picture.camera.angle = 2 * std::atan(0.25);  // 6 m of the ground
  picture.sun = Vec3(1, 1, 0);
  picture.grid_color = picture.ground_color;
  picture.solids.push_back(Placed(CapsuleSolid(0.3, 0, 1, ColorOf("#808080")), Quat::Identity(), Vec3(0, 1, 0)));
  const Image image = Draw(picture, 300, 300);
  const auto at = [&](double x, double z) {
    return At(image, static_cast<int>(std::lround(150 + 50 * x)), static_cast<int>(std::lround(150 + 50 * z)));
  };
  const Pixel open = at(1.5, 1);
  EXPECT_LT(at(-1, 0).g, open.g - 25);  // a meter to the side, as it is a meter high
  EXPECT_EQ(at(-1, 0.8), open);
  EXPECT_EQ(at(-1.8, 0), open);
}

TEST(Picture, MarksLieOnTheGround) {
  Picture picture;
  picture.camera.eye = Vec3(0, 12, 0.01);
  picture.camera.target = Vec3::Zero();
  picture.camera.angle = 2 * std::atan(0.25);
  picture.mark_side = 0.5;
  picture.marks.push_back({0.75, -0.25, ColorOf("#0000ff")});
  const Image image = Draw(picture, 300, 300);
  const auto at = [&](double x, double z) {
    return At(image, static_cast<int>(std::lround(150 + 50 * x)), static_cast<int>(std::lround(150 + 50 * z)));
  };
  EXPECT_GT(at(0.75, -0.25).b, 2 * at(0.75, -0.25).r);
  EXPECT_LT(at(0.25, -0.25).b, 2 * at(0.25, -0.25).r);
  EXPECT_LT(at(0.75, 0.25).b, 2 * at(0.75, 0.25).r);
}

TEST(Picture, WhatPassesBehindTheEyeIsCutOff) {
  Picture picture = Empty();
  // A board under the eye, from far behind it to far in front.
  picture.solids.push_back(Placed(BoxSolid(Vec3(2, 0.1, 60), ColorOf("#808080")), Quat::Identity(), Vec3(0, -1, 0)));
  const Image image = Draw(picture, kSide, kSide);
  EXPECT_EQ(At(image, 100, 20), At(image, 5, 5));
  EXPECT_FALSE(At(image, 100, 190) == At(image, 5, 5));
}

TEST(Picture, DoesNotDependOnThreads) {
  Picture picture;
  picture.solids.push_back(Placed(CapsuleSolid(0.2, 1, 1, ColorOf("#d0a080")), Quat::Identity(), Vec3(0, 0.8, 0)));
  picture.arrows.push_back({Vec3::Zero(), Vec3(0, 1, 0), ColorOf("#d55e00")});
  const Image one = Draw(picture, 320, 180, 1);
  EXPECT_EQ(one.pixels, Draw(picture, 320, 180, 3).pixels);
  EXPECT_GT(std::set<uint8_t>(one.pixels.begin(), one.pixels.end()).size(), 30U);
}

TEST(Picture, RefusesWhatIsNone) {
  EXPECT_THROW(Draw(Picture(), 0, 10), std::invalid_argument);
  EXPECT_THROW(ColorOf("red"), std::invalid_argument);
  EXPECT_THROW(ColorOf("#12345"), std::invalid_argument);
}

TEST(Text, IsAsWideAsItSaysAndStaysInTheImage) {
  Image image(200, 40);
  std::fill(image.pixels.begin(), image.pixels.end(), uint8_t{255});
  const uint8_t black[3] = {0, 0, 0};
  const double width = DrawText(image, "1.25 s", 10, 30, 18, black);
  EXPECT_DOUBLE_EQ(width, WidthOfText("1.25 s", 18));
  int left = 200, right = 0;
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 200; ++x) {
      if (At(image, x, y).r > 128) continue;
      left = std::min(left, x);
      right = std::max(right, x);
    }
  }
  EXPECT_NEAR(left, 10, 4);
  EXPECT_NEAR(right, 10 + width, 3);
  DrawText(image, "beyond all edges", 150, 2, 30, black);
}

TEST(Png, HoldsThePixels) {
  Image image(3, 2);
  for (size_t k = 0; k < image.pixels.size(); ++k) image.pixels[k] = static_cast<uint8_t>(13 * k);
  const std::string bytes = EncodePng(image);
  png_image read{};
  read.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_memory(&read, bytes.data(), bytes.size()), 0);
  read.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(read));
  ASSERT_NE(png_image_finish_read(&read, nullptr, pixels.data(), 0, nullptr), 0);
  EXPECT_EQ(pixels, image.pixels);
}

}  // namespace
}  // namespace retrace::rendering
