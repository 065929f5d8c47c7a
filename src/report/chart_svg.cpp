#include "chart_svg.h"

#include <algorithm>
#include <utility>

#include "retrace/io/number.h"
#include "retrace/io/xml.h"

namespace retrace::report {
namespace {

/// A distance between ticks of 1, 2 or 5 times a power of ten, at most `most` of which cover `range`.
double TickOf(double range, double most) {
  const double least = std::max(range, 1e-9) / most;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

std::string Line(double x1, double y1, double x2, double y2, const std::string& stroke) {
  std::string svg = "<path d=\"M" + SvgPoint(x1, y1);
  return svg.append(" L").append(SvgPoint(x2, y2)).append("\" stroke=\"").append(stroke).append("\"/>\n");
}

}  // namespace

void ChartRange::Add(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

void ChartRange::Widen() {
  Add(0);
  const double span = high - low;
  const double margin = 0.04 * (span > 0 ? span : 1.0);
  low -= margin;
  high += margin;
}

std::string SvgPoint(double x, double y) {
  return io::Fixed(x, 1) + "," + io::Fixed(y, 1);
}

std::string SvgText(double x, double y, const std::string& anchor, const std::string& text, const std::string& more) {
  std::string svg = "<text x=\"" + io::Fixed(x, 1);
  svg.append("\" y=\"").append(io::Fixed(y, 1)).append("\" text-anchor=\"").append(anchor).append("\"");
  return svg.append(more).append(">").append(io::EscapeXml(text)).append("</text>\n");
}

std::string SvgBegin(double width, double height, const std::string& title) {
  const std::string w = io::Fixed(width, 0), h = io::Fixed(height, 0);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + " " +
         h + "\" font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"none\">\n<title>" +
         io::EscapeXml(title) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
}

void AddKeys(double x, const std::vector<ChartKey>& keys, std::string& text, std::string& marks) {
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    text += SvgText(x, 24, "end", key->text);
    x -= 6.6 * static_cast<double>(key->text.size()) + 48;
    marks += key->band
                 ? "<rect x=\"" + io::Fixed(x, 1) + "\" y=\"13\" width=\"26\" height=\"12\" fill=\"" + key->color +
                       "\" fill-opacity=\"0.22\"/>\n"
                 : "<path d=\"M" + SvgPoint(x, 19.5) + " h26\" stroke=\"" + key->color + "\" stroke-width=\"2.4\"/>\n";
    x -= 16;
  }
}

Chart::Chart(double left, double top, double width, double extent, std::string unit, const ChartRange& range)
    : left_(left), top_(top), width_(width), extent_(extent), unit_(std::move(unit)), range_(range) {}

std::string Chart::Grid(bool values, bool times) const {
  std::string svg;
  const double step = TickOf(range_.high - range_.low, 5);
  for (double value = std::ceil(range_.low / step) * step; value <= range_.high; value += step) {
    svg += Line(left_, Y(value), left_ + width_, Y(value), kRuleColor);
    if (values) svg += SvgText(left_ - 8, Y(value) + 4, "end", io::Number(std::round(1e6 * value) / 1e6 + 0.0));
  }
  const double tick = TickOf(extent_, 6);
  for (int k = 0; k * tick <= extent_ * (1 + 1e-9); ++k) {
    svg += Line(X(k * tick), top_, X(k * tick), top_ + kChartHeight, kRuleColor);
    if (!times) continue;
    svg +=
        SvgText(X(k * tick), top_ + kChartHeight + 18, "middle", io::Number(std::round(1e6 * k * tick) / 1e6) + unit_);
  }
  return svg;
}

}  // namespace retrace::report
