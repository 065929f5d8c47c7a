/// Tables of a reconstruction as CSV text (RFC 4180 with '\n' line ends), and their reader. The first row names the
/// columns. Meters, seconds, newtons, radians; y up. Times are those of the states: a step's contacts and torques stand
/// at the time of the state that it led to. Of a motion in parts (control::ReplayInParts) the texts of the parts, one
/// after the other, are the text of the whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/control.h"
#include "retrace/metrics/statistics.h"

namespace retrace::results {

/// One row per state, the start state first. Columns:
///  - time [s]
///  - root_x .. root_z: position of the root body's center of mass [m]
///  - root_qw .. root_qz: its orientation, a unit quaternion
///  - JOINT_x, JOINT_y, JOINT_z: rotation vector of each joint, child relative to parent [rad]; a hinge has its axis
///  only
///  - com_x .. com_z: center of mass [m]
///  - com_vx .. com_vz: its velocity [m/s]
///  - force_x .. force_z: sum of the ground's contact forces in the step that led here [N]; 0 in the first row
///  - state: control::Fingerprint of the whole state, 16 hexadecimal digits
/// Numbers read back to the same double.
std::string FormatTrajectory(const character::Character& character, const control::Trajectory& trajectory);

/// One row per contact point that carries force: time, body, other (the name of a body or of a thing in the world, or
/// `ground`), x, y, z of the point [m], force_x, force_y, force_z on `body` [N].
std::string FormatContacts(const character::Character& character, const control::Trajectory& trajectory);

/// One row per step: time and JOINT_x, JOINT_y, JOINT_z, the servo's torque on the child body in the parent's axes
/// [N m]; a hinge has its axis only.
std::string FormatTorques(const character::Character& character, const control::Trajectory& trajectory);

/// One sample drawn.
struct SampleCost {
  int sample = 0;                ///< index within the fragment
  int start = 0;                 ///< index of the saved state that it started from
  std::vector<double> terms;     ///< (terms of the table) without weights; 0 when diverged
  std::vector<double> weighted;  ///< (terms of the table) times the weights of its iteration; 0 when diverged
  double total = 0;              ///< the sum of `weighted`; infinity when diverged
  bool diverged = false;
  bool saved = false;   ///< its end state is among those that the next fragment starts from
  bool chosen = false;  ///< it is part of the reconstructed control
};

/// All samples that one iteration drew of a fragment.
struct FragmentSamples {
  int fragment = 0;       ///< index
  int attempt = 0;        ///< how often the fragment was drawn before
  double start_time = 0;  ///< [s]
  double end_time = 0;    ///< [s]
  std::vector<SampleCost> samples;
};

/// The costs of all samples of a run.
struct SampleTable {
  std::vector<std::string> terms;  ///< names of the terms
  std::vector<FragmentSamples> fragments;
};

/// One row per sample, sorted by fragment, attempt, sample. Columns: fragment, attempt, start_time, end_time, sample,
/// start; TERM of each term; weighted_TERM of each term; total; diverged, saved, chosen as 0 or 1. The weighted terms
/// of a row add up to its total, unless the sample diverged. Costs have 7 significant digits. Throws
/// std::invalid_argument for a sample with another number of terms than the table.
std::string FormatSamples(const SampleTable& table);

/// What one iteration drew of a fragment, without its samples.
struct IterationCosts {
  int fragment = 0;                  ///< index
  int attempt = 0;                   ///< how often the fragment was drawn before
  int iteration = 0;                 ///< running number
  double start_time = 0;             ///< of the fragment [s]
  double end_time = 0;               ///< [s]
  bool refinement = false;           ///< of a refinement pass, which ranks by another cost
  int samples = 0;                   ///< that were drawn
  int diverged = 0;                  ///< of these
  int inside_gates = 0;              ///< of these, with a margin
  int saved = 0;                     ///< of these, each counted once
  metrics::FiveNumbers drawn_costs;  ///< total costs of those that did not diverge; NaN: all did
  metrics::FiveNumbers saved_costs;  ///< total costs of the saved ones; NaN: none was saved
  std::optional<SampleCost> chosen;  ///< the one of them that is part of the control
};

/// The costs of a run, iteration by iteration.
struct CostTable {
  std::vector<std::string> terms;  ///< names of the terms
  std::vector<IterationCosts> iterations;
};

/// One row per iteration, sorted by fragment, attempt. Columns: fragment, attempt, iteration, start_time, end_time;
/// refinement as 0 or 1; samples, diverged, inside_gates, saved; drawn_NUMBER and saved_NUMBER, the five numbers of the
/// total costs (least, first_quartile, median, third_quartile, most; empty where there is none); of the chosen sample
/// chosen (its number), start, TERM of each term, weighted_TERM of each term, total, which are empty where none is
/// chosen. Costs have 7 significant digits. Throws std::invalid_argument as FormatSamples does.
std::string FormatCosts(const CostTable& costs);

/// A table read from a file. The caller decides the type of a cell: a fingerprint of digits only is a text.
class Table {
 public:
  const std::vector<std::string>& names() const { return names_; }
  size_t num_rows() const { return columns_.empty() ? 0 : columns_.front().size(); }
  bool Has(std::string_view column) const;

  /// Cells of a column. Throws InputError when there is no such column.
  const std::vector<std::string>& Text(std::string_view column) const;
  /// The same as numbers. Throws InputError with file, line and column for a cell that is none.
  std::vector<double> Numbers(std::string_view column) const;
  /// The same, with NaN for empty cells.
  std::vector<double> NumbersOrEmpty(std::string_view column) const;

 private:
  friend Table ParseTable(std::string_view text, const std::string& name);
  struct Place {
    uint32_t line = 0;
    uint32_t column = 0;
  };
  size_t Find(std::string_view column) const;
  std::vector<double> Read(std::string_view column, bool may_be_empty) const;

  std::string file_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> columns_;  // (columns x rows)
  std::vector<std::vector<Place>> places_;         // (columns x rows)
};

/// Reads a table; `name` stands for the file in messages. Accepts CRLF, a byte-order mark, quoted cells and a missing
/// last line end. Throws InputError with file, line and column (in bytes), what was found and what was expected.
Table ParseTable(std::string_view text, const std::string& name);
Table ReadTable(const std::filesystem::path& path);

/// Reads what FormatSamples wrote; the terms are those columns TERM for which there is a column weighted_TERM. Throws
/// InputError with file, line and column.
SampleTable ReadSamples(const std::filesystem::path& path);

/// Reads what FormatCosts wrote. The costs.csv of earlier versions had a row per sample: its iterations are put
/// together, without their running numbers, the samples within tolerance and whether they refined, which are 0.
/// Throws InputError with file, line and column.
CostTable ReadCosts(const std::filesystem::path& path);

}  // namespace retrace::results
