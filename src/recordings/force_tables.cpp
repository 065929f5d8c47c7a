#include "retrace/recordings/force_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "scanner.h"

namespace retrace::motion {
namespace {

constexpr size_t kLargestMeasurement = size_t{1} << 30;  // [bytes]
constexpr size_t kMostNamed = 8;                         // columns in a message

enum class Quantity { kTime, kValid, kForce, kPoint, kMoment };

/// What a column holds.
struct ForceColumn {
  Quantity quantity = Quantity::kTime;
  size_t force = 0;  // of MeasuredForces::forces
  int axis = 0;
  bool operator==(const ForceColumn&) const = default;
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

int AxisOf(char letter) {
  return letter == 'x' ? 0 : letter == 'y' ? 1 : letter == 'z' ? 2 : -1;
}

/// The words between underscores.
std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == '_') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::optional<Side> SideOf(const std::string& key) {
  for (const std::string& word : WordsOf(key)) {
    if (word == "l" || word == "left") return Side::kLeft;
    if (word == "r" || word == "right") return Side::kRight;
  }
  return std::nullopt;
}

/// The columns of a file, as far as they are known, in their order.
class ForceColumns {
 public:
  explicit ForceColumns(MeasuredForces& measured) : measured_(measured) {}

  /// Returns nothing for a name that is not known.
  std::optional<ForceColumn> OfTable(const std::string& name) {
    const std::string lower = Lower(name);
    if (lower == "time") return ForceColumn{Quantity::kTime};
    if (lower == "valid") return ForceColumn{Quantity::kValid};
    for (const char* side : {"left", "right"}) {
      const std::string prefix = std::string(side) + "_";
      if (!lower.starts_with(prefix)) continue;
      const std::string rest = lower.substr(prefix.size());
      if (rest.size() == 4 && rest[0] == 'f' && rest.ends_with("_n") && AxisOf(rest[1]) >= 0) {
        return ForceColumn{Quantity::kForce, ForceOf(side, side), AxisOf(rest[1])};
      }
      if (rest.size() == 6 && rest.starts_with("cop") && rest.ends_with("_m") && AxisOf(rest[3]) >= 0) {
        return ForceColumn{Quantity::kPoint, ForceOf(side, side), AxisOf(rest[3])};
      }
    }
    return std::nullopt;
  }

  std::optional<ForceColumn> OfStorage(const std::string& name) {
    const std::string lower = Lower(name);
    if (lower == "time") return ForceColumn{Quantity::kTime};
    const int axis = AxisOf(lower.empty() ? ' ' : lower.back());
    if (axis < 0) return std::nullopt;
    for (const char* word : {"ground_force_", "ground_torque_", "ground_moment_"}) {
      const size_t at = lower.find(word);
      if (at == std::string::npos) continue;
      const std::string before = lower.substr(0, at);
      std::string after = lower.substr(at + std::string_view(word).size());
      after.pop_back();
      ForceColumn column{Quantity::kMoment, 0, axis};
      if (std::string_view(word) == "ground_force_") {
        if (after.empty() || (after.back() != 'v' && after.back() != 'p')) return std::nullopt;
        column.quantity = after.back() == 'v' ? Quantity::kForce : Quantity::kPoint;
        after.pop_back();
      } else if (after == "m" || after.ends_with("_m")) {
        after.pop_back();
      }
      std::string key = before;
      if (!key.empty() && key.back() == '_') key.pop_back();
      if (!after.empty() && after.back() == '_') after.pop_back();
      if (!key.empty() && !after.empty()) key += '_';
      key += after;
      std::string shown = before;
      shown.append("ground_force_").append(after);
      column.force = ForceOf(key, shown);
      return column;
    }
    return std::nullopt;
  }

  /// Gives the pair of OpenSim's examples its sides.
  void TakeCustom() {
    if (measured_.forces.size() != 2 || !keys_.contains("") || !keys_.contains("1")) return;
    measured_.forces[keys_.at("")].side = Side::kRight;
    measured_.forces[keys_.at("1")].side = Side::kLeft;
  }

 private:
  size_t ForceOf(const std::string& key, const std::string& shown) {
    const auto [found, is_new] = keys_.emplace(key, measured_.forces.size());
    if (is_new) measured_.forces.push_back({shown, SideOf(key), {}, {}, {}});
    return found->second;
  }

  MeasuredForces& measured_;
  std::map<std::string, size_t> keys_;
};

class ForceFileReader {
 public:
  ForceFileReader(std::string_view text, const std::string& name, bool storage)
      : scanner_(text, name, Scanner::Braces::kOrdinary), name_(name), storage_(storage) {}

