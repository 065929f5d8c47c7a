#include "retrace/recordings/joint_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "line_reader.h"
#include "npz.h"
#include "retrace/io/number.h"

namespace retrace::recordings {
namespace {

constexpr double kRateOfTables = 30;  // of the public retargets of LAFAN1 [1/s]
constexpr size_t kMostTableColumns = 2000;
constexpr size_t kMostTableRows = 1'000'000;
constexpr double kLengthTolerance = 0.02;  // by which the length of a quaternion may differ from 1
constexpr double kLargestOfTable = 1e4;    // [m], [rad]

/// In which order a quaternion's numbers are.
enum class Order { kXyzw, kWxyz };

Quat QuaternionOf(const Eigen::Vector4d& numbers, Order order) {
  return order == Order::kXyzw ? Quat(numbers[3], numbers[0], numbers[1], numbers[2])
                               : Quat(numbers[0], numbers[1], numbers[2], numbers[3]);
}

double Uprightness(const Eigen::Vector4d& numbers, Order order) {
  return (QuaternionOf(numbers, order).normalized() * Vec3(Vec3::UnitZ())).z();
}

/// Sets the orientations from rows of four numbers.
void SetOrientations(const Eigen::MatrixXd& rows, Order order, const std::string& place, JointTable& table) {
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    const double length = rows.row(r).norm();
    if (!(std::abs(length - 1) < kLengthTolerance)) {
      throw InputError(place + ": frame " + std::to_string(r), "a quaternion of length " + io::Fixed(length, 3),
                       "one of length 1");
    }
  }
  if (rows.rows() > 0) {
    const Order other = order == Order::kXyzw ? Order::kWxyz : Order::kXyzw;
    const Eigen::Vector4d first = rows.row(0).transpose();
    if (Uprightness(first, order) < 0.3 && Uprightness(first, other) > 0.8) {
      order = other;
      table.notes.push_back(std::string("the quaternion of the root is read as ") +
                            (order == Order::kXyzw ? "x, y, z, w" : "w, x, y, z") +
                            ", because the robot stands with it in the first frame");
    }
  }
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    table.root_orientations.push_back(QuaternionOf(rows.row(r).transpose(), order).normalized());
  }
}

void SetRate(std::optional<double> rate, JointTable& table) {
  table.frame_time_known = rate.has_value();
  table.frame_time = 1 / rate.value_or(kRateOfTables);
  if (!rate) table.notes.push_back("the file states no frame rate: 30 frames per second, unless another one is given");
}

// ---- CSV

std::vector<std::string_view> Cells(std::string_view line) {
  std::vector<std::string_view> cells;
  const char separator = line.find(',') != std::string_view::npos    ? ','
                         : line.find(';') != std::string_view::npos  ? ';'
                         : line.find('\t') != std::string_view::npos ? '\t'
                                                                     : ' ';
  size_t begin = 0;
  while (begin <= line.size()) {
    const size_t end = std::min(line.find(separator, begin), line.size());
    std::string_view cell = line.substr(begin, end - begin);
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    if (!(separator == ' ' && cell.empty())) cells.push_back(cell);
    begin = end + 1;
  }
  return cells;
}

std::string Lower(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower.size() > 1 && lower.front() == '"' && lower.back() == '"') lower = lower.substr(1, lower.size() - 2);
  return lower;
}

/// Columns of our own tables of joints beside the pose: velocities, servos and contacts.
bool IsBesideThePose(const std::string& column) {
  static const char* const kRootRates[] = {"root_vx", "root_vy", "root_vz", "root_wx", "root_wy", "root_wz"};
  for (const char* const name : kRootRates) {
    if (column == name) return true;
  }
  for (const char* const ending : {"_velocity", "_target", "_kp", "_kd", "_feedforward", "_torque"}) {
    if (column.ends_with(ending)) return true;
  }
  return column.starts_with("contact_");
}

