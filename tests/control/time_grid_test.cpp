/// Steps and times of a simulation.
#include "retrace/control/time_grid.h"

#include <gtest/gtest.h>

namespace retrace::control {
namespace {

TEST(TimeGrid, RoundsToTheNearestInstant) {
  const TimeGrid grid{0.25};
  EXPECT_EQ(grid.Nearest(0.6), 2);
  EXPECT_EQ(grid.Nearest(0.7), 3);
  EXPECT_EQ(grid.Nearest(0.375), 2) << "half way: away from 0";
  EXPECT_EQ(grid.Nearest(-0.375), -2);
}

TEST(TimeGrid, FloorAndCeilEncloseATime) {
  const TimeGrid grid{0.25};
  EXPECT_EQ(grid.Floor(0.6), 2);
  EXPECT_EQ(grid.Ceil(0.6), 3);
  EXPECT_EQ(grid.Floor(-0.6), -3);
  EXPECT_EQ(grid.Ceil(-0.6), -2);
}

TEST(TimeGrid, AMultipleOfTheStepIsItsInstantWhateverItsLastBits) {
  for (const double h : {1.0 / 240, 1.0 / 480, 1.0 / 2000, 0.001, 0.0025}) {
    const TimeGrid grid{h};
    for (int step = 0; step < 5000; ++step) {
      double sum = 0;  // as far from the product as sums of times are
      for (int part = 0; part < 10; ++part) sum += grid.TimeOf(step) / 10;
      for (const double time : {grid.TimeOf(step), sum}) {
        ASSERT_EQ(grid.Nearest(time), step) << h;
        ASSERT_EQ(grid.Floor(time), step) << h;
        ASSERT_EQ(grid.Ceil(time), step) << h;
      }
    }
  }
}

TEST(TimeGrid, APartHasAStepAtLeast) {
  const TimeGrid grid{0.25};
  EXPECT_EQ(grid.PartSteps(0.6), 2);
  EXPECT_EQ(grid.PartSteps(0.01), 1);
  EXPECT_EQ(grid.PartSteps(0), 1);
}

}  // namespace
}  // namespace retrace::control
