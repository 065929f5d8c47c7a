/// The picture of ground forces: what is drawn, and what is not.
#include "retrace/report/force_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace retrace::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Nine signals of so many states that all have the same values.
results::Channels Flat(Eigen::Index rows, double value) {
  results::Channels channels;
  for (const char* part : {"total", "left", "right"}) {
    for (const char* component : {"vertical", "fore_aft", "lateral"}) {
      channels.names.push_back(std::string(part) + "_" + component);
    }
  }
  channels.values = Eigen::MatrixXd::Constant(rows, 9, value);
  return channels;
}

size_t CountOf(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(ForceChart, ShowsTheBandAndWhatWasMeasured) {
  const results::BandedChannels one{{Flat(241, 700)}, 0};
  const std::string plain = FormatForceChart(one, nullptr, 1.0 / 240, 0, "a & b");
  EXPECT_THAT(plain, HasSubstr("a &amp; b"));
  EXPECT_THAT(plain, HasSubstr("of every simulation step"));
  EXPECT_THAT(plain, Not(HasSubstr("measured")));
  EXPECT_THAT(plain, Not(HasSubstr("fill-opacity"))) << "one control has no band";

  const results::BandedChannels three{{Flat(241, 700), Flat(241, 800), Flat(100, 600)}, 1};
  results::Channels measured = Flat(241, 750);
  measured.values.topRows(100).setConstant(std::nan(""));
  const std::string full = FormatForceChart(three, &measured, 1.0 / 240, 20, "walk");
  EXPECT_THAT(full, HasSubstr("after a low-pass of 20 Hz"));
  EXPECT_THAT(full, HasSubstr("least and most of 3 controls"));
  EXPECT_THAT(full, HasSubstr(">measured<"));
  EXPECT_THAT(full, Not(HasSubstr("nan")));
  EXPECT_EQ(CountOf(full, "fill-opacity"), 9u + 1) << "nine bands and their key";
  EXPECT_EQ(CountOf(full, "stroke-width=\"1.6\""), 18u) << "nine simulated and nine measured lines";
}

TEST(ForceChart, HoldsALongMotionInAFewPoints) {
  const results::BandedChannels bands{{Flat(1201, 700)}, 0};
  const std::string text = FormatForceChart(bands, nullptr, 1.0 / 240, 20, "walk");
  const results::BandedChannels longer{{Flat(120001, 700)}, 0};
  EXPECT_LT(FormatForceChart(longer, nullptr, 1.0 / 240, 20, "walk").size(), 2 * text.size());
  EXPECT_THAT(FormatForceChart({{Flat(1, 0)}, 0}, nullptr, 1.0 / 240, 20, "still"), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace retrace::report