/// What a column is: of the root 0 to 2 its position, 3 to 6 x, y, z, w; -1 the time; -2 a joint; -3 nothing of a pose.
int MeaningOf(const std::string& column) {
  if (IsBesideThePose(column)) return -3;
  if (column == "time" || column == "t" || column == "timestamp" || column == "time_s") return -1;
  static const char* const kRoots[] = {
      "root_",      "base_",     "pelvis_",        "root_pos_",         "base_pos_", "root_quat_",
      "base_quat_", "root_rot_", "root_position_", "root_orientation_", ""};
  static const char* const kParts[] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
  for (const char* const root : kRoots) {
    const std::string prefix = root;
    const bool turn = prefix.find("quat") != std::string::npos || prefix.find("rot") != std::string::npos ||
                      prefix.find("orientation") != std::string::npos;
    for (int part = 0; part < 7; ++part) {
      const std::string name = turn && part >= 3 ? std::string(kParts[part] + 1) : kParts[part];
      if ((part >= 3 || !turn) && column == prefix + name) return part;
    }
  }
  return -2;
}

class CsvTable {
 public:
  CsvTable(std::string_view bytes, const std::string& name, size_t joints)
      : lines_(bytes, name), name_(name), joints_(joints) {}

  JointTable Read() {
    std::string_view line;
    while (lines_.Next(line)) {
      if (line.empty() || line.starts_with('#')) continue;
      std::vector<std::string_view> cells = Cells(line);
      if (cells.size() > 1 && cells.back().empty()) cells.pop_back();  // a comma at the end
      if (!begun_) {
        begun_ = true;
        double number = 0;
        const bool header = std::none_of(cells.begin(), cells.end(),
                                         [&](std::string_view cell) { return io::ParseNumber(cell, number); });
        if (header) {
          ReadHeader(cells);
          continue;
        }
        WithoutHeader(cells.size());
      }
      AddRow(line, cells);
    }
    if (rows_ == 0) throw InputError(name_, "no frames", "a line of numbers per frame");
    return Finish();
  }

 private:
  void WithoutHeader(size_t columns) {
    if (columns != 7 + joints_) {
      lines_.Fail(1, std::to_string(columns) + " numbers in a line without a header",
                  std::to_string(7 + joints_) + ": position and quaternion of the root, and " +
                      std::to_string(joints_) + " joints of the robot");
    }
    for (size_t c = 0; c < columns; ++c) meanings_.push_back(c < 7 ? static_cast<int>(c) : -2);
  }

  void ReadHeader(const std::vector<std::string_view>& cells) {
    if (cells.size() > kMostTableColumns) lines_.Fail(1, std::to_string(cells.size()) + " columns", "at most 2000");
    std::vector<bool> seen(7, false);
    for (const std::string_view cell : cells) {
      const std::string column = Lower(cell);
      meanings_.push_back(MeaningOf(column));
      if (meanings_.back() >= 0) seen[static_cast<size_t>(meanings_.back())] = true;
      if (meanings_.back() == -2) {
        std::string name(cell);
        if (name.size() > 1 && name.front() == '"') name = name.substr(1, name.size() - 2);
        table_.joints.push_back(name);
      }
    }
    for (size_t part = 0; part < 7; ++part) {
      static const char* const kNames[] = {"root_x", "root_y", "root_z", "root_qx", "root_qy", "root_qz", "root_qw"};
      if (!seen[part]) lines_.Fail(1, std::string("no column ") + kNames[part], "position and quaternion of the root");
    }
  }

  void AddRow(std::string_view line, const std::vector<std::string_view>& cells) {
    if (cells.size() != meanings_.size()) {
      lines_.Fail(1, std::to_string(cells.size()) + " columns",
                  std::to_string(meanings_.size()) + " as in the first line");
    }
    if (++rows_ > kMostTableRows) lines_.Fail(1, "more than 1000000 lines", "at most so many");
    for (const std::string_view cell : cells) {
      double number = 0;
      if (!io::ParseNumber(cell, number) || !(std::abs(number) <= kLargestOfTable)) {
        lines_.Fail(static_cast<size_t>(cell.data() - line.data()) + 1, "\"" + std::string(cell.substr(0, 40)) + "\"",
                    "a number from -10000 to 10000");
      }
      numbers_.push_back(number);
    }
  }

