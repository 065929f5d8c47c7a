#include "plate_tables.h"

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "axes.h"
#include "line_reader.h"
#include "retrace/io/error.h"
#include "retrace/io/nearest_words.h"
#include "retrace/io/number.h"
#include "retrace/recordings/force_limits.h"

namespace retrace::recordings {
namespace {

using motion::MeasuredForce;
using motion::MeasuredForces;

constexpr double kLeastLoad = 10;  // with less on it, a plate does not know where [N]
constexpr size_t kMostCellsOfRow = 10'000;

struct TableCell {
  std::string text;
  size_t column = 1;  ///< in bytes, from 1
};

/// Cells without the blanks and the quotation marks around them.
std::vector<TableCell> SplitCells(std::string_view line, char separator) {
  std::vector<TableCell> cells;
  for (size_t begin = 0; begin <= line.size() && cells.size() < kMostCellsOfRow;) {
    const size_t end = std::min(line.find(separator, begin), line.size());
    size_t from = begin, to = end;
    const auto is_edge = [&](size_t at) { return line[at] == ' ' || line[at] == '"' || line[at] == '\t'; };
    while (from < to && is_edge(from)) ++from;
    while (to > from && is_edge(to - 1)) --to;
    cells.push_back({std::string(line.substr(from, to - from)), from + 1});
    begin = end + 1;
  }
  return cells;
}

std::string Marked(const std::string& text) {
  return "\"" + text.substr(0, 80) + "\"";
}

/// What was expected, and the known word that is nearest to what was found.
std::string OrNearest(const std::string& expected, const std::string& found, const std::vector<std::string>& known) {
  const std::string question = io::DidYouMean(found, known);
  return question.empty() ? expected : expected + "; " + question;
}

/// A plate in the axes of the file.
struct LoadedPlate {
  std::string name;
  std::vector<Vec3> forces, points;  ///< (instants) [N, m]
};

/// Turns the axis along which plates are loaded most to y, and lets them push upwards: programs export the force on the
/// plate or that on the person.
MeasuredForces FromPlates(std::vector<double> times, const std::vector<LoadedPlate>& plates, const std::string& name) {
  Vec3 sum = Vec3::Zero();
  for (const LoadedPlate& plate : plates) {
    for (const Vec3& force : plate.forces) sum += force;
  }
  Eigen::Index axis = 0;
  if (!(sum.cwiseAbs().maxCoeff(&axis) > 0)) throw InputError(name, "plates with nothing on them", "forces");
  const double sign = sum[axis] < 0 ? -1 : 1;
  const Quat turn = TurnToY(static_cast<int>(axis));
  MeasuredForces measured;
  measured.times = std::move(times);
  measured.valid.assign(measured.times.size(), true);
  for (const LoadedPlate& plate : plates) {
    MeasuredForce& force = measured.forces.emplace_back();
    force.name = plate.name;
    for (size_t i = 0; i < plate.forces.size(); ++i) {
      force.forces.emplace_back(turn * (sign * plate.forces[i]));
      if (plate.points.empty()) continue;
      const bool known = force.forces.back().y() > kLeastLoad;
      force.points.push_back(known ? Vec3(turn * plate.points[i])
                                   : Vec3(Vec3::Constant(std::numeric_limits<double>::quiet_NaN())));
    }
  }
  return measured;
}

/// Lines of cells with numbers in them.
class PlateTableReader {
 public:
  PlateTableReader(std::string_view text, const std::string& name) : lines_(text, name), name_(name) {}

 protected:
  [[noreturn]] void Fail(const TableCell& at, const std::string& found, const std::string& expected) const {
    lines_.Fail(at.column, found, expected);
  }

  std::vector<TableCell> Line(const std::string& expected) {
    std::string_view line;
    if (!lines_.Next(line)) lines_.Fail(1, "the end of the file", expected);
    return SplitCells(line, separator_);
  }

  double NumberIn(const TableCell& cell, const std::string& expected) const {
    double number = 0;
    if (!io::ParseNumber(cell.text, number) || !std::isfinite(number)) Fail(cell, Marked(cell.text), expected);
    return number;
  }

  double ForceIn(const TableCell& cell) const {
    const double force = NumberIn(cell, "a force [N]");
    if (std::abs(force) > motion::kLargestMeasuredForce) Fail(cell, Marked(cell.text), "a force of at most 1e6 N");
    return force;
  }

