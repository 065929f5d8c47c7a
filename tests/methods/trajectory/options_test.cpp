#include "retrace/methods/trajectory/options.h"

#include "methods/options_laws.h"

namespace retrace::trajectory {
namespace {

TEST(TrajectoryOptions, EveryNumberHasARange) {
  EXPECT_GE(ExpectEveryNumberHasARange<Options>(), 12);
}

TEST(TrajectoryOptions, TheSmallestSplineAndPopulationAreValid) {
  Options options;
  options.together = 1;
  options.knots = 2;
  options.population = 4;
  EXPECT_EQ(options.Validate(), std::nullopt);
  options.population = 3;
  EXPECT_NE(options.Validate(), std::nullopt);
}

}  // namespace
}  // namespace retrace::trajectory