  JointTable Finish() {
    const auto rows = static_cast<Eigen::Index>(rows_);
    const auto columns = static_cast<Eigen::Index>(meanings_.size());
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> all(numbers_.data(),
                                                                                                       rows, columns);
    const auto joints = static_cast<Eigen::Index>(std::count(meanings_.begin(), meanings_.end(), -2));
    table_.angles.resize(rows, joints);
    Eigen::MatrixXd root = Eigen::MatrixXd::Zero(rows, 7);
    std::optional<double> rate;
    Eigen::Index joint = 0;
    for (Eigen::Index c = 0; c < columns; ++c) {
      const int meaning = meanings_[static_cast<size_t>(c)];
      if (meaning >= 0) {
        root.col(meaning) = all.col(c);
      } else if (meaning == -1) {
        const double duration = all(rows - 1, c) - all(0, c);
        if (rows > 1 && duration > 0) rate = static_cast<double>(rows - 1) / duration;
      } else if (meaning == -2) {
        table_.angles.col(joint++) = all.col(c);
      }
    }
    for (Eigen::Index r = 0; r < rows; ++r) table_.root_positions.emplace_back(root.block<1, 3>(r, 0).transpose());
    SetOrientations(root.rightCols(4), Order::kXyzw, name_, table_);
    SetRate(rate, table_);
    return std::move(table_);
  }

  LineReader lines_;
  const std::string& name_;
  size_t joints_;
  JointTable table_;
  std::vector<int> meanings_;  // (columns)
  std::vector<double> numbers_;
  size_t rows_ = 0;
  bool begun_ = false;
};

// ---- NPZ

using TableArrays = std::map<std::string, Array>;

const std::vector<std::string> kWholeArrays = {"qpos", "q", "robot_qpos"};
const std::vector<std::string> kAngleArrays = {"dof_pos", "joint_pos",     "joint_positions",
                                               "dof",     "dof_positions", "joint_angles"};
const std::vector<std::string> kRootArrays = {"root_pos",          "root_trans", "root_position", "root_translation",
                                              "root_trans_offset", "base_pos",   "base_position"};
const std::vector<std::string> kTurnArrays = {"root_rot",       "root_quat",    "root_orientation", "root_quat_xyzw",
                                              "root_quat_wxyz", "base_quat",    "base_rot",         "base_orientation",
                                              "root_rot_xyzw",  "root_rot_wxyz"};
const std::vector<std::string> kRateArrays = {"fps", "frame_rate", "framerate", "mocap_framerate", "control_freq"};
const std::vector<std::string> kStepArrays = {"dt", "frame_time", "timestep"};
const std::vector<std::string> kTimeArrays = {"time", "times", "t"};

const Array* FindFirst(const TableArrays& arrays, const std::vector<std::string>& names, std::string* found = nullptr) {
  for (const std::string& name : names) {
    const auto at = arrays.find(name);
    if (at == arrays.end() || !at->second.unread.empty()) continue;
    if (found != nullptr) *found = name;
    return &at->second;
  }
  return nullptr;
}