  const TableCell& At(const std::vector<TableCell>& cells, size_t column, const std::string& expected) const {
    if (column >= cells.size()) Fail(cells.back(), "the end of the row", expected);
    return cells[column];
  }

  double Rate(const TableCell& cell) const {
    const double rate = NumberIn(cell, "samples per second");
    if (!(rate >= 1 && rate <= 1e5)) Fail(cell, Marked(cell.text), "1 to 100000 samples per second");
    return rate;
  }

  MeasuredForces Finish(std::vector<double> times, const std::vector<LoadedPlate>& plates) const {
    if (times.size() < 2) lines_.Fail(1, std::to_string(times.size()) + " rows", "at least two rows of numbers");
    return FromPlates(std::move(times), plates, name_);
  }

  LineReader lines_;
  const std::string& name_;
  char separator_ = ',';
};

class ViconReader : PlateTableReader {
 public:
  using PlateTableReader::PlateTableReader;

  MeasuredForces Read() {
    std::string_view line;
    do {
      if (!lines_.Next(line)) lines_.Fail(1, "the end of the file", "a line \"Devices\"");
    } while (!IsTitle(line));
    const double rate = Rate(Line("the rate of the devices").front());
    ReadColumns();
    std::vector<std::pair<double, double>> frames;  // and samples in them
    while (lines_.Next(line)) {
      const std::vector<TableCell> cells = SplitCells(line, separator_);
      if (cells.front().text.empty()) break;  // what comes next is another section
      frames.emplace_back(NumberIn(cells[0], "a frame"), NumberIn(At(cells, 1, "a sub frame"), "a sub frame"));
      if (frames.size() > motion::kMostInstants) Fail(cells[0], "more rows", "at most 5000000");
      ReadRow(cells);
    }
    double most = 0;
    for (const auto& [frame, sample] : frames) most = std::max(most, sample);
    std::vector<double> times;
    for (const auto& [frame, sample] : frames) {
      times.push_back(((frame - 1) * (most + 1) + sample) / rate);
      if (times.size() > 1 && !(times.back() > times[times.size() - 2])) {
        lines_.Fail(1, "a frame " + io::Number(frame) + " that is not after the one before", "frames that grow");
      }
    }
    return Finish(std::move(times), plates_);
  }

  static bool IsTitle(std::string_view line) { return SplitCells(line, ',').front().text == "Devices"; }

 private:
  /// What a column holds: of a plate, a force or a point along an axis.
  struct Column {
    size_t cell = 0, plate = 0;
    bool point = false;
    Eigen::Index axis = 0;
    double unit = 1;
  };

  void ReadColumns() {
    std::string_view line;
    if (!lines_.Next(line)) lines_.Fail(1, "the end of the file", "names of devices");
    if (line.find(',') == std::string_view::npos) separator_ = '\t';
    const std::vector<TableCell> devices = SplitCells(line, separator_);
    const std::vector<TableCell> names = Line("names of columns");
    if (names.size() < 2 || names[0].text != "Frame" || names[1].text != "Sub Frame") {
      Fail(names[0], Marked(names[0].text), "names of columns, Frame and Sub Frame first");
    }
    std::map<std::string, size_t> known;
    std::string device, others;
    for (size_t c = 2; c < names.size(); ++c) {
      if (c < devices.size() && !devices[c].text.empty()) {
        device = devices[c].text;
        others += (others.empty() ? "" : ", ") + Marked(device);
      }
      const bool force = device.ends_with(" - Force"), point = device.ends_with(" - CoP");
      // Nexus can sum plates up into one more.
      if ((!force && !point) || device.find("Combined") != std::string::npos || names[c].text.empty()) continue;
      const std::string plate = device.substr(0, device.rfind(" - "));
      const auto [found, is_new] = known.emplace(plate, plates_.size());
      if (is_new) plates_.push_back({plate, {}, {}});
      columns_.push_back(ColumnOf(names[c], point, c, found->second));
    }
    for (size_t p = 0; p < plates_.size(); ++p) RequireWhole(p, names[0]);
    if (plates_.empty()) {
      Fail(names[0], "no plate among the devices " + others, "names that end with \" - Force\" and \" - CoP\"");
    }
    if (plates_.size() > motion::kMostMeasuredForces) Fail(names[0], "more plates", "at most 64");
    const std::vector<TableCell> units = Line("units");
    for (Column& column : columns_) column.unit = UnitOf(At(units, column.cell, "a unit"), column.point);
  }

