#include "retrace/results/tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
#include "retrace/io/text.h"
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

/// By fragment, then by attempt.
template <typename Rows>
std::vector<const typename Rows::value_type*> Sorted(const Rows& rows) {
  std::vector<const typename Rows::value_type*> sorted;
  for (const auto& row : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::tie(a->fragment, a->attempt) < std::tie(b->fragment, b->attempt);
  });
  return sorted;
}

void TermNames(const std::vector<std::string>& terms, io::CsvWriter& writer) {
  for (const std::string& term : terms) writer.Text(term);
  for (const std::string& term : terms) writer.Text(kWeighted + term);
}

void Terms(const SampleCost& sample, size_t count, io::CsvWriter& writer) {
  for (const std::vector<double>* values : {&sample.terms, &sample.weighted}) {
    if (values->size() != count) throw std::invalid_argument("a sample without the cost of each term");
    for (const double value : *values) writer.Short(value);
  }
}

/// How a table calls the members of FiveNumbers, after what they are the numbers of.
struct NumberColumn {
  const char* name;
  double metrics::FiveNumbers::*value;
};
constexpr NumberColumn kFiveNumbers[] = {{"least", &metrics::FiveNumbers::least},
                                         {"first_quartile", &metrics::FiveNumbers::first_quartile},
                                         {"median", &metrics::FiveNumbers::median},
                                         {"third_quartile", &metrics::FiveNumbers::third_quartile},
                                         {"most", &metrics::FiveNumbers::most}};
const std::string kDrawn = "drawn_";
const std::string kSaved = "saved_";

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
      const Vec3 rotation = joint.PerAxis(RotationVector(character::JointRotation(joint, state)));
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

std::string FormatSamples(const SampleTable& table) {
  size_t rows = 0;
  for (const FragmentSamples& fragment : table.fragments) rows += fragment.samples.size();
  io::CsvWriter writer;
  writer.Reserve(256 + rows * 160);
  for (const char* name : {"fragment", "attempt", "start_time", "end_time", "sample", "start"}) writer.Text(name);
  TermNames(table.terms, writer);
  for (const char* name : {"total", "diverged", "saved", "chosen"}) writer.Text(name);
  writer.EndRow();
  std::vector<const SampleCost*> samples;
  for (const FragmentSamples* fragment : Sorted(table.fragments)) {
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
      Terms(*sample, table.terms.size(), writer);
      writer.Short(sample->total);
      writer.Integer(sample->diverged);
      writer.Integer(sample->saved);
      writer.Integer(sample->chosen);
      writer.EndRow();
    }
  }
  return writer.Take();
}

