#include "retrace/report/force_chart.h"

#include <algorithm>
#include <array>
#include <vector>

#include "chart_svg.h"
#include "retrace/io/number.h"

namespace retrace::report {
namespace {

constexpr double kWidth = 1280;      // [px]
constexpr double kTop = 64;          // of the first row of charts
constexpr double kLeft = 72;         // of the first column
constexpr double kBottom = 44;       // under the last row
constexpr double kGap = 30;          // between rows and between columns
constexpr int kParts = 3;            // total, left, right
constexpr int kLargestPoints = 600;  // of a line
constexpr std::array kPartNames = {"total", "left foot", "right foot"};
constexpr std::array kComponentNames = {"vertical [N]", "fore-aft [N]", "lateral [N]"};

}  // namespace

std::string FormatForceChart(const results::BandedChannels& bands, const results::Channels* measured, double time_step,
                             double cutoff, const std::string& title, const ForceChartWords& words) {
  const results::Channels& motion = bands.controls[bands.motion];
  const Eigen::Index rows = motion.values.rows();
  const Eigen::Index stride = std::max<Eigen::Index>(1, rows / kLargestPoints);
  const double duration = std::max(time_step, static_cast<double>(rows - 1) * time_step);
  const double height = kTop + metrics::kForceComponents * (kChartHeight + kGap) - kGap + kBottom;
  const double width = (kWidth - kLeft - 24 - (kParts - 1) * kGap) / kParts;
  const auto bound = [&](Eigen::Index row, Eigen::Index column, bool upper) {
    double value = motion.values(row, column);
    for (const results::Channels& control : bands.controls) {
      if (row >= control.values.rows()) continue;
      const double other = control.values(row, column);
      value = upper ? std::max(value, other) : std::min(value, other);
    }
    return value;
  };
  const std::string filter =
      cutoff > 0 ? "after a low-pass of " + io::Number(cutoff) + " Hz" : "of every simulation step";
  std::string svg =
      SvgBegin(kWidth, height, title + ": ground forces") + "<g fill=\"" + std::string(kMeasuredColor) + "\">\n";
  svg += SvgText(kLeft, 24, "start", title + ": forces of the ground " + filter, " font-size=\"16\"");
  std::string charts;
  for (int component = 0; component < metrics::kForceComponents; ++component) {
    ChartRange range;
    for (int part = 0; part < kParts; ++part) {
      const Eigen::Index column = metrics::kForceComponents * part + component;
      for (Eigen::Index i = 0; i < rows; ++i) {
        range.Add(bound(i, column, false));
        range.Add(bound(i, column, true));
        if (measured != nullptr && i < measured->values.rows()) range.Add(measured->values(i, column));
      }
    }
    range.Widen();
    const double top = kTop + component * (kChartHeight + kGap);
    svg += SvgText(kLeft, top - 6, "start", kComponentNames[static_cast<size_t>(component)]);
    for (int part = 0; part < kParts; ++part) {
      const Eigen::Index column = metrics::kForceComponents * part + component;
      const double left = kLeft + part * (width + kGap);
      const Chart chart(left, top, width, duration, " s", range);
      if (component == 0) {
        svg += SvgText(left + width, top - 6, "end", kPartNames[static_cast<size_t>(part)], " font-weight=\"bold\"");
      }
      svg += chart.Grid(part == 0, component == metrics::kForceComponents - 1);
      if (bands.controls.size() > 1) {
        charts += chart.Band(
            rows, stride, time_step, [&](Eigen::Index i) { return bound(i, column, false); },
            [&](Eigen::Index i) { return bound(i, column, true); }, kSimulatedColor);
      }
      if (measured != nullptr) {
        charts += chart.Curve(
            std::min(rows, measured->values.rows()), stride, time_step,
            [&](Eigen::Index i) { return measured->values(i, column); }, kMeasuredColor);
      }
      charts += chart.Curve(
          rows, stride, time_step, [&](Eigen::Index i) { return motion.values(i, column); }, kSimulatedColor);
    }
  }
  std::vector<ChartKey> keys = {{words.line, kSimulatedColor}};
  if (bands.controls.size() > 1) {
    keys.push_back(
        {words.band.empty() ? "least and most of " + std::to_string(bands.controls.size()) + " controls" : words.band,
         kSimulatedColor, true});
  }
  if (measured != nullptr) keys.push_back({"measured", kMeasuredColor});
  AddKeys(kWidth - 24, keys, svg, charts);
  return svg + "</g>\n" + charts + "</svg>\n";
}

}  // namespace retrace::report
