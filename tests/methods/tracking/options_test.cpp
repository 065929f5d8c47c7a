#include "retrace/methods/tracking/options.h"

#include "methods/options_laws.h"

namespace retrace::tracking {
namespace {

TEST(TrackingOptions, EveryNumberHasARange) {
  EXPECT_GE(ExpectEveryNumberHasARange<Options>(), 30);
}

TEST(TrackingOptions, FeedbackServosAndGuidanceMayBeSwitchedOff) {
  Options options;
  options.feedback = options.stiffness = options.guidance = options.take_off_weight = options.released_force = 0;
  options.clean_feet = options.ballistic_flight = options.balance = false;
  EXPECT_EQ(options.Validate(), std::nullopt);
}

}  // namespace
}  // namespace retrace::tracking
