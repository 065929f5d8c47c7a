#include "retrace/methods/idling/options.h"

#include "methods/options_laws.h"

namespace retrace::idling {
namespace {

TEST(IdlingOptions, EveryNumberHasARange) {
  EXPECT_GE(ExpectEveryNumberHasARange<Options>(), 20);
}

TEST(IdlingOptions, TheLongestIsNotShorterThanTheShortest) {
  Options options;
  options.longest = options.shortest;
  EXPECT_EQ(options.Validate(), std::nullopt);
  options.longest = options.shortest / 2;
  EXPECT_EQ(options.Validate(), "the longest extension is shorter than the shortest");
  options = {};
  options.longest_hold = options.shortest_hold / 2;
  EXPECT_EQ(options.Validate(), "the longest hold is shorter than the shortest");
}

}  // namespace
}  // namespace retrace::idling
