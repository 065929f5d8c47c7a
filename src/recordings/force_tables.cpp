#include "retrace/recordings/force_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "plate_tables.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/nearest_words.h"
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

/// A name of columns without the axis at its end; `#` stands for what tells the forces of a file apart.
struct StorageName {
  const char* name;
  Quantity quantity;
};

/// The first that fits counts.
constexpr StorageName kStorageNames[] = {
    // OpenSim's examples (gait2392, gait10dof18musc), with 1_ before the second force's
    {"ground_force_v", Quantity::kForce},
    {"ground_force_p", Quantity::kPoint},
    {"ground_torque_", Quantity::kMoment},
    {"ground_torque_m", Quantity::kMoment},
    {"ground_moment_m", Quantity::kMoment},
    {"ground_moment_", Quantity::kMoment},
    {"ground_force_m", Quantity::kMoment},
    // OpenCap (R_ground_force_vx), OpenSim's examples
    {"#_ground_force_v", Quantity::kForce},
    {"#_ground_force_p", Quantity::kPoint},
    {"#_ground_torque_", Quantity::kMoment},
    {"#_ground_torque_m", Quantity::kMoment},
    {"#_ground_moment_m", Quantity::kMoment},
    {"#_ground_moment_", Quantity::kMoment},
    {"#_ground_force_m", Quantity::kMoment},
    // AddBiomechanics (ground_force_calcn_l_vx) and its standard data set (ground_force_1_mx), OpenSim's C3D converter
    // (ground_moment_1_mx), Rajagopal 2015 (ground_torque_r_x), Moco (ground_torque_r_x)
    {"ground_force_#_v", Quantity::kForce},
    {"ground_force_#_p", Quantity::kPoint},
    {"ground_force_#_m", Quantity::kMoment},
    {"ground_torque_#_m", Quantity::kMoment},
    {"ground_torque_#_", Quantity::kMoment},
    {"ground_moment_#_m", Quantity::kMoment},
    {"ground_moment_#_", Quantity::kMoment},
    // Mokka and Vicon's exporters for OpenSim: the number at the word
    {"ground_force#_v", Quantity::kForce},
    {"ground_force#_p", Quantity::kPoint},
    {"ground_torque#_", Quantity::kMoment},
    {"ground_moment#_m", Quantity::kMoment},
    {"ground_moment#_", Quantity::kMoment},
    // Qualisys' and other exports
    {"ground_reaction_force_#_v", Quantity::kForce},
    {"ground_reaction_force_#_p", Quantity::kPoint},
    {"ground_reaction_moment_#_m", Quantity::kMoment},
    {"grf_#_v", Quantity::kForce},
    {"grf_#_p", Quantity::kPoint},
    {"grf_#_m", Quantity::kMoment},
    {"grm_#_m", Quantity::kMoment},
};

