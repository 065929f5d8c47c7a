/// Pieces of charts in SVG.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace retrace::report {

inline constexpr double kChartHeight = 190;  // [px]
inline constexpr const char* kSimulatedColor = "#2f6db3";
inline constexpr const char* kMeasuredColor = "#262c38";
inline constexpr const char* kRuleColor = "#d8dce3";

struct ChartRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Add(double value);
  /// Zero, and a margin.
  void Widen();
};

/// A point of a path.
std::string SvgPoint(double x, double y);
/// @param more attributes, beginning with a space
std::string SvgText(double x, double y, const std::string& anchor, const std::string& text,
                    const std::string& more = "");
/// The beginning of a picture, white.
std::string SvgBegin(double width, double height, const std::string& title);

/// What a line or a band stands for.
struct ChartKey {
  std::string text;
  std::string color;
  bool band = false;
};
/// Keys that end at x, on the line of the title; `text` and `marks` belong into the groups of texts and lines.
void AddKeys(double x, const std::vector<ChartKey>& keys, std::string& text, std::string& marks);

/// One chart of a grid, over a horizontal quantity that begins at 0.
class Chart {
 public:
  /// @param unit of the horizontal numbers, with what comes before it
  Chart(double left, double top, double width, double extent, std::string unit, const ChartRange& range);

  double X(double at) const { return left_ + width_ * at / extent_; }
  double Y(double value) const { return top_ + kChartHeight * (range_.high - value) / (range_.high - range_.low); }

  /// Rules with their numbers where they are wanted.
  std::string Grid(bool values, bool times) const;

  /// @param value of a row; not drawn where it is not a number
  /// @param step between rows
  template <typename Value>
  std::string Curve(Eigen::Index rows, Eigen::Index stride, double step, const Value& value,
                    const std::string& stroke) const {
    std::string path;
    bool drawn = false;
    for (Eigen::Index i = 0; i < rows; i += stride) {
      const double at = value(i);
      if (std::isfinite(at)) path.append(drawn ? " L" : " M").append(SvgPoint(X(static_cast<double>(i) * step), Y(at)));
      drawn = std::isfinite(at);
    }
    return "<path d=\"" + path + "\" stroke=\"" + stroke + "\" stroke-width=\"1.6\"/>\n";
  }

  template <typename Low, typename High>
  std::string Band(Eigen::Index rows, Eigen::Index stride, double step, const Low& low, const High& high,
                   const std::string& color) const {
    std::string path;
    const Eigen::Index last = (rows - 1) / stride * stride;
    for (Eigen::Index i = 0; i < rows; i += stride)
      path.append(i == 0 ? "M" : " L").append(SvgPoint(X(static_cast<double>(i) * step), Y(high(i))));
    for (Eigen::Index i = last; i >= 0; i -= stride)
      path.append(" L").append(SvgPoint(X(static_cast<double>(i) * step), Y(low(i))));
    return "<path d=\"" + path + " Z\" fill=\"" + color + "\" fill-opacity=\"0.22\" stroke=\"none\"/>\n";
  }

 private:
  double left_, top_, width_, extent_;
  std::string unit_;
  ChartRange range_;
};

}  // namespace retrace::report
