#include <algorithm>
#include <cmath>
#include <set>

#include "line_reader.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/recordings/markers.h"

namespace retrace::recordings {
namespace {

constexpr size_t kMostMarkers = 1000;
constexpr double kFarthestPlace = 1e4;  // a coordinate [m]

/// A cell of a line, without the blanks around it.
struct Cell {
  std::string_view text;
  size_t column = 1;  ///< in bytes, from 1
};

class TrcReader {
 public:
  TrcReader(std::string_view text, const std::string& name) : lines_(text, name) {}

  Markers Read() {
    ReadHeader();
    std::string_view line;
    while (lines_.Next(line)) {
      const std::vector<Cell> cells = Split(line);
      if (std::all_of(cells.begin(), cells.end(), [](const Cell& cell) { return cell.text.empty(); })) continue;
      ReadFrame(cells);
    }
    if (markers_.places.empty()) Fail({}, "the end of the file", "frames");
    return std::move(markers_);
  }

 private:
  [[noreturn]] void Fail(const Cell& at, const std::string& found, const std::string& expected) const {
    lines_.Fail(at.column, found, expected);
  }

  std::vector<Cell> Split(std::string_view line) const {
    std::vector<Cell> cells;
    size_t begin = 0;
    while (begin <= line.size() && cells.size() < 3 * kMostMarkers + 100) {
      const size_t end = std::min(line.find(separator_, begin), line.size());
      std::string_view text = line.substr(begin, end - begin);
      Cell cell{text, begin + 1};
      while (!cell.text.empty() && cell.text.front() == ' ') {
        cell.text.remove_prefix(1);
        ++cell.column;
      }
      while (!cell.text.empty() && cell.text.back() == ' ') cell.text.remove_suffix(1);
      cells.push_back(cell);
      begin = end + 1;
    }
    return cells;
  }

  /// What is not empty: tools put any number of blanks between the values of the header.
  std::vector<Cell> Words(std::string_view line) const {
    std::vector<Cell> words;
    for (size_t begin = 0; begin < line.size();) {
      const size_t end = std::min(line.find_first_of("\t ,", begin), line.size());
      if (end > begin) words.push_back({line.substr(begin, end - begin), begin + 1});
      begin = end + 1;
    }
    return words;
  }

  static std::string InMarks(const Cell& cell) {
    return std::string("\"").append(cell.text.substr(0, 80)).append("\"");
  }

  std::string_view Line(const std::string& what) {
    std::string_view line;
    if (!lines_.Next(line)) Fail({}, "the end of the file", what);
    return line;
  }

  void ReadHeader() {
    const std::string_view first = Line("a TRC file, which begins with PathFileType");
    if (!first.starts_with("PathFileType")) Fail({}, InMarks({first}), "a TRC file, which begins with PathFileType");
    const std::string_view keys = Line("names of the header");
    separator_ = keys.find('\t') != std::string_view::npos ? '\t' : ',';
    const std::vector<Cell> names = Words(keys);
    const std::vector<Cell> values = Words(Line("values of the header"));
    const auto value = [&](std::string_view key) -> Cell {
      for (size_t i = 0; i < names.size() && i < values.size(); ++i) {
        if (names[i].text == key) return values[i];
      }
      Fail({}, "a header without " + std::string(key), std::string(key) + " and its value");
    };
    const Cell rate = value("DataRate");
    if (!io::ParseNumber(rate.text, markers_.rate) || !(markers_.rate >= 1 && markers_.rate <= 10000)) {
      Fail(rate, InMarks(rate), "1 to 10000 frames per second");
    }
    const Cell unit = value("Units");
    metres_ = unit.text == "mm" ? 0.001 : unit.text == "cm" ? 0.01 : unit.text == "m" ? 1 : 0;
    if (metres_ == 0) Fail(unit, InMarks(unit), "m, cm or mm");
    markers_.up = -1;
    const std::vector<Cell> labels = Split(Line("names of markers"));
    if (labels.size() < 3 || labels[1].text != "Time") Fail(labels[0], InMarks(labels[0]), "Frame#, Time and markers");
    size_t last = labels.size();
    while (last > 2 && labels[last - 1].text.empty()) --last;
    for (size_t c = 2; c < last; c += 3) {
      if (labels[c].text.empty()) Fail(labels[c], "no name", "one for each three columns");
      if (markers_.names.size() == kMostMarkers) Fail(labels[c], "another marker", "at most 1000");
      markers_.names.emplace_back(labels[c].text);
    }
    Line("names of coordinates");
  }

  void ReadFrame(const std::vector<Cell>& cells) {
    std::vector<Vec3>& places = markers_.places.emplace_back(markers_.names.size(), Vec3::Constant(NAN));
    for (size_t m = 0; m < places.size(); ++m) {
      Vec3 place;
      bool seen = true;
      for (size_t axis = 0; axis < 3; ++axis) {
        const size_t c = 2 + 3 * m + axis;
        double number = 0;
        if (c >= cells.size() || cells[c].text.empty() || cells[c].text == "nan" || cells[c].text == "NaN") {
          seen = false;  // rows may end where nothing more was seen
        } else if (!io::ParseNumber(cells[c].text, number)) {
          Fail(cells[c], InMarks(cells[c]), "a coordinate of " + markers_.names[m]);
        }
        place[static_cast<Eigen::Index>(axis)] = metres_ * number;
      }
      if (seen && !(place.cwiseAbs().maxCoeff() < kFarthestPlace)) {
        Fail(cells[2 + 3 * m], "marker " + markers_.names[m] + " too far away", "places within 10 km");
      }
      if (seen && place != Vec3::Zero()) places[m] = place;
    }
  }

  LineReader lines_;
  char separator_ = '\t';
  double metres_ = 0.001;
  Markers markers_;
};

}  // namespace

Markers ParseTrc(std::string_view text, const std::string& name) {
  return TrcReader(text, name).Read();
}

}  // namespace retrace::recordings
