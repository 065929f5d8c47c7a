/// Boxes that overlap, against the closed form for boxes whose sides are parallel and against points inside.
#include "motion_editing/boxes.h"

#include <gtest/gtest.h>

#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace::task {
namespace {

Box AnyBox(RandomStream& random, const Quat& orientation) {
  const auto numbers = [&](double low, double high) {
    return Vec3(random.Uniform(low, high), random.Uniform(low, high), random.Uniform(low, high));
  };
  return {orientation * numbers(-1, 1), orientation.toRotationMatrix(), numbers(0.1, 0.8)};
}

Quat AnyRotation(RandomStream& random) {
  return FromRotationVector(Vec3(random.Uniform(-2, 2), random.Uniform(-2, 2), random.Uniform(-2, 2)));
}

TEST(Overlap, OfParallelBoxesIsThatOfTheirSides) {
  int overlapping = 0;
  for (uint32_t k = 0; k < 500; ++k) {
    RandomStream random(1, RandomStage::kTest, k, 0);
    const Quat orientation = AnyRotation(random);
    const Box a = AnyBox(random, orientation), b = AnyBox(random, orientation);
    const Vec3 way = orientation.conjugate() * Vec3(b.center - a.center);
    const bool expected = (way.cwiseAbs().array() <= (a.half + b.half).array()).all();
    EXPECT_EQ(Overlap(a, b), expected) << k;
    overlapping += expected ? 1 : 0;
  }
  EXPECT_GT(overlapping, 50);
  EXPECT_LT(overlapping, 450);
}

TEST(Overlap, IsThereWhereAPointIsInBothAndNotWhereAPlaneIsBetween) {
  int overlapping = 0, apart = 0;
  for (uint32_t k = 0; k < 300; ++k) {
    RandomStream random(2, RandomStage::kTest, k, 0);
    const Box a = AnyBox(random, AnyRotation(random)), b = AnyBox(random, AnyRotation(random));
    const auto inside = [](const Box& box, const Vec3& point) {
      return ((box.axes.transpose() * (point - box.center)).cwiseAbs().array() <= box.half.array()).all();
    };
    bool shared = false, separated = false;
    for (int i = 0; i < 2000 && !shared; ++i) {
      const Vec3 local(random.Uniform(-1, 1), random.Uniform(-1, 1), random.Uniform(-1, 1));
      shared = inside(b, a.center + a.axes * local.cwiseProduct(a.half));
    }
    for (int i = 0; i < 2000 && !separated; ++i) {
      const Vec3 normal = (AnyRotation(random) * Vec3::UnitX()).normalized();
      const auto reach = [&](const Box& box) { return box.half.dot((box.axes.transpose() * normal).cwiseAbs()); };
      separated = std::abs((b.center - a.center).dot(normal)) > reach(a) + reach(b);
    }
    ASSERT_FALSE(shared && separated);
    if (shared || separated) {
      EXPECT_EQ(Overlap(a, b), shared) << k;
    }
    overlapping += shared ? 1 : 0;
    apart += separated ? 1 : 0;
  }
  EXPECT_GT(overlapping, 50);
  EXPECT_GT(apart, 50);
}

}  // namespace
}  // namespace retrace::task