  Column ColumnOf(const TableCell& name, bool point, size_t cell, size_t plate) const {
    const std::vector<std::string> names =
        point ? std::vector<std::string>{"Cx", "Cy", "Cz"} : std::vector<std::string>{"Fx", "Fy", "Fz"};
    const auto found = std::find(names.begin(), names.end(), name.text);
    if (found == names.end()) {
      Fail(name, "the column " + Marked(name.text),
           OrNearest(names[0] + ", " + names[1] + " and " + names[2], name.text, names));
    }
    return {cell, plate, point, found - names.begin(), 1};
  }

  double UnitOf(const TableCell& unit, bool point) const {
    static const std::map<std::string, double> forces = {{"N", 1}, {"kN", 1000}};
    static const std::map<std::string, double> lengths = {{"mm", 0.001}, {"cm", 0.01}, {"m", 1}};
    const auto& units = point ? lengths : forces;
    const auto known = units.find(unit.text);
    if (known == units.end()) Fail(unit, "the unit " + Marked(unit.text), point ? "mm, cm or m" : "N or kN");
    return known->second;
  }

  void RequireWhole(size_t plate, const TableCell& at) const {
    std::array<int, 2> axes = {0, 0};
    for (const Column& column : columns_) {
      if (column.plate == plate) ++axes[column.point ? 1 : 0];
    }
    if (axes[0] != 3 || (axes[1] != 0 && axes[1] != 3)) {
      Fail(at,
           "the plate " + Marked(plates_[plate].name) + " with " + std::to_string(axes[0]) + " forces and " +
               std::to_string(axes[1]) + " centers of pressure",
           "three forces, and three centers or none");
    }
  }

  void ReadRow(const std::vector<TableCell>& cells) {
    for (LoadedPlate& plate : plates_) plate.forces.emplace_back(Vec3::Zero());
    for (const Column& column : columns_) {
      const TableCell& cell = At(cells, column.cell, "a number for each column");
      LoadedPlate& plate = plates_[column.plate];
      if (column.point && plate.points.size() < plate.forces.size()) plate.points.emplace_back(Vec3::Zero());
      const double number = column.point && cell.text.empty() ? 0
                            : column.point                    ? NumberIn(cell, "a place")
                                                              : ForceIn(cell);
      (column.point ? plate.points : plate.forces).back()[column.axis] = column.unit * number;
    }
  }

  std::vector<LoadedPlate> plates_;
  std::vector<Column> columns_;
};

class QualisysReader : PlateTableReader {
 public:
  QualisysReader(std::string_view text, const std::string& name) : PlateTableReader(text, name) { separator_ = '\t'; }

  MeasuredForces Read() {
    const std::vector<TableCell> first = ReadHeader();
    const double rate = Rate(Value("FREQUENCY"));
    LoadedPlate plate{keys_.contains("FORCE_PLATE_NAME") ? keys_.at("FORCE_PLATE_NAME").text : "plate", {}, {}};
    std::vector<double> times;
    std::vector<TableCell> cells = first;
    std::string_view line;
    do {
      if (!line.empty()) cells = SplitCells(line, separator_);
      if (cells.size() == 1 && cells[0].text.empty()) continue;
      times.push_back(static_cast<double>(times.size()) / rate);
      if (times.size() > motion::kMostInstants) Fail(cells[0], "more rows", "at most 5000000");
      Vec3 force, point;
      for (size_t axis = 0; axis < 3; ++axis) {
        const auto a = static_cast<Eigen::Index>(axis);
        force[a] = ForceIn(At(cells, before_ + axis, "a force"));
        point[a] = 0.001 * NumberIn(At(cells, before_ + 6 + axis, "a center of pressure"), "a center of pressure [mm]");
      }
      plate.forces.push_back(force);
      plate.points.push_back(point);
    } while (lines_.Next(line));
    TurnToLaboratory(plate);
    return Finish(std::move(times), {plate});
  }

