#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "retrace/rendering/image.h"

namespace retrace::rendering {
namespace {

/// Strokes of a letter. A point is two hexadecimal digits: how far to the right it is, and how high over what hangs
/// below the line, whose own height is 3; small letters end at 9, capitals and digits at 12. After ~ corners are
/// rounded.
const std::map<char, std::string_view>& Letters() {
  static const std::map<char, std::string_view> kLetters = {
      {'a', "~56 59 09 03 53 56|59 53"},
      {'b', "0c 03|~06 09 59 53 03 06"},
      {'c', "~57 59 09 03 53 55"},
      {'d', "5c 53|~56 59 09 03 53 56"},
      {'e', "06 56|~56 59 09 03 53 54"},
      {'f', "~4c 1c 17 13|09 39"},
      {'g', "~56 59 09 03 53 56|59 53|~53 50 10 01"},
      {'h', "0c 03|~06 09 59 56 53"},
      {'i', "09 03|0b 0c"},
      {'j', "~29 21 20 00|2b 2c"},
      {'k', "0c 03|49 06 43"},
      {'l', "0c 03"},
      {'m', "09 03|~06 09 39 36 33|~36 39 69 66 63"},
      {'n', "09 03|~06 09 59 56 53"},
      {'o', "~06 09 59 53 03 06"},
      {'p', "09 00|~06 09 59 53 03 06"},
      {'q', "59 50|~56 59 09 03 53 56"},
      {'r', "09 03|~06 09 49"},
      {'s', "~58 59 09 06 56 53 03 04"},
      {'t', "~1c 18 13 43|09 39"},
      {'u', "~09 03 53 56|59 53"},
      {'v', "09 23 49"},
      {'w', "09 13 38 53 69"},
      {'x', "09 43|03 49"},
      {'y', "09 23|49 10"},
      {'z', "09 49 03 43"},
      {'0', "~07 0c 5c 53 03 07"},
      {'1', "1a 3c 33"},
      {'2', "~0a 0c 5c 58 03|03 53"},
      {'3', "~0b 0c 5c 58 28|~28 58 53 03 04"},
      {'4', "4c 06 56|4c 43"},
      {'5', "5c 0c 08|~08 38 58 53 03 04"},
      {'6', "~4c 0c 03 53 58 08 06"},
      {'7', "0c 5c 13"},
      {'8', "~28 08 0c 5c 58 28|~28 08 03 53 58 28"},
      {'9', "~13 53 5c 0c 07 57 59"},
      {'.', "03 03"},
      {',', "13 01"},
      {':', "03 03|08 08"},
      {'-', "06 46"},
      {'+', "06 46|24 28"},
      {'/', "02 4d"},
      {'(', "~2d 0a 04 21"},
      {')', "~0d 2a 24 01"},
      {'%', "03 5c|~0b 0c 2c 29 09 0b|~36 36 56 53 33 36"},
  };
  return kLetters;
}

constexpr double kCapital = 9;    // height of a capital letter in units of the strokes
constexpr double kGap = 2.4;      // between letters
constexpr double kSpace = 3.5;    // of a word
constexpr double kStroke = 0.62;  // half width of a stroke

struct Point {
  double x = 0, y = 0;
};
using Line = std::vector<Point>;

/// Corners are cut off until they are round (Chaikin 1974).
Line Rounded(Line line) {
  for (int round = 0; round < 3 && line.size() > 2; ++round) {
    Line next = {line.front()};
    for (size_t k = 0; k + 1 < line.size(); ++k) {
      const Point &a = line[k], &b = line[k + 1];
      if (k > 0) next.push_back({0.75 * a.x + 0.25 * b.x, 0.75 * a.y + 0.25 * b.y});
      if (k + 2 < line.size()) next.push_back({0.25 * a.x + 0.75 * b.x, 0.25 * a.y + 0.75 * b.y});
    }
    next.push_back(line.back());
    line = std::move(next);
  }
  return line;
}

std::vector<Line> LinesOf(char letter) {
  std::vector<Line> lines;
  const auto found = Letters().find(static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
  if (found == Letters().end()) return lines;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  const std::string_view text = found->second;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('|', begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    const bool is_round = part.front() == '~';
    if (is_round) part.remove_prefix(1);
    Line line;
    for (size_t k = 0; k + 1 < part.size(); k += 3) {
      line.push_back({static_cast<double>(digit(part[k])), static_cast<double>(digit(part[k + 1]) - 3)});
    }
    lines.push_back(is_round ? Rounded(line) : line);
    begin = end + 1;
  }
  return lines;
}

double WidthOf(const std::vector<Line>& lines) {
  double width = 0;
  for (const Line& line : lines) {
    for (const Point& point : line) width = std::max(width, point.x);
  }
  return width;
}

double SquaredDistanceFrom(const Point& a, const Point& b, double x, double y) {
  const double dx = b.x - a.x, dy = b.y - a.y, squared = dx * dx + dy * dy;
  const double share = squared > 0 ? std::clamp(((x - a.x) * dx + (y - a.y) * dy) / squared, 0.0, 1.0) : 0;
  const double u = x - a.x - share * dx, v = y - a.y - share * dy;
  return u * u + v * v;
}

}  // namespace

double WidthOfText(const std::string& text, double size) {
  double width = 0;
  for (const char letter : text) {
    const std::vector<Line> lines = LinesOf(letter);
    width += lines.empty() ? kSpace : WidthOf(lines) + kGap;
  }
  return std::max(0.0, width - kGap) * size / kCapital;
}

double DrawText(Image& image, const std::string& text, double x, double y, double size, const uint8_t (&color)[3]) {
  const double unit = size / kCapital, stroke = std::max(0.55, kStroke * unit);
  double left = x;
  for (const char letter : text) {
    const std::vector<Line> lines = LinesOf(letter);
    if (lines.empty()) {
      left += kSpace * unit;
      continue;
    }
    const double width = WidthOf(lines) * unit;
    const int x0 = std::max(0, static_cast<int>(left - stroke - 1));
    const int x1 = std::min(image.width - 1, static_cast<int>(left + width + stroke + 2));
    const int y0 = std::max(0, static_cast<int>(y - 11 * unit - stroke - 1));
    const int y1 = std::min(image.height - 1, static_cast<int>(y + 3 * unit + stroke + 1));
    for (int row = y0; row <= y1; ++row) {
      for (int column = x0; column <= x1; ++column) {
        const double u = (column + 0.5 - left) / unit, v = (y - row - 0.5) / unit;
        double least = 1e9;
        for (const Line& line : lines) {
          for (size_t k = 0; k + 1 < line.size(); ++k)
            least = std::min(least, SquaredDistanceFrom(line[k], line[k + 1], u, v));
        }
        const double share = std::clamp(0.5 + stroke - std::sqrt(least) * unit, 0.0, 1.0);
        uint8_t* const pixel = image.Row(row) + 3 * static_cast<size_t>(column);
        for (size_t k = 0; k < 3; ++k) {
          pixel[k] = static_cast<uint8_t>(std::lround(pixel[k] + share * (color[k] - pixel[k])));
        }
      }
    }
    left += width + kGap * unit;
  }
  return std::max(0.0, left - kGap * unit - x);
}

}  // namespace retrace::rendering
