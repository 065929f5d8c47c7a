/// Surfaces of known solids.
#include "skin/surface_net.h"

#include <gtest/gtest.h>

#include "retrace/math/rotation.h"

namespace retrace::skin {
namespace {

TEST(SurfaceNet, OfABallIsClosedAndHasItsVolume) {
  const Vec3 middle(0.2, -0.1, 0.3);
  const double radius = 0.4;
  const TriangleMesh mesh = SurfaceNet([&](const Vec3& place) { return (place - middle).norm() - radius; },
                                       middle - Vec3::Constant(0.5), middle + Vec3::Constant(0.5), 0.03);
  EXPECT_FALSE(FindFault(mesh).any()) << FindFault(mesh).found;  // closed, and not inside out
  for (const Vec3& vertex : mesh.vertices) EXPECT_NEAR((vertex - middle).norm(), radius, 1e-5);
  const MassProperties solid = SolidOf(mesh);
  EXPECT_NEAR(solid.volume, 4.0 / 3 * kPi * radius * radius * radius, 0.01 * solid.volume);
  EXPECT_LT((solid.center - middle).norm(), 1e-3);
}

TEST(SurfaceNet, LeavesNothingOutWhereBlocksAreEmpty) {
  // Two balls far apart: blocks between them are passed over, and both are found whole.
  const auto distance = [](const Vec3& place) {
    return std::min((place - Vec3(-1, 0.007, 0.003)).norm() - 0.1, (place - Vec3(1, 0.007, 0.003)).norm() - 0.1);
  };
  const TriangleMesh mesh = SurfaceNet(distance, Vec3(-1.3, -0.3, -0.3), Vec3(1.3, 0.3, 0.3), 0.02);
  EXPECT_FALSE(FindFault(mesh).any()) << FindFault(mesh).found;
  EXPECT_NEAR(SolidOf(mesh).volume, 2 * 4.0 / 3 * kPi * 0.001, 0.02 * 0.0084);
  EXPECT_NEAR(SolidOf(mesh).center.x(), 0, 1e-3);
}

}  // namespace
}  // namespace retrace::skin