  MeasuredForces Read() {
    if (storage_) ReadHeader();
    ReadNames();
    while (!scanner_.Peek().end()) ReadRow();
    if (measured_.times.size() < 2) scanner_.Fail(scanner_.Peek(), "at least two rows of numbers");
    if (rows_ && *rows_ != static_cast<int64_t>(measured_.times.size())) {
      scanner_.Fail(scanner_.Peek(), std::to_string(measured_.times.size()) + " rows",
                    std::to_string(*rows_) + ", as the header says");
    }
    return std::move(measured_);
  }

 private:
  void ReadHeader() {
    while (!EqualsNoCase(scanner_.Peek().text, "endheader")) {
      if (scanner_.Peek().end()) scanner_.Fail(scanner_.Peek(), "a line \"endheader\"");
      const Token token = scanner_.Next();
      const std::string lower = Lower(token.text);
      for (const auto& [key, what, count] :
           {std::tuple{"nrows=", "rows", &rows_}, std::tuple{"datarows=", "rows", &rows_},
            std::tuple{"ncolumns=", "columns", &stated_columns_},
            std::tuple{"datacolumns=", "columns", &stated_columns_}}) {
        if (!lower.starts_with(key)) continue;
        int64_t number = 0;
        if (!ParseInteger(token.text.substr(std::string_view(key).size()), number) || number < 0) {
          scanner_.Fail(token, std::string("a number of ") + what);
        }
        *count = number;
      }
    }
    scanner_.Next();
    if (!scanner_.AtLineEnd()) scanner_.Fail(scanner_.Peek(), "a line \"endheader\" alone");
  }

  void ReadNames() {
    const Token first = scanner_.Peek();
    if (first.end()) scanner_.Fail(first, "a row of column names");
    ForceColumns known(measured_);
    std::vector<std::string> unknown;
    do {
      const Token token = scanner_.Next();
      const std::string name = scanner_.CheckName(token, std::string(token.text.substr(0, kMaxNameLength + 1)));
      const std::optional<ForceColumn> column = storage_ ? known.OfStorage(name) : known.OfTable(name);
      if (!column) {
        unknown.push_back(name);
        continue;
      }
      if (std::find(columns_.begin(), columns_.end(), *column) != columns_.end()) {
        scanner_.Fail(token, "a second column " + Quoted(name), "columns that differ");
      }
      if (measured_.forces.size() > kMostMeasuredForces) {
        scanner_.Fail(token, "at most " + std::to_string(kMostMeasuredForces) + " forces");
      }
      columns_.push_back(*column);
      names_.push_back(name);
    } while (!scanner_.AtLineEnd());
    if (!unknown.empty()) RefuseUnknown(first, unknown);
    if (stated_columns_ && *stated_columns_ != static_cast<int64_t>(names_.size())) {
      scanner_.Fail(first, std::to_string(names_.size()) + " names of columns",
                    std::to_string(*stated_columns_) + ", as the header says");
    }
    RequireWhole(first);
    if (storage_) known.TakeCustom();
  }

  [[noreturn]] void RefuseUnknown(const Token& at, const std::vector<std::string>& unknown) const {
    std::string found = unknown.size() == 1 ? "the column " : "the columns ";
    for (size_t i = 0; i < std::min(unknown.size(), kMostNamed); ++i) {
      found.append(i == 0 ? "" : ", ").append(Quoted(unknown[i]));
    }
    if (unknown.size() > kMostNamed) {
      found.append(" and ").append(std::to_string(unknown.size() - kMostNamed)).append(" more");
    }
    scanner_.Fail(at, found,
                  storage_ ? "time, and ground_force_vx, _px, ground_torque_x and their like"
                           : "time, left_fx_N, left_copx_m and their like, and valid");
  }

  /// Every quantity has three axes, and every force a force.
  void RequireWhole(const Token& at) const {
    const auto has = [&](Quantity quantity, size_t force, int axis) {
      return std::any_of(columns_.begin(), columns_.end(), [&](const ForceColumn& column) {
        return column.quantity == quantity && column.force == force && column.axis == axis;
      });
    };
    if (!has(Quantity::kTime, 0, 0)) scanner_.Fail(at, "no column of time", "a column \"time\"");
    if (measured_.forces.empty()) {
      scanner_.Fail(at, "no column of a force", storage_ ? "ground_force_vx and its like" : "left_fx_N and its like");
    }
    for (size_t f = 0; f < measured_.forces.size(); ++f) {
      for (const auto& [quantity, words] :
           {std::pair{Quantity::kForce, "the force"}, std::pair{Quantity::kPoint, "the point of application"},
            std::pair{Quantity::kMoment, "the moment"}}) {
        int axes = 0;
        for (int axis = 0; axis < 3; ++axis) axes += has(quantity, f, axis) ? 1 : 0;
        if (axes == 3 || (axes == 0 && quantity != Quantity::kForce)) continue;
        scanner_.Fail(at,
                      std::string(words).append(" of ").append(Quoted(measured_.forces[f].name)).append(" along ") +
                          std::to_string(axes) + " axes",
                      "x, y and z");
      }
    }
  }

