#include "retrace/report/force_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "retrace/io/number.h"
#include "retrace/io/xml.h"

namespace retrace::report {
namespace {

constexpr double kWidth = 1280;      // [px]
constexpr double kTop = 64;          // of the first row of charts
constexpr double kLeft = 72;         // of the first column
constexpr double kBottom = 44;       // under the last row
constexpr double kGap = 30;          // between rows and between columns
constexpr double kRowHeight = 190;   // of a chart
constexpr int kParts = 3;            // total, left, right
constexpr int kLargestPoints = 600;  // of a line
constexpr const char* kSimulated = "#2f6db3";
constexpr const char* kMeasured = "#262c38";
constexpr const char* kRule = "#d8dce3";
constexpr std::array kPartNames = {"total", "left foot", "right foot"};
constexpr std::array kComponentNames = {"vertical [N]", "fore-aft [N]", "lateral [N]"};

/// A distance between ticks of 1, 2 or 5 times a power of ten, at most `most` of which cover `range`.
double TickOf(double range, double most) {
  const double least = std::max(range, 1e-9) / most;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::string Point(double x, double y) {
  return io::Fixed(x, 1) + "," + io::Fixed(y, 1);
}

std::string Text(double x, double y, const std::string& anchor, const std::string& text, const std::string& more = "") {
  std::string svg = "<text x=\"" + io::Fixed(x, 1);
  svg.append("\" y=\"").append(io::Fixed(y, 1)).append("\" text-anchor=\"").append(anchor).append("\"");
  return svg.append(more).append(">").append(io::EscapeXml(text)).append("</text>\n");
}

std::string Line(double x1, double y1, double x2, double y2, const std::string& stroke) {
  std::string svg = "<path d=\"M" + Point(x1, y1);
  return svg.append(" L").append(Point(x2, y2)).append("\" stroke=\"").append(stroke).append("\"/>\n");
}

/// One chart of the grid.
class Chart {
 public:
  Chart(double left, double top, double width, double duration, const Range& range)
      : left_(left), top_(top), width_(width), duration_(duration), range_(range) {}

  double X(double time) const { return left_ + width_ * time / duration_; }
  double Y(double force) const { return top_ + kRowHeight * (range_.high - force) / (range_.high - range_.low); }

  /// Rules with their numbers where they are wanted.
  std::string Grid(bool forces, bool times) const {
    std::string svg;
    const double step = TickOf(range_.high - range_.low, 5);
    for (double force = std::ceil(range_.low / step) * step; force <= range_.high; force += step) {
      svg += Line(left_, Y(force), left_ + width_, Y(force), kRule);
      if (forces) svg += Text(left_ - 8, Y(force) + 4, "end", io::Number(std::round(force) + 0.0));
    }
    const double tick = TickOf(duration_, 6);
    for (int k = 0; k * tick <= duration_ * (1 + 1e-9); ++k) {
      svg += Line(X(k * tick), top_, X(k * tick), top_ + kRowHeight, kRule);
      if (times)
        svg += Text(X(k * tick), top_ + kRowHeight + 18, "middle", io::Number(std::round(1e6 * k * tick) / 1e6) + " s");
    }
    return svg;
  }

  /// @param value of a row; not drawn where it is not a number
  template <typename Value>
  std::string Curve(Eigen::Index rows, Eigen::Index stride, double time_step, const Value& value,
                    const std::string& stroke) const {
    std::string path;
    bool drawn = false;
    for (Eigen::Index i = 0; i < rows; i += stride) {
      const double force = value(i);
      if (std::isfinite(force))
        path.append(drawn ? " L" : " M").append(Point(X(static_cast<double>(i) * time_step), Y(force)));
      drawn = std::isfinite(force);
    }
    return "<path d=\"" + path + "\" stroke=\"" + stroke + "\" stroke-width=\"1.6\"/>\n";
  }

  template <typename Low, typename High>
  std::string Band(Eigen::Index rows, Eigen::Index stride, double time_step, const Low& low, const High& high) const {
    std::string path;
    const Eigen::Index last = (rows - 1) / stride * stride;
    for (Eigen::Index i = 0; i < rows; i += stride)
      path.append(i == 0 ? "M" : " L").append(Point(X(static_cast<double>(i) * time_step), Y(high(i))));
    for (Eigen::Index i = last; i >= 0; i -= stride)
      path.append(" L").append(Point(X(static_cast<double>(i) * time_step), Y(low(i))));
    return "<path d=\"" + path + " Z\" fill=\"" + kSimulated + "\" fill-opacity=\"0.22\" stroke=\"none\"/>\n";
  }

 private:
  double left_, top_, width_, duration_;
  Range range_;
};

}  // namespace

std::string FormatForceChart(const results::BandedChannels& bands, const results::Channels* measured, double time_step,
                             double cutoff, const std::string& title) {
  const results::Channels& motion = bands.controls[bands.motion];
  const Eigen::Index rows = motion.values.rows();
  const Eigen::Index stride = std::max<Eigen::Index>(1, rows / kLargestPoints);
  const double duration = std::max(time_step, static_cast<double>(rows - 1) * time_step);
  const double height = kTop + metrics::kForceComponents * (kRowHeight + kGap) - kGap + kBottom;
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
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + io::Fixed(kWidth, 0) + "\" height=\"" +
                    io::Fixed(height, 0) + "\" viewBox=\"0 0 " + io::Fixed(kWidth, 0) + " " + io::Fixed(height, 0) +
                    "\" font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"none\">\n<title>" +
                    io::EscapeXml(title) + ": ground forces</title>\n<rect width=\"100%\" height=\"100%\" " +
                    "fill=\"#ffffff\"/>\n<g fill=\"" + kMeasured + "\">\n";
  svg += Text(kLeft, 24, "start", title + ": forces of the ground " + filter, " font-size=\"16\"");
  std::string charts;
  for (int component = 0; component < metrics::kForceComponents; ++component) {
    Range range;
    for (int part = 0; part < kParts; ++part) {
      const Eigen::Index column = metrics::kForceComponents * part + component;
      for (Eigen::Index i = 0; i < rows; ++i) {
        range.Add(bound(i, column, false));
        range.Add(bound(i, column, true));
        if (measured != nullptr && i < measured->values.rows()) range.Add(measured->values(i, column));
      }
    }
    range.Add(0);
    const double margin = 0.04 * std::max(range.high - range.low, 1.0);
    range.low -= margin;
    range.high += margin;
    const double top = kTop + component * (kRowHeight + kGap);
    svg += Text(kLeft, top - 6, "start", kComponentNames[static_cast<size_t>(component)]);
    for (int part = 0; part < kParts; ++part) {
      const Eigen::Index column = metrics::kForceComponents * part + component;
      const double left = kLeft + part * (width + kGap);
      const Chart chart(left, top, width, duration, range);
      if (component == 0) {
        svg += Text(left + width, top - 6, "end", kPartNames[static_cast<size_t>(part)], " font-weight=\"bold\"");
      }
      svg += chart.Grid(part == 0, component == metrics::kForceComponents - 1);
      if (bands.controls.size() > 1) {
        charts += chart.Band(
            rows, stride, time_step, [&](Eigen::Index i) { return bound(i, column, false); },
            [&](Eigen::Index i) { return bound(i, column, true); });
      }
      if (measured != nullptr) {
        charts += chart.Curve(
            std::min(rows, measured->values.rows()), stride, time_step,
            [&](Eigen::Index i) { return measured->values(i, column); }, kMeasured);
      }
      charts += chart.Curve(
          rows, stride, time_step, [&](Eigen::Index i) { return motion.values(i, column); }, kSimulated);
    }
  }
  std::vector<std::pair<std::string, std::string>> keys = {{"simulated", kSimulated}};
  if (bands.controls.size() > 1) {
    keys.emplace_back("least and most of " + std::to_string(bands.controls.size()) + " controls", "band");
  }
  if (measured != nullptr) keys.emplace_back("measured", kMeasured);
  double x = kWidth - 24;
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    svg += Text(x, 24, "end", key->first);
    x -= 6.6 * static_cast<double>(key->first.size()) + 48;
    charts += key->second == "band"
                  ? "<rect x=\"" + io::Fixed(x, 1) + "\" y=\"13\" width=\"26\" height=\"12\" fill=\"" + kSimulated +
                        "\" fill-opacity=\"0.22\"/>\n"
                  : "<path d=\"M" + Point(x, 19.5) + " h26\" stroke=\"" + key->second + "\" stroke-width=\"2.4\"/>\n";
    x -= 16;
  }
  return svg + "</g>\n" + charts + "</svg>\n";
}

}  // namespace retrace::report