 private:
  /// Keys with values, and the names of the columns where the file has them. Returns the first row of numbers.
  std::vector<TableCell> ReadHeader() {
    static const std::vector<std::string> columns = {"SAMPLE",  "TIME",     "Force_X",  "Force_Y",
                                                     "Force_Z", "Moment_X", "Moment_Y", "Moment_Z",
                                                     "COP_X",   "COP_Y",    "COP_Z"};
    for (;;) {
      std::vector<TableCell> cells = Line("rows of numbers");
      double number = 0;
      if (io::ParseNumber(cells[0].text, number)) {
        size_t used = cells.size();
        while (used > 0 && cells[used - 1].text.empty()) --used;  // rows end with a tab
        if (used != 9 && used != 11) {
          Fail(cells[0], std::to_string(used) + " columns",
               "9, of force, moment and center, or 11, with sample and time");
        }
        before_ = used - 9;
        return cells;
      }
      if (cells[0].text == "SAMPLE" || cells[0].text.starts_with("Force_")) {
        const size_t before = cells[0].text == "SAMPLE" ? 0 : 2;
        for (size_t c = 0; c < cells.size() && !cells[c].text.empty(); ++c) {
          if (before + c < columns.size() && cells[c].text == columns[before + c]) continue;
          Fail(
              cells[c], "the column " + Marked(cells[c].text),
              before + c < columns.size() ? OrNearest(columns[before + c], cells[c].text, columns) : "no more columns");
        }
        continue;
      }
      if (cells.size() > 1) keys_.emplace(cells[0].text, cells[1]);
    }
  }

  const TableCell& Value(const std::string& key) const {
    const auto found = keys_.find(key);
    if (found == keys_.end()) throw InputError(name_, "no " + key, "one, as Qualisys Track Manager writes it");
    return found->second;
  }

  Vec3 Corner(const std::string& corner) const {
    Vec3 place;
    for (Eigen::Index axis = 0; axis < 3; ++axis) {
      const std::string key = "FORCE_PLATE_CORNER_" + corner + "_" + "XYZ"[axis];
      double number = 0;
      if (!io::ParseNumber(Value(key).text, number) || !std::isfinite(number)) {
        throw InputError(name_, key + " " + Marked(Value(key).text), "a place [mm]");
      }
      place[axis] = 0.001 * number;
    }
    return place;
  }

  /// From the axes of the plate, whose middle is its origin, if the file says that it has these.
  void TurnToLaboratory(LoadedPlate& plate) const {
    const auto description = keys_.find("DESCRIPTION");
    if (description == keys_.end() || description->second.text.find("local") == std::string::npos) return;
    const Vec3 pp = Corner("POSX_POSY"), np = Corner("NEGX_POSY"), nn = Corner("NEGX_NEGY"), pn = Corner("POSX_NEGY");
    const Vec3 x = pp + pn - np - nn, y = pp + np - pn - nn;
    if (!(x.cross(y).norm() > 1e-6)) throw InputError(name_, "corners of a plate in a line", "four corners");
    Mat3 axes;
    axes.col(0) = x.normalized();
    axes.col(2) = x.cross(y).normalized();
    axes.col(1) = axes.col(2).cross(axes.col(0));
    const Vec3 middle = 0.25 * (pp + np + nn + pn);
    for (Vec3& force : plate.forces) force = axes * force;
    for (Vec3& point : plate.points) point = middle + axes * point;
  }

  std::map<std::string, TableCell> keys_;
  size_t before_ = 0;  // columns before the force
};

}  // namespace

bool IsViconTable(std::string_view text) {
  const std::string name;
  LineReader lines(text, name);
  std::string_view line;
  constexpr int kMostLines = 10;  // before the section
  for (int k = 0; k < kMostLines && lines.Next(line); ++k) {
    if (ViconReader::IsTitle(line)) return true;
  }
  return false;
}

bool IsQualisysTable(std::string_view text) {
  return io::WithoutByteOrderMark(text).starts_with("NO_OF_SAMPLES\t");
}

MeasuredForces ParseViconTable(std::string_view text, const std::string& name) {
  return ViconReader(text, name).Read();
}

MeasuredForces ParseQualisysTable(std::string_view text, const std::string& name) {
  return QualisysReader(text, name).Read();
}

}  // namespace retrace::recordings
