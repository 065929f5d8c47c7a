#include "retrace/report/cycle_chart.h"

#include <algorithm>

#include "chart_svg.h"
#include "retrace/io/number.h"

namespace retrace::report {
namespace {

constexpr double kCycleWidth = 960;  // [px]
constexpr double kCycleTop = 72;     // of the first row of charts
constexpr double kCycleLeft = 72;    // of the first column
constexpr double kCycleRight = 24;
constexpr double kCycleBottom = 44;  // under the last row
constexpr double kCycleGap = 34;     // between rows
constexpr double kColumnGap = 60;    // between columns

/// "hip_extension_moment" as words.
std::string Words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

const metrics::CycleCurve* Find(const std::vector<metrics::CycleCurve>& curves, const std::string& name) {
  const auto found = std::find_if(curves.begin(), curves.end(),
                                  [&](const metrics::CycleCurve& c) { return c.name == name && c.cycles > 0; });
  return found == curves.end() ? nullptr : &*found;
}

void Add(const metrics::CycleCurve* curve, ChartRange& range) {
  for (Eigen::Index k = 0; curve != nullptr && k < metrics::kCyclePoints; ++k) {
    range.Add(curve->mean[k] - curve->deviation[k]);
    range.Add(curve->mean[k] + curve->deviation[k]);
  }
}

void Draw(const metrics::CycleCurve* curve, const Chart& chart, const std::string& color, std::string& svg) {
  if (curve == nullptr) return;
  constexpr double kStep = 100.0 / static_cast<double>(metrics::kCyclePoints - 1);
  if (curve->cycles > 1) {
    svg += chart.Band(
        metrics::kCyclePoints, 1, kStep, [&](Eigen::Index k) { return curve->mean[k] - curve->deviation[k]; },
        [&](Eigen::Index k) { return curve->mean[k] + curve->deviation[k]; }, color);
  }
  svg += chart.Curve(
      metrics::kCyclePoints, 1, kStep, [&](Eigen::Index k) { return curve->mean[k]; }, color);
}

int MostCycles(const std::vector<metrics::CycleCurve>& curves) {
  int most = 0;
  for (const metrics::CycleCurve& curve : curves) most = std::max(most, curve.cycles);
  return most;
}

}  // namespace

std::string FormatCycleChart(const results::CycleCurves& curves, const std::string& cycle, const std::string& title) {
  const results::CycleCurves::Side* const sides[] = {&curves.left, &curves.right};
  const std::vector<metrics::CycleCurve>& rows = curves.left.curves;  // both sides have the same quantities
  const double width = (kCycleWidth - kCycleLeft - kCycleRight - kColumnGap) / 2;
  const double height =
      kCycleTop + static_cast<double>(rows.size()) * (kChartHeight + kCycleGap) - kCycleGap + kCycleBottom;
  std::string svg = SvgBegin(kCycleWidth, height, title + ": curves over a " + cycle);
  std::string text = "<g fill=\"" + std::string(kMeasuredColor) + "\">\n", charts;
  text += SvgText(kCycleLeft, 24, "start", title + ": over a " + cycle, " font-size=\"16\"");
  bool measured = false, bands = false;
  double top = kCycleTop;
  for (size_t row = 0; row < rows.size(); ++row, top += kChartHeight + kCycleGap) {
    const std::string& name = rows[row].name;
    ChartRange range;
    for (const auto* side : sides) {
      Add(Find(side->curves, name), range);
      Add(Find(side->measured, name), range);
    }
    range.Widen();
    text += SvgText(kCycleLeft, top - 6, "start", Words(name) + " [" + rows[row].unit + "]");
    for (size_t s = 0; s < 2; ++s) {
      const double left = kCycleLeft + static_cast<double>(s) * (width + kColumnGap);
      const Chart chart(left, top, width, 100, " %", range);
      if (row == 0) {
        const int cycles = MostCycles(sides[s]->curves);
        bands = bands || cycles > 1;
        text +=
            SvgText(left + width, top - 6, "end",
                    std::string(s == 0 ? "left" : "right") + ", " + std::to_string(cycles), " font-weight=\"bold\"");
      }
      text += chart.Grid(s == 0, row + 1 == rows.size());
      const metrics::CycleCurve* plates = Find(sides[s]->measured, name);
      measured = measured || plates != nullptr;
      Draw(plates, chart, kMeasuredColor, charts);
      Draw(Find(sides[s]->curves, name), chart, kSimulatedColor, charts);
    }
  }
  std::vector<ChartKey> keys = {{"mean", kSimulatedColor}};
  if (bands) keys.push_back({"one standard deviation", kSimulatedColor, true});
  if (measured) keys.push_back({"measured", kMeasuredColor});
  AddKeys(kCycleWidth - kCycleRight, keys, text, charts);
  return svg + text + "</g>\n" + charts + "</svg>\n";
}

}  // namespace retrace::report
