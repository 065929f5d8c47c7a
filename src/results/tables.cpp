#include "retrace/results/tables.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "joint_columns.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::results {
namespace {

/// The row of names, which the first part of a motion has.
template <typename Write>
void Header(const control::Trajectory& part, io::CsvWriter& writer, const Write& write) {
  if (part.first_step > 0) return;
  write();
  writer.EndRow();
}

/// Before the name of a term: the column of its weighted values.
const std::string kWeighted = "weighted_";

void RequireRecorded(size_t steps, size_t recorded, const char* what) {
  if (recorded < steps) throw std::invalid_argument(std::string("a trajectory without the ") + what + " of every step");
}

}  // namespace

std::string FormatTrajectory(const character::Character& character, const control::Trajectory& trajectory) {
  RequireRecorded(trajectory.num_steps(), trajectory.contacts.size(), "contacts");
  io::CsvWriter writer;
  writer.Reserve(trajectory.states.size() * (32 + 3 * character.joints.size()) * 20);
  Header(trajectory, writer, [&] {
    writer.Text("time");
    writer.Names("root_");
    writer.Text("root_qw");
    writer.Names("root_q");
    JointNames(character, writer);
    writer.Names("com_");
    writer.Names("com_v");
    writer.Names("force_");
    writer.Text("state");
  });
  for (size_t i = trajectory.first_new_state(); i < trajectory.states.size(); ++i) {
    const character::State& state = trajectory.states[i];
    const character::BodyState& root = state[static_cast<size_t>(character.root)];
    writer.Number(trajectory.TimeOf(i));
    writer.Vector(root.position);
    writer.Number(root.orientation.w());
    writer.Vector(root.orientation.vec());
    for (const character::Joint& joint : character.joints) {
      const Vec3 rotation = RotationVector(character::JointRotation(joint, state));
      for (int axis = 0; axis < 3; ++axis) {
        if (joint.UsesAxis(axis)) writer.Number(rotation[axis]);
      }
    }
    writer.Vector(character::CenterOfMass(character, state));
    writer.Vector(character::CenterOfMassVelocity(character, state));
    Vec3 force = Vec3::Zero();
    if (i > 0) {
      for (const simulation::Contact& contact : trajectory.contacts[i - 1]) {
        if (contact.other < 0) force += contact.force;
      }
    }
    writer.Vector(force);
    writer.Hex(control::Fingerprint(state));
    writer.EndRow();
  }
  return writer.Take();
}

std::string FormatContacts(const character::Character& character, const control::Trajectory& trajectory) {
  RequireRecorded(trajectory.num_steps(), trajectory.contacts.size(), "contacts");
  io::CsvWriter writer;
  Header(trajectory, writer, [&] {
    writer.Text("time");
    writer.Text("body");
    writer.Text("other");
    writer.Names("");
    writer.Names("force_");
  });
  for (size_t step = 0; step < trajectory.num_steps(); ++step) {
    for (const simulation::Contact& contact : trajectory.contacts[step]) {
      if ((contact.force.array() == 0).all()) continue;
      writer.Number(trajectory.TimeOf(step + 1));
      writer.Text(character.bodies[static_cast<size_t>(contact.body)].name);
      if (contact.object >= 0) {
        writer.Text(trajectory.objects[static_cast<size_t>(contact.object)]);
      } else {
        writer.Text(contact.other < 0 ? "ground" : character.bodies[static_cast<size_t>(contact.other)].name);
      }
      writer.Vector(contact.point);
      writer.Vector(contact.force);
      writer.EndRow();
    }
  }
  return writer.Take();
}

std::string FormatTorques(const character::Character& character, const control::Trajectory& trajectory) {
  RequireRecorded(trajectory.num_steps(), trajectory.torques.size(), "torques");
  io::CsvWriter writer;
  Header(trajectory, writer, [&] {
    writer.Text("time");
    JointNames(character, writer);
  });
  for (size_t step = 0; step < trajectory.num_steps(); ++step) {
    writer.Number(trajectory.TimeOf(step + 1));
    for (size_t j = 0; j < character.joints.size(); ++j) {
      for (int axis = 0; axis < 3; ++axis) {
        if (character.joints[j].UsesAxis(axis)) writer.Number(trajectory.torques[step][j][axis]);
      }
    }
    writer.EndRow();
  }
  return writer.Take();
}

