/// Curves over gait cycles as a picture.
#include "retrace/report/cycle_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/chart_svg.h"

namespace retrace::report {
namespace {

using testing::HasSubstr;
using testing::Not;

metrics::CycleCurve Ramp(const std::string& name, int cycles) {
  metrics::CycleCurve curve{name, "N/kg", Eigen::VectorXd::LinSpaced(metrics::kCyclePoints, 0, 10), {}, cycles};
  curve.deviation = Eigen::VectorXd::Constant(metrics::kCyclePoints, cycles > 1 ? 0.5 : 0);
  return curve;
}

TEST(CycleChart, HasALineForEachSideABandForSeveralCyclesAndThePlates) {
  results::CycleCurves curves;
  curves.left.curves = {Ramp("hip_power", 3)};
  curves.right.curves = {Ramp("hip_power", 1)};
  const std::string alone = FormatCycleChart(curves, "stride", "a & b");
  EXPECT_THAT(alone, HasSubstr("a &amp; b: over a stride"));
  EXPECT_THAT(alone, HasSubstr("hip power [N/kg]"));
  EXPECT_THAT(alone, HasSubstr("left, 3"));
  EXPECT_THAT(alone, HasSubstr("one standard deviation"));
  EXPECT_THAT(alone, Not(HasSubstr("measured")));
  EXPECT_THAT(alone, HasSubstr("100 %"));
  curves.right.measured = {Ramp("hip_power", 1)};
  EXPECT_THAT(FormatCycleChart(curves, "stride", "a"), HasSubstr("measured"));
}

TEST(CycleChart, ASideWithoutCyclesIsEmpty) {
  results::CycleCurves curves;
  curves.left.curves = {Ramp("hip_power", 2)};
  curves.right.curves = {metrics::CycleCurve{"hip_power", "N/kg", {}, {}, 0}};
  EXPECT_THAT(FormatCycleChart(curves, "stance", "a"), HasSubstr("right, 0"));
}

TEST(ChartSvg, RangesHaveZeroAndAMargin) {
  ChartRange range;
  range.Add(5);
  range.Add(std::nan(""));
  range.Widen();
  EXPECT_LT(range.low, 0);
  EXPECT_GT(range.high, 5);
  const Chart chart(10, 20, 100, 50, " s", range);
  EXPECT_EQ(chart.X(25), 60);
  EXPECT_EQ(chart.Y(range.high), 20);
  EXPECT_EQ(chart.Y(range.low), 20 + kChartHeight);
}

}  // namespace
}  // namespace retrace::report
