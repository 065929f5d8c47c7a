#include "retrace/methods/sampling/options.h"

#include "methods/options_laws.h"

namespace retrace::sampling {
namespace {

TEST(SamplingOptions, EveryNumberHasARange) {
  EXPECT_GE(ExpectEveryNumberHasARange<Options>(), 30);
}

TEST(SamplingOptions, NoMoreSamplesAreSavedThanAreDrawn) {
  Options options;
  options.samples = options.selection.saved = 30;
  EXPECT_EQ(options.Validate(), std::nullopt);
  options.selection.saved = 31;
  EXPECT_EQ(options.Validate(), "/search/saved: found 31, expected at most /search/samples, which is 30");
}

TEST(SamplingOptions, ARestartSavesNoMoreThanItDraws) {
  Options options;
  options.samples = 100;
  options.selection.saved = 20;
  options.restart.samples = 150;
  options.restart.saved = 151;
  EXPECT_EQ(options.Validate(), "/restart/saved: found 151, expected at most /restart/samples, which is 150");
  options.restart.samples = 100;  // there is no restart
  EXPECT_EQ(options.Validate(), std::nullopt);
}

}  // namespace
}  // namespace retrace::sampling