std::string FormatCosts(const CostTable& costs) {
  std::vector<const FragmentCosts*> sorted;
  size_t rows = 0;
  for (const FragmentCosts& fragment : costs.fragments) {
    sorted.push_back(&fragment);
    rows += fragment.samples.size();
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::tie(a->fragment, a->attempt) < std::tie(b->fragment, b->attempt);
  });

  io::CsvWriter writer;
  writer.Reserve(256 + rows * 160);
  for (const char* name : {"fragment", "attempt", "start_time", "end_time", "sample", "start"}) writer.Text(name);
  for (const std::string& term : costs.terms) writer.Text(term);
  for (const std::string& term : costs.terms) writer.Text(kWeighted + term);
  for (const char* name : {"total", "diverged", "saved", "chosen"}) writer.Text(name);
  writer.EndRow();
  std::vector<const SampleCost*> samples;
  for (const FragmentCosts* fragment : sorted) {
    samples.clear();
    for (const SampleCost& sample : fragment->samples) samples.push_back(&sample);
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto* a, const auto* b) { return a->sample < b->sample; });
    for (const SampleCost* sample : samples) {
      writer.Integer(fragment->fragment);
      writer.Integer(fragment->attempt);
      writer.Short(fragment->start_time);
      writer.Short(fragment->end_time);
      writer.Integer(sample->sample);
      writer.Integer(sample->start);
      for (const std::vector<double>* values : {&sample->terms, &sample->weighted}) {
        if (values->size() != costs.terms.size()) throw std::invalid_argument("a sample without the cost of each term");
        for (const double value : *values) writer.Short(value);
      }
      writer.Short(sample->total);
      writer.Integer(sample->diverged);
      writer.Integer(sample->saved);
      writer.Integer(sample->chosen);
      writer.EndRow();
    }
  }
  return writer.Take();
}

bool Table::Has(std::string_view column) const {
  return std::find(names_.begin(), names_.end(), column) != names_.end();
}

size_t Table::Find(std::string_view column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  if (found == names_.end()) {
    throw InputError(file_ + ":1:1", "no column \"" + std::string(column) + "\"",
                     "a table that has one (its " + std::to_string(names_.size()) + " columns begin with \"" +
                         names_.front() + "\")");
  }
  return static_cast<size_t>(found - names_.begin());
}

const std::vector<std::string>& Table::Text(std::string_view column) const {
  return columns_[Find(column)];
}

std::vector<double> Table::Numbers(std::string_view column) const {
  const size_t index = Find(column);
  std::vector<double> numbers(num_rows());
  for (size_t row = 0; row < numbers.size(); ++row) {
    if (io::ParseNumber(columns_[index][row], numbers[row])) continue;
    const Place& place = places_[index][row];
    throw InputError(file_ + ":" + std::to_string(place.line) + ":" + std::to_string(place.column),
                     "\"" + columns_[index][row].substr(0, 60) + "\"",
                     "a number in the column \"" + names_[index] + "\"");
  }
  return numbers;
}

namespace {

/// Cuts a table's text into cells and keeps track of where they stand.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) position_ = line_start_ = 3;
  }

  bool AtEnd() const { return position_ == text_.size(); }
  uint32_t line() const { return line_; }
  uint32_t column() const { return static_cast<uint32_t>(position_ - line_start_ + 1); }

  /// Reads a cell up to and including what ends it; true when that was the end of the row.
  bool Cell(std::string& cell) {
    cell.clear();
    if (position_ < text_.size() && text_[position_] == '"') {
      Quoted(cell);
    } else {
      const size_t start = position_;
      while (position_ < text_.size() && text_[position_] != ',' && !AtLineEnd()) {
        if (text_[position_] == '"') Fail("a quotation mark inside a cell", "the whole cell in quotation marks");
        ++position_;
      }
      cell = text_.substr(start, position_ - start);
    }
    if (AtEnd()) return true;
    if (text_[position_] == ',') {
      ++position_;
      return false;
    }
    if (!AtLineEnd()) Fail("\"" + std::string(1, text_[position_]) + "\" after a quoted cell", "a comma or a line end");
    position_ += text_[position_] == '\r' ? 2 : 1;
    NewLine();
    return true;
  }

  [[noreturn]] void Fail(const std::string& found, const std::string& expected) const {
    FailAt(line_, column(), found, expected);
  }
  [[noreturn]] void FailAt(uint32_t line, uint32_t column, const std::string& found,
                           const std::string& expected) const {
    throw InputError(name_ + ":" + std::to_string(line) + ":" + std::to_string(column), found, expected);
  }

 private:
  bool AtLineEnd() const { return text_[position_] == '\n' || text_.substr(position_, 2) == "\r\n"; }
  void NewLine() {
    ++line_;
    line_start_ = position_;
  }
  void Quoted(std::string& cell) {
    const uint32_t line = line_;
    const uint32_t column_of_quote = column();
    for (++position_; position_ < text_.size();) {
      const char c = text_[position_++];
      if (c == '"') {
        if (position_ == text_.size() || text_[position_] != '"') return;
        ++position_;
      }
      cell += c;
      if (c == '\n') NewLine();
    }
    FailAt(line, column_of_quote, "a quotation mark that is never closed", "another one at the end of the cell");
  }

  std::string_view text_;
  const std::string& name_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