/// What stands for the `#` of a pattern; empty where it has none. Nothing where the name is another one.
std::optional<std::string> KeyOf(std::string_view name, std::string_view pattern) {
  const size_t hole = pattern.find('#');
  if (hole == std::string_view::npos) return name == pattern ? std::optional<std::string>("") : std::nullopt;
  const std::string_view before = pattern.substr(0, hole), after = pattern.substr(hole + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) {
    return std::nullopt;
  }
  const std::string_view key = name.substr(before.size(), name.size() - before.size() - after.size());
  if (key.starts_with('_') || key.ends_with('_')) return std::nullopt;
  return std::string(key);
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
    const std::string stem = lower.substr(0, lower.size() - 1);
    for (const StorageName& known : kStorageNames) {
      const std::optional<std::string> key = KeyOf(stem, known.name);
      if (key) return ForceColumn{known.quantity, ForceOf(*key, "ground_force_" + *key), axis};
    }
    return std::nullopt;
  }

  /// Names that a storage file may have, for those that are not known.
  std::vector<std::string> StorageExamples() const {
    std::vector<std::string> examples = {"time"};
    std::vector<std::string> keys = {"", "1", "2", "l", "r"};
    for (const auto& [key, force] : keys_) keys.push_back(key);
    for (const std::string& key : keys) {
      for (const StorageName& known : kStorageNames) {
        const std::string_view pattern = known.name;
        const size_t hole = pattern.find('#');
        if ((hole == std::string_view::npos) != key.empty()) continue;
        std::string example(pattern);
        if (hole != std::string_view::npos) example.replace(hole, 1, key);
        for (const char letter : {'x', 'y', 'z'}) examples.push_back(example + letter);
      }
    }
    return examples;
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
    if (!unknown.empty()) RefuseUnknown(first, unknown, known);
    if (stated_columns_ && *stated_columns_ != static_cast<int64_t>(names_.size())) {
      scanner_.Fail(first, std::to_string(names_.size()) + " names of columns",
                    std::to_string(*stated_columns_) + ", as the header says");
    }
    RequireWhole(first);
    if (storage_) known.TakeCustom();
  }

  [[noreturn]] void RefuseUnknown(const Token& at, const std::vector<std::string>& unknown,
                                  const ForceColumns& known) const {
    std::string found = unknown.size() == 1 ? "the column " : "the columns ";
    for (size_t i = 0; i < std::min(unknown.size(), kMostNamed); ++i) {
      found.append(i == 0 ? "" : ", ").append(Quoted(unknown[i]));
    }
    if (unknown.size() > kMostNamed) {
      found.append(" and ").append(std::to_string(unknown.size() - kMostNamed)).append(" more");
    }
    scanner_.Fail(at, found,
                  storage_ ? "time, and ground_force_vx, _px, ground_torque_x and their like" +
                                 Meant(unknown.front(), known.StorageExamples())
                           : "time, left_fx_N, left_copx_m and their like, and valid");
  }

  static std::string Meant(const std::string& word, const std::vector<std::string>& known) {
    const std::string question = io::DidYouMean(word, known);
    return question.empty() ? "" : "; " + question;
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
  if (recordings::IsViconTable(text)) return recordings::ParseViconTable(text, name);
  if (recordings::IsQualisysTable(text)) return recordings::ParseQualisysTable(text, name);
  if (IsStorage(text)) return ForceFileReader(text, name, true).Read();
  // A comma is a blank to the scanner; what is left out between two is then a number too few.
  std::string words(text);
  std::replace(words.begin(), words.end(), ',', ' ');
  return ForceFileReader(words, name, false).Read();
}

MeasuredForces ReadMeasuredForces(const std::filesystem::path& path) {
  return ParseMeasuredForces(io::ReadFile(path, kLargestMeasurement), path.string());
}

std::vector<std::filesystem::path> OtherPlates(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  constexpr std::string_view kEnd = ".tsv", kBefore = "_f_";
  const size_t at = name.rfind(kBefore);
  if (at == std::string::npos || !name.ends_with(kEnd)) return {};
  std::vector<std::filesystem::path> others;
  for (size_t plate = 1; plate <= kMostMeasuredForces; ++plate) {
    const std::string other = name.substr(0, at).append(kBefore).append(std::to_string(plate)).append(kEnd);
    if (other != name && std::filesystem::exists(path.parent_path() / other))
      others.push_back(path.parent_path() / other);
  }
  return others;
}

MeasuredForces Together(std::vector<MeasuredForces> parts, const std::vector<std::string>& names) {
  MeasuredForces all = std::move(parts.at(0));
  for (size_t p = 1; p < parts.size(); ++p) {
    if (parts[p].times != all.times) {
      throw InputError(names.at(p),
                       std::to_string(parts[p].times.size()) + " samples at other times than in " + names[0],
                       "the plates of one trial");
    }
    for (MeasuredForce& force : parts[p].forces) all.forces.push_back(std::move(force));
    for (size_t i = 0; i < all.valid.size(); ++i) all.valid[i] = all.valid[i] && parts[p].valid[i];
  }
  return all;
}

}  // namespace retrace::motion
