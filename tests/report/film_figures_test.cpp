/// What films read from the document of a page.
#include "report/film_figures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/packed.h"
#include "retrace/math/rotation.h"

namespace retrace::report {
namespace {

TEST(PackedPoses, AreInterpolatedAndEndWithTheLastOne) {
  Floats numbers;
  for (const double x : {0.0, 2.0}) {
    numbers.Add(Vec3(x, 1, 0));
    numbers.Add(AxisRotation(1, x));
  }
  const PackedPoses poses(numbers.Packed(), 1, 0.5);
  EXPECT_EQ(poses.num_frames(), 2U);
  EXPECT_NEAR(poses.At(0.125)[0].position.x(), 0.5, 1e-6);
  EXPECT_NEAR(AngleBetween(poses.At(0.25)[0].orientation, AxisRotation(1, 1)), 0, 1e-3);
  EXPECT_NEAR(poses.At(9)[0].position.x(), 2, 1e-6);
  EXPECT_NEAR(poses.At(-1)[0].position.x(), 0, 1e-6);
}

TEST(FilmedForces, ContactsBeginAndPushesEndWhereTheyAct) {
  Floats points, forces;
  points.Add(Vec3(1, 0, 0));
  forces.Add(Vec3(0, 500, 0));
  FilmedForces filmed;
  filmed.Read(
      {{"offsets", Pack(std::vector<uint32_t>{0, 0, 1})}, {"points", points.Packed()}, {"forces", forces.Packed()}});
  rendering::Picture picture;
  filmed.AddTo(picture, 0, 0.001, {});
  filmed.AddTo(picture, 7, 0.001, {});
  EXPECT_TRUE(picture.arrows.empty());
  filmed.AddTo(picture, 1, 0.001, {});
  filmed.end_where_they_act = true;
  filmed.AddTo(picture, 1, 0.001, {});
  ASSERT_EQ(picture.arrows.size(), 2U);
  EXPECT_LT((picture.arrows[0].to - Vec3(1, 0.5, 0)).norm(), 1e-6);
  EXPECT_LT((picture.arrows[1].to - Vec3(1, 0, 0)).norm(), 1e-6);
  EXPECT_LT((picture.arrows[1].from - Vec3(1, -0.5, 0)).norm(), 1e-6);
}

TEST(FilmedWorld, HasStillAndMovingThings) {
  Floats courses, start, frames;
  for (const double x : {0.0, 1.0}) courses.Add(Vec3(x, 0, 0));
  for (const double x : {5.0, 6.0}) {
    start.Add(Vec3(x, 0, 0));
    start.Add(Quat::Identity());
  }
  for (const double x : {6.0, 8.0}) {
    frames.Add(Vec3(x, 0, 0));
    frames.Add(Quat::Identity());
  }
  const io::Json box = {{"size", {1, 1, 1}}, {"position", {0, 3, 0}}, {"orientation", {1, 0, 0, 0}}, {"moves", false}};
  io::Json moving = box;
  moving["moves"] = true;
  const io::Json ball = {
      {"shapes", {{{"kind", "capsule"}, {"radius", 0.1}, {"length", 0}, {"axis", 1}, {"offset", {0, 0, 0}}}}}};
  const io::Json world = {{"ground", {{"present", true}, {"height", -0.5}}},
                          {"boxes", {box, moving}},
                          {"courses", courses.Packed()},
                          {"bodies", {ball, ball}},
                          {"start", start.Packed()},
                          {"moving", Pack(std::vector<uint32_t>{1})},
                          {"frames", frames.Packed()}};
  rendering::Picture picture;
  FilmedWorld(world, 1).AddTo(picture, 0.5);
  EXPECT_EQ(picture.ground, -0.5);
  ASSERT_EQ(picture.solids.size(), 4U);
  const auto middle = [&](size_t solid) {
    Vec3 sum = Vec3::Zero();
    for (const Vec3& vertex : picture.solids[solid].vertices) sum += vertex;
    return Vec3(sum / static_cast<double>(picture.solids[solid].vertices.size()));
  };
  EXPECT_NEAR(middle(0).y(), 3, 1e-6);
  EXPECT_NEAR(middle(1).x(), 0.5, 1e-6);
  EXPECT_NEAR(middle(2).x(), 5, 1e-6);
  EXPECT_NEAR(middle(3).x(), 7, 1e-6);
}

}  // namespace
}  // namespace retrace::report