Table ParseTable(std::string_view text, const std::string& name) {
  Scanner scanner(text, name);
  Table table;
  table.file_ = name;
  if (scanner.AtEnd()) scanner.Fail("an empty file", "a row of column names");
  std::string cell;
  std::set<std::string> known;
  for (bool last = false; !last;) {
    const uint32_t line = scanner.line();
    const uint32_t column = scanner.column();
    last = scanner.Cell(cell);
    if (cell.empty()) scanner.FailAt(line, column, "an empty cell", "the name of a column");
    if (!known.insert(cell).second) {
      scanner.FailAt(line, column, "a second column \"" + cell + "\"", "names that differ");
    }
    table.names_.push_back(cell);
  }
  const size_t count = table.names_.size();
  table.columns_.resize(count);
  table.places_.resize(count);
  const auto cells = [](size_t n) { return std::to_string(n) + (n == 1 ? " cell" : " cells"); };
  while (!scanner.AtEnd()) {
    size_t index = 0;
    for (bool last = false; !last; ++index) {
      const Table::Place place{scanner.line(), scanner.column()};
      last = scanner.Cell(cell);
      if (index == count) scanner.FailAt(place.line, place.column, "more than " + cells(count), cells(count));
      table.columns_[index].push_back(cell);
      table.places_[index].push_back(place);
      if (last && index + 1 < count) {
        scanner.FailAt(place.line, place.column + static_cast<uint32_t>(cell.size()),
                       "the end of the row after " + cells(index + 1), cells(count));
      }
    }
  }
  return table;
}

Table ReadTable(const std::filesystem::path& path) {
  return ParseTable(io::ReadFile(path), path.string());
}

CostTable ReadCosts(const std::filesystem::path& path) {
  const Table table = ReadTable(path);
  const std::vector<double> fragment = table.Numbers("fragment");
  const std::vector<double> attempt = table.Numbers("attempt");
  const std::vector<double> start_time = table.Numbers("start_time");
  const std::vector<double> end_time = table.Numbers("end_time");
  const std::vector<double> sample = table.Numbers("sample");
  const std::vector<double> start = table.Numbers("start");
  const std::vector<double> total = table.Numbers("total");
  const std::vector<double> diverged = table.Numbers("diverged");
  const std::vector<double> saved = table.Numbers("saved");
  const std::vector<double> chosen = table.Numbers("chosen");
  CostTable costs;
  std::vector<SampleCost> samples(table.num_rows());
  for (const std::string& name : table.names()) {
    if (!table.Has(kWeighted + name)) continue;
    costs.terms.push_back(name);
    const std::vector<double> terms = table.Numbers(name);
    const std::vector<double> weighted = table.Numbers(kWeighted + name);
    for (size_t row = 0; row < samples.size(); ++row) {
      samples[row].terms.push_back(terms[row]);
      samples[row].weighted.push_back(weighted[row]);
    }
  }
  for (size_t row = 0; row < samples.size(); ++row) {
    const bool begins = row == 0 || fragment[row] != fragment[row - 1] || attempt[row] != attempt[row - 1];
    if (begins) {
      costs.fragments.emplace_back();
      costs.fragments.back().fragment = static_cast<int>(fragment[row]);
      costs.fragments.back().attempt = static_cast<int>(attempt[row]);
      costs.fragments.back().start_time = start_time[row];
      costs.fragments.back().end_time = end_time[row];
    }
    SampleCost& one = samples[row];
    one.sample = static_cast<int>(sample[row]);
    one.start = static_cast<int>(start[row]);
    one.total = total[row];
    one.diverged = diverged[row] != 0;
    one.saved = saved[row] != 0;
    one.chosen = chosen[row] != 0;
    costs.fragments.back().samples.push_back(std::move(one));
  }
  return costs;
}

}  // namespace retrace::results
