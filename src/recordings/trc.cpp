#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

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
    CompareFrames();
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
    const auto find = [&](std::string_view key) -> std::optional<Cell> {
      for (size_t i = 0; i < names.size() && i < values.size(); ++i) {
        if (names[i].text == key) return values[i];
      }
      return std::nullopt;
    };
    const auto value = [&](std::string_view key) {
      const std::optional<Cell> cell = find(key);
      if (!cell) Fail({}, "a header without " + std::string(key), std::string(key) + " and its value");
      return *cell;
    };
    const Cell rate = value("DataRate");
    if (!io::ParseNumber(rate.text, markers_.rate) || !(markers_.rate >= 1 && markers_.rate <= 10000)) {
      Fail(rate, InMarks(rate), "1 to 10000 frames per second");
    }
    const Cell unit = value("Units");
    meters_ = unit.text == "mm" ? 0.001 : unit.text == "cm" ? 0.01 : unit.text == "m" ? 1 : 0;
    if (meters_ == 0) Fail(unit, InMarks(unit), "m, cm or mm");
    if (const std::optional<Cell> frames = find("NumFrames")) frames_ = WholeNumber(*frames);
    std::optional<size_t> markers;
    if (const std::optional<Cell> count = find("NumMarkers")) markers = WholeNumber(*count);
    markers_.up = -1;
    ReadNames();
    if (markers && *markers != markers_.names.size()) {
      Fail({}, std::to_string(markers_.names.size()) + " names of markers",
           std::to_string(*markers) + ", as NumMarkers says");
    }
  }

  size_t WholeNumber(const Cell& cell) const {
    size_t number = 0;
    const char* end = cell.text.data() + cell.text.size();
    const auto [stop, fault] = std::from_chars(cell.text.data(), end, number);
    if (fault != std::errc() || stop != end) Fail(cell, InMarks(cell), "a whole number");
    return number;
  }

  /// Tools put the names of markers three tabs apart, or two, and the names of coordinates under them or beside: what
  /// counts is their order.
  void ReadNames() {
    const std::vector<Cell> labels = Split(Line("names of markers"));
    const auto lower = [](std::string text) {
      for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
      return text;
    };
    const std::string time = labels.size() < 3 ? "" : lower(std::string(labels[1].text));
    if (time != "time" && time != "times") {
      Fail(labels[0], labels.size() < 2 ? InMarks(labels[0]) : InMarks(labels[0]) + " and " + InMarks(labels[1]),
           "Frame#, Time and markers");
    }
    size_t last = 0;  // column of a name
    for (size_t c = 2; c < labels.size(); ++c) {
      if (labels[c].text.empty()) continue;
      if (last > 0 && c - last > 3) Fail(labels[last + 3], "no name", "one for each three columns");
      if (markers_.names.size() == kMostMarkers) Fail(labels[c], "another marker", "at most 1000");
      markers_.names.emplace_back(labels[c].text);
      last = c;
    }
    if (markers_.names.empty()) Fail(labels[0], "no names of markers", "at least one");
    const std::vector<Cell> coordinates = Words(Line("names of coordinates"));
    if (!coordinates.empty() && coordinates.size() != 3 * markers_.names.size()) {
      Fail(coordinates[0], std::to_string(coordinates.size()) + " names of coordinates",
           "three for each of " + std::to_string(markers_.names.size()) + " markers");
    }
  }

  /// Rows may end where no marker is seen any more, but not within a marker.
  void CheckColumns(const std::vector<Cell>& cells) const {
    const size_t all = 2 + 3 * markers_.names.size();
    for (size_t c = all; c < cells.size(); ++c) {
      if (!cells[c].text.empty()) Fail(cells[c], "column " + std::to_string(c + 1), "at most " + std::to_string(all));
    }
    size_t used = std::min(cells.size(), all);
    while (used > 2 && cells[used - 1].text.empty()) --used;
    if (used < 2 || (used - 2) % 3 != 0) {
      Fail(cells[used - 1], "the end of the row after " + std::to_string(used) + " cells",
           std::to_string(all) + ", or whole markers of three");
    }
  }

  /// What the file says about its time is said twice: as a rate, and with each frame.
  void CheckTime(const std::vector<Cell>& cells) {
    double time = 0;
    if (!io::ParseNumber(cells[1].text, time) || !std::isfinite(time)) Fail(cells[1], InMarks(cells[1]), "a time [s]");
    const auto frame = static_cast<double>(markers_.places.size());
    if (markers_.places.empty()) markers_.start_time = first_time_ = time;
    if (frame > 0 && time < last_time_) Fail(cells[1], "a time before that of the frame before", "times that grow");
    const double due = frame / markers_.rate;
    constexpr double kRounded = 0.75;  // of a frame: times have few digits
    constexpr double kRate = 0.005;    // relative: 59.94 is written as 60
    if (std::abs(time - first_time_ - due) > kRounded / markers_.rate + kRate * due) {
      Fail(cells[1], "frame " + std::to_string(markers_.places.size() + 1) + " at " + io::Number(time) + " s",
           io::Fixed(first_time_ + due, 3) + " s, by the DataRate of " + io::Number(markers_.rate));
    }
    last_time_ = time;
  }

  /// A file that was cut off ends within a row; one that was trimmed often keeps its old count.
  void CompareFrames() {
    const size_t held = markers_.places.size();
    if (!frames_ || held == *frames_) return;
    const std::string found = std::to_string(held) + " frames", stated = std::to_string(*frames_);
    if (held < *frames_ && lines_.Unfinished()) {
      Fail({}, "the end of the file within a line, after " + found, stated + ", as NumFrames says");
    }
    markers_.doubts.push_back("the file says that it has " + stated + " frames (NumFrames), and has " + found +
                              ": it was trimmed, or the end is missing");
  }

  void ReadFrame(const std::vector<Cell>& cells) {
    CheckColumns(cells);
    CheckTime(cells);
    std::vector<Vec3>& places = markers_.places.emplace_back(markers_.names.size(), Vec3::Constant(NAN));
    for (size_t m = 0; m < places.size(); ++m) {
      Vec3 place;
      int missing = 0;
      for (size_t axis = 0; axis < 3; ++axis) {
        const size_t c = 2 + 3 * m + axis;
        double number = 0;
        if (c >= cells.size() || cells[c].text.empty() || cells[c].text == "nan" || cells[c].text == "NaN") {
          ++missing;  // rows may end where nothing more was seen
        } else if (!io::ParseNumber(cells[c].text, number)) {
          Fail(cells[c], InMarks(cells[c]), "a coordinate of " + markers_.names[m]);
        }
        place[static_cast<Eigen::Index>(axis)] = meters_ * number;
      }
      if (missing == 1 || missing == 2) {
        Fail(cells[2 + 3 * m], std::to_string(3 - missing) + " coordinates of " + markers_.names[m], "three, or none");
      }
      const bool seen = missing == 0;
      if (seen && !(place.cwiseAbs().maxCoeff() < kFarthestPlace)) {
        Fail(cells[2 + 3 * m], "marker " + markers_.names[m] + " too far away", "places within 10 km");
      }
      if (seen && place != Vec3::Zero()) places[m] = place;
    }
  }

  LineReader lines_;
  char separator_ = '\t';
  double meters_ = 0.001;
  std::optional<size_t> frames_;  // that the header says
  double first_time_ = 0, last_time_ = 0;
  Markers markers_;
};

}  // namespace

Markers ParseTrc(std::string_view text, const std::string& name) {
  return TrcReader(text, name).Read();
}

}  // namespace retrace::recordings