std::string FormatCosts(const CostTable& costs) {
  io::CsvWriter writer;
  writer.Reserve(512 + costs.iterations.size() * 256);
  for (const char* name : {"fragment", "attempt", "iteration", "start_time", "end_time", "refinement", "samples",
                           "diverged", "inside_gates", "saved"}) {
    writer.Text(name);
  }
  for (const std::string& which : {kDrawn, kSaved}) {
    for (const NumberColumn& number : kFiveNumbers) writer.Text(which + number.name);
  }
  for (const char* name : {"chosen", "start"}) writer.Text(name);
  TermNames(costs.terms, writer);
  writer.Text("total");
  writer.EndRow();
  for (const IterationCosts* row : Sorted(costs.iterations)) {
    writer.Integer(row->fragment);
    writer.Integer(row->attempt);
    writer.Integer(row->iteration);
    writer.Short(row->start_time);
    writer.Short(row->end_time);
    writer.Integer(row->refinement);
    for (const int count : {row->samples, row->diverged, row->inside_gates, row->saved}) writer.Integer(count);
    for (const metrics::FiveNumbers* numbers : {&row->drawn_costs, &row->saved_costs}) {
      for (const NumberColumn& number : kFiveNumbers) writer.ShortOrEmpty(numbers->*number.value);
    }
    if (row->chosen) {
      writer.Integer(row->chosen->sample);
      writer.Integer(row->chosen->start);
      Terms(*row->chosen, costs.terms.size(), writer);
      writer.Short(row->chosen->total);
    } else {
      for (size_t cell = 0; cell < 3 + 2 * costs.terms.size(); ++cell) writer.Text("");
    }
    writer.EndRow();
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
  return Read(column, false);
}

std::vector<double> Table::NumbersOrEmpty(std::string_view column) const {
  return Read(column, true);
}

std::vector<double> Table::Read(std::string_view column, bool may_be_empty) const {
  const size_t index = Find(column);
  std::vector<double> numbers(num_rows());
  for (size_t row = 0; row < numbers.size(); ++row) {
    if (may_be_empty && columns_[index][row].empty()) {
      numbers[row] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
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
    position_ = line_start_ = text.size() - io::WithoutByteOrderMark(text).size();
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
        if (position_ == text_.size() || text_[position_] != '"') {
          if (cell.starts_with('\'') && io::IsFormula(std::string_view(cell).substr(1))) cell.erase(0, 1);  // CsvWriter
          return;
        }
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

namespace {

/// The terms of the samples in the rows of a table: those columns TERM for which there is a column weighted_TERM.
class TermColumns {
 public:
  /// `read` gives the numbers of a column.
  template <typename Read>
  TermColumns(const Table& table, const Read& read) {
    for (const std::string& name : table.names()) {
      if (!table.Has(kWeighted + name)) continue;
      names.push_back(name);
      terms_.push_back(read(name));
      weighted_.push_back(read(kWeighted + name));
    }
  }
  void Put(size_t row, SampleCost& sample) const {
    for (const std::vector<double>& term : terms_) sample.terms.push_back(term[row]);
    for (const std::vector<double>& term : weighted_) sample.weighted.push_back(term[row]);
  }

  std::vector<std::string> names;

 private:
  std::vector<std::vector<double>> terms_;     // (terms x rows)
  std::vector<std::vector<double>> weighted_;  // (terms x rows)
};

SampleTable SamplesOf(const Table& table) {
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
  const TermColumns terms(table, [&](const std::string& column) { return table.Numbers(column); });
  SampleTable samples{terms.names, {}};
  for (size_t row = 0; row < table.num_rows(); ++row) {
    const bool begins = row == 0 || fragment[row] != fragment[row - 1] || attempt[row] != attempt[row - 1];
    if (begins) {
      FragmentSamples& of = samples.fragments.emplace_back();
      of.fragment = static_cast<int>(fragment[row]);
      of.attempt = static_cast<int>(attempt[row]);
      of.start_time = start_time[row];
      of.end_time = end_time[row];
    }
    SampleCost& one = samples.fragments.back().samples.emplace_back();
    one.sample = static_cast<int>(sample[row]);
    one.start = static_cast<int>(start[row]);
    terms.Put(row, one);
    one.total = total[row];
    one.diverged = diverged[row] != 0;
    one.saved = saved[row] != 0;
    one.chosen = chosen[row] != 0;
  }
  return samples;
}

/// What is known of the iterations that drew these samples.
CostTable IterationsOf(SampleTable samples) {
  CostTable costs{std::move(samples.terms), {}};
  for (FragmentSamples& of : samples.fragments) {
    IterationCosts& row = costs.iterations.emplace_back();
    row.fragment = of.fragment;
    row.attempt = of.attempt;
    row.start_time = of.start_time;
    row.end_time = of.end_time;
    row.samples = static_cast<int>(of.samples.size());
    std::vector<double> drawn, saved;
    for (SampleCost& sample : of.samples) {
      row.diverged += sample.diverged;
      row.saved += sample.saved;
      if (!sample.diverged) drawn.push_back(sample.total);
      if (!sample.diverged && sample.saved) saved.push_back(sample.total);
      if (sample.chosen) row.chosen = std::move(sample);
    }
    row.drawn_costs = metrics::FiveNumbersOf(std::move(drawn));
    row.saved_costs = metrics::FiveNumbersOf(std::move(saved));
  }
  return costs;
}

}  // namespace

SampleTable ReadSamples(const std::filesystem::path& path) {
  return SamplesOf(ReadTable(path));
}

CostTable ReadCosts(const std::filesystem::path& path) {
  const Table table = ReadTable(path);
  if (table.Has("sample")) return IterationsOf(SamplesOf(table));  // of an earlier version
  const TermColumns terms(table, [&](const std::string& column) { return table.NumbersOrEmpty(column); });
  CostTable costs{terms.names, std::vector<IterationCosts>(table.num_rows())};
  const auto read = [&](const char* column, const auto& take) {
    const std::vector<double> numbers = table.Numbers(column);
    for (size_t row = 0; row < numbers.size(); ++row) take(costs.iterations[row], numbers[row]);
  };
  const auto integers = [&](const char* column, int IterationCosts::*member) {
    read(column, [&](IterationCosts& row, double number) { row.*member = static_cast<int>(number); });
  };
  integers("fragment", &IterationCosts::fragment);
  integers("attempt", &IterationCosts::attempt);
  integers("iteration", &IterationCosts::iteration);
  read("start_time", [](IterationCosts& row, double time) { row.start_time = time; });
  read("end_time", [](IterationCosts& row, double time) { row.end_time = time; });
  // The passes after the search were smoothing passes in earlier versions.
  read(table.Has("smoothing") ? "smoothing" : "refinement",
       [](IterationCosts& row, double flag) { row.refinement = flag != 0; });
  integers("samples", &IterationCosts::samples);
  integers("diverged", &IterationCosts::diverged);
  integers("inside_gates", &IterationCosts::inside_gates);
  integers("saved", &IterationCosts::saved);
  for (const NumberColumn& number : kFiveNumbers) {
    const std::vector<double> drawn = table.NumbersOrEmpty(kDrawn + number.name);
    const std::vector<double> saved = table.NumbersOrEmpty(kSaved + number.name);
    for (size_t row = 0; row < drawn.size(); ++row) {
      costs.iterations[row].drawn_costs.*number.value = drawn[row];
      costs.iterations[row].saved_costs.*number.value = saved[row];
    }
  }
  const std::vector<double> chosen = table.NumbersOrEmpty("chosen");
  const std::vector<double> start = table.NumbersOrEmpty("start");
  const std::vector<double> total = table.NumbersOrEmpty("total");
  for (size_t row = 0; row < chosen.size(); ++row) {
    if (std::isnan(chosen[row])) continue;
    SampleCost& sample = costs.iterations[row].chosen.emplace();
    sample.sample = static_cast<int>(chosen[row]);
    if (!std::isnan(start[row])) sample.start = static_cast<int>(start[row]);
    terms.Put(row, sample);
    sample.total = total[row];
    sample.saved = sample.chosen = true;
  }
  return costs;
}

}  // namespace retrace::results