  void ReadRow() {
    if (measured_.times.size() == kMostInstants) {
      scanner_.Fail(scanner_.Peek(), "more rows", "at most " + std::to_string(kMostInstants));
    }
    const size_t row = measured_.times.size();
    measured_.valid.push_back(true);
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0 && scanner_.AtLineEnd()) {
        scanner_.FailAtLineEnd("the end of the row after " + std::to_string(c) + " numbers",
                               std::to_string(columns_.size()) + " numbers, the next of them " + names_[c]);
      }
      TakeCell(columns_[c], names_[c], row);
    }
    if (!scanner_.AtLineEnd()) {
      scanner_.Fail(scanner_.Peek(), "the end of the row after " + std::to_string(columns_.size()) + " numbers");
    }
  }

  void TakeCell(const ForceColumn& column, const std::string& name, size_t row) {
    const Token at = scanner_.Peek();
    if (column.quantity == Quantity::kTime) {
      const double time = scanner_.Number(name);
      if (row > 0 && time <= measured_.times.back()) {
        scanner_.Fail(at, "a time after " + io::Number(measured_.times.back()));
      }
      measured_.times.push_back(time);
      return;
    }
    if (column.quantity == Quantity::kValid) {
      const double valid = scanner_.Number(name);
      if (valid != 0 && valid != 1) scanner_.Fail(at, "0 or 1");
      measured_.valid[row] = valid == 1;
      return;
    }
    MeasuredForce& force = measured_.forces[column.force];
    if (column.quantity == Quantity::kForce) {
      const double number = scanner_.Number(name);
      if (std::abs(number) > kLargestMeasuredForce) scanner_.Fail(at, "a force of at most 1e6 N");
      Put(force.forces, row, column.axis, number);
    } else if (EqualsNoCase(at.text, "nan")) {  // plates write it where nothing is on them
      scanner_.Next();
      Put(column.quantity == Quantity::kPoint ? force.points : force.moments, row, column.axis,
          column.quantity == Quantity::kPoint ? std::numeric_limits<double>::quiet_NaN() : 0);
    } else {
      Put(column.quantity == Quantity::kPoint ? force.points : force.moments, row, column.axis, scanner_.Number(name));
    }
  }

  /// Into our axes: OpenSim's x is our z, its z our -x.
  void Put(std::vector<Vec3>& vectors, size_t row, int axis, double number) const {
    if (vectors.size() <= row) vectors.resize(row + 1, Vec3::Zero());
    if (!storage_) {
      vectors[row][axis] = number;
    } else if (axis == 2) {
      vectors[row].x() = 0.0 - number;  // 0 instead of -0
    } else {
      vectors[row][axis == 0 ? 2 : 1] = number;
    }
  }

  Scanner scanner_;
  const std::string& name_;
  bool storage_;
  std::optional<int64_t> rows_, stated_columns_;  // that the header says
  std::vector<ForceColumn> columns_;
  std::vector<std::string> names_;  // (columns)
  MeasuredForces measured_;
};

/// Whether a line has `endheader` in it.
bool IsStorage(std::string_view text) {
  constexpr std::string_view kEnd = "endheader";
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::search(text.begin(), text.end(), kEnd.begin(), kEnd.end(), same) != text.end();
}

}  // namespace

MeasuredForces ParseMeasuredForces(std::string_view text, const std::string& name) {
  if (IsStorage(text)) return ForceFileReader(text, name, true).Read();
  // A comma is a blank to the scanner; what is left out between two is then a number too few.
  std::string words(text);
  std::replace(words.begin(), words.end(), ',', ' ');
  return ForceFileReader(words, name, false).Read();
}

MeasuredForces ReadMeasuredForces(const std::filesystem::path& path) {
  return ParseMeasuredForces(io::ReadFile(path, kLargestMeasurement), path.string());
}

}  // namespace retrace::motion
