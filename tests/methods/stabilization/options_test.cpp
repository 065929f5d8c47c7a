#include "retrace/methods/stabilization/options.h"

#include "methods/options_laws.h"

namespace retrace::stabilization {
namespace {

TEST(StabilizationOptions, EveryNumberHasARange) {
  EXPECT_GE(ExpectEveryNumberHasARange<Options>(), 11);
  EXPECT_GE(ExpectEveryNumberHasARange<GrowthOptions>(), 13);
}

TEST(StabilizationOptions, TheSmallestForceIsNotAboveTheLargest) {
  GrowthOptions options;
  options.smallest_force = options.largest_force;
  EXPECT_EQ(options.Validate(), std::nullopt);
  options.smallest_force = options.largest_force + 1;
  EXPECT_EQ(options.Validate(), "/growth/smallest_force is above /growth/largest_force");
}

}  // namespace
}  // namespace retrace::stabilization
