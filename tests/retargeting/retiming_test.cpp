#include "retrace/retargeting/retiming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/io/error.h"

namespace retrace::character {
namespace {

using testing::HasSubstr;

template <typename Function>
std::string RefusalOf(const Function& function) {
  try {
    function();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Retiming, IsReadFromText) {
  const Retiming retiming = ParseRetiming("1.2-1.8:1.5");
  EXPECT_EQ(retiming.start, 1.2);
  EXPECT_EQ(retiming.end, 1.8);
  EXPECT_EQ(retiming.scale, 1.5);
  EXPECT_EQ(Format(retiming), "1.2-1.8:1.5");
  for (const char* text : {"", "1.2", "1.2-1.8", "1.2:1.5", "1.2-1.8:", "a-1.8:1.5", "1.2-1.8:1.5:2", "-1-2:1.5"}) {
    EXPECT_THAT(RefusalOf([&] { ParseRetiming(text); }), HasSubstr("expected START-END:FACTOR")) << text;
  }
  EXPECT_THAT(RefusalOf([] { ParseRetiming("1.8-1.2:1.5"); }), HasSubstr("expected an end at least 0.05 s after"));
  EXPECT_THAT(RefusalOf([] { ParseRetiming("1.2-1.8:0"); }), HasSubstr("found the factor 0"));
}

TEST(PlaybackClock, RetimedPartsLastTheirFactorTimesAsLong) {
  const PlaybackClock clock(0.5, 3.5, 2, {{2.6, 3.5, 0.5}, {1.2, 1.8, 1.5}}, "clip");
  EXPECT_NEAR(clock.PlayedTime(0.5), 0, 1e-12);
  EXPECT_NEAR(clock.PlayedTime(3.5), 2 * (3 + 0.6 * 0.5 - 0.9 * 0.5), 1e-12);
  // Away from the ends of the parts.
  EXPECT_NEAR(clock.PlayedTime(1.6) - clock.PlayedTime(1.4), 2 * 1.5 * 0.2, 1e-12);
  EXPECT_NEAR(clock.PlayedTime(2.4) - clock.PlayedTime(2.0), 2 * 0.4, 1e-12);
  EXPECT_NEAR(clock.PlayedTime(0) - clock.PlayedTime(0.3), -2 * 0.3, 1e-12);
  EXPECT_NEAR(clock.SlownessAt(1.5), 3, 1e-12);
  EXPECT_NEAR(clock.SlownessAt(2.2), 2, 1e-12);
  EXPECT_NEAR(clock.SlownessAt(1.2), 2.5, 1e-12);  // in the middle of the change
  EXPECT_NEAR(clock.SlownessAt(3.499), 1, 1e-12);  // at the end of all it ends at once
}

TEST(PlaybackClock, TheTwoDirectionsAreInverse) {
  const PlaybackClock clock(0.5, 3.5, 0.7, {{0.5, 0.9, 3}, {1.2, 1.25, 0.1}, {1.3, 2, 4}}, "clip");
  double before = clock.RecordedTime(-1);
  for (double played = -1; played < 6; played += 0.01) {
    const double recorded = clock.RecordedTime(played);
    EXPECT_NEAR(clock.PlayedTime(recorded), played, 1e-9);
    EXPECT_GE(recorded, before);
    before = recorded;
    // The slowness is the derivative, but for the start, at which it changes at once.
    if (std::abs(recorded - 0.5) < 1e-5) continue;
    const double slope = (clock.PlayedTime(recorded + 1e-6) - clock.PlayedTime(recorded - 1e-6)) / 2e-6;
    EXPECT_NEAR(slope, clock.SlownessAt(recorded), 1e-3 * slope + 1e-3);
  }
}

TEST(PlaybackClock, RefusesPartsThatAreNotThereOrOverlap) {
  EXPECT_EQ(
      RefusalOf([] {
        PlaybackClock(0.5, 1.5, 1, {{1.2, 1.8, 1.5}}, "clip");
      }),
      "clip: found the retimed part 1.2-1.8:1.5, expected one between 0.500 and 1.500 s, which are used of the clip");
  EXPECT_EQ(RefusalOf([] {
              PlaybackClock(0, 3, 1, {{1.2, 1.8, 1.5}, {1, 1.3, 2}}, "clip");
            }),
            "clip: found the retimed parts 1-1.3:2 and 1.2-1.8:1.5, expected parts that do not overlap");
}

}  // namespace
}  // namespace retrace::character