/// A table of rows; also of an array of one motion among several, (1, frames, columns).
Eigen::MatrixXd RowsOf(const Array& array, const std::string& place) {
  std::vector<size_t> shape = array.shape;
  if (shape.size() == 3 && shape[0] == 1) shape.erase(shape.begin());
  if (shape.size() != 2 || shape[0] == 0) {
    std::string text;
    for (const size_t size : array.shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
    throw InputError(place, "an array of " + (text.empty() ? "a single number" : text), "one of frames x columns");
  }
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> rows(
      array.values.data(), static_cast<Eigen::Index>(shape[0]), static_cast<Eigen::Index>(shape[1]));
  if (!(rows.cwiseAbs().maxCoeff() <= kLargestOfTable))
    throw InputError(place, "a number out of range", "-10000 to 10000");
  return rows;
}

std::optional<double> RateOf(const TableArrays& arrays) {
  if (const Array* rate = FindFirst(arrays, kRateArrays);
      rate != nullptr && !rate->values.empty() && rate->values[0] > 0) {
    return rate->values[0];
  }
  if (const Array* step = FindFirst(arrays, kStepArrays);
      step != nullptr && !step->values.empty() && step->values[0] > 0) {
    return 1 / step->values[0];
  }
  if (const Array* times = FindFirst(arrays, kTimeArrays); times != nullptr && times->values.size() > 1) {
    const double duration = times->values.back() - times->values.front();
    if (duration > 0) return static_cast<double>(times->values.size() - 1) / duration;
  }
  return std::nullopt;
}

JointTable ReadArchive(std::string_view bytes, const std::string& name, size_t joints) {
  const TableArrays arrays = ParseNpz(bytes, name);
  JointTable table;
  std::string of;
  if (const Array* whole = FindFirst(arrays, kWholeArrays, &of)) {
    const std::string place = name + ": " + of;
    const Eigen::MatrixXd rows = RowsOf(*whole, place);
    const auto needed = static_cast<Eigen::Index>(7 + joints);
    if (rows.cols() < needed || (rows.cols() - needed) % 7 != 0) {
      throw InputError(place, std::to_string(rows.cols()) + " columns",
                       std::to_string(needed) + ": root and " + std::to_string(joints) + " joints of the robot");
    }
    if (rows.cols() > needed) {
      table.notes.push_back("positions of " + std::to_string((rows.cols() - needed) / 7) + " objects are left out");
    }
    const auto is_turn = [&](Eigen::Index first) {
      return ((rows.middleCols(first, 4).rowwise().norm().array() - 1).abs() < 1e-3).all();
    };
    const bool turn_first = is_turn(0) && !is_turn(3);
    if (turn_first) table.notes.push_back("in " + of + " the quaternion comes first");
    const Eigen::Index position = turn_first ? 4 : 0, turn = turn_first ? 0 : 3;
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      table.root_positions.emplace_back(rows.block<1, 3>(r, position).transpose());
    }
    SetOrientations(rows.middleCols(turn, 4), Order::kWxyz, place, table);
    table.angles = rows.middleCols(7, static_cast<Eigen::Index>(joints));
  } else {
    std::string of_joints, of_positions, of_turns;
    const Array* angles = FindFirst(arrays, kAngleArrays, &of_joints);
    const Array* positions = FindFirst(arrays, kRootArrays, &of_positions);
    const Array* turns = FindFirst(arrays, kTurnArrays, &of_turns);
    if (angles == nullptr || positions == nullptr || turns == nullptr) {
      std::string names;
      for (const auto& [known, array] : arrays) names += (names.empty() ? "" : ", ") + known;
      throw InputError(name, "arrays " + names.substr(0, 300),
                       "qpos, or root_pos, root_rot and dof_pos: root and joints of a robot");
    }
    table.angles = RowsOf(*angles, name + ": " + of_joints);
    const Eigen::MatrixXd places = RowsOf(*positions, name + ": " + of_positions);
    const Eigen::MatrixXd quaternions = RowsOf(*turns, name + ": " + of_turns);
    if (table.angles.cols() != static_cast<Eigen::Index>(joints)) {
      throw InputError(name + ": " + of_joints, std::to_string(table.angles.cols()) + " columns",
                       std::to_string(joints) + ", the joints of the robot");
    }
    if (places.cols() != 3 || quaternions.cols() != 4 || places.rows() != table.angles.rows() ||
        quaternions.rows() != table.angles.rows()) {
      throw InputError(name + ": " + of_turns,
                       std::to_string(quaternions.rows()) + " x " + std::to_string(quaternions.cols()),
                       std::to_string(table.angles.rows()) + " frames of quaternions, and as many positions");
    }
    for (Eigen::Index r = 0; r < places.rows(); ++r) table.root_positions.emplace_back(places.row(r).transpose());
    const bool real_first = of_turns.ends_with("wxyz") || of_turns == "root_quat" || of_turns == "base_quat";
    SetOrientations(quaternions, real_first ? Order::kWxyz : Order::kXyzw, name + ": " + of_turns, table);
  }
  SetRate(RateOf(arrays), table);
  return table;
}

}  // namespace

bool HoldsJointAngles(std::string_view bytes, const std::string& name) {
  try {
    const TableArrays arrays = ParseNpz(bytes, name);
    return FindFirst(arrays, kWholeArrays) != nullptr || FindFirst(arrays, kAngleArrays) != nullptr;
  } catch (const InputError&) {
    return false;
  }
}

JointTable ParseJointTable(std::string_view bytes, const std::string& name, size_t joints) {
  return bytes.starts_with("PK") ? ReadArchive(bytes, name, joints) : CsvTable(bytes, name, joints).Read();
}

}  // namespace retrace::recordings
