/// Many reconstructions as tables: one row per run, and what follows from them per clip, per group and in all.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"
#include "retrace/metrics/motion_metrics.h"
#include "retrace/metrics/statistics.h"

namespace retrace::results {

/// The table of an evaluation, a row for each run.
inline constexpr std::string_view kRunsFile = "runs.csv";

/// What a figure of a run measures.
enum class FigureKind {
  kMotion,  ///< how good the motion is: summed up over successful runs
  kCost,    ///< what it cost, the same on every machine: summed up over all runs
  kTiming,  ///< what it cost here: differs from time to time
};

struct Figure {
  std::string_view name;  ///< of its column, with the unit
  FigureKind kind;
  std::string_view old_name = {};  ///< that tables may still have instead
  bool is_newer = false;           ///< older tables do not have it
};

/// The figures of a run, in the order of their columns. Definitions: metrics::MotionMetrics and metrics::Evaluation;
/// the torque figure is the root of the mean of squares over joints.
inline constexpr std::array kFigures = {
    Figure{"duration_s", FigureKind::kMotion},  // of the reference
    Figure{"joint_error_mm", FigureKind::kMotion},
    Figure{"world_error_mm", FigureKind::kMotion},
    Figure{"largest_world_error_mm", FigureKind::kMotion, {}, true},
    Figure{"local_error_mm", FigureKind::kMotion},
    Figure{"aligned_error_mm", FigureKind::kMotion},
    Figure{"largest_body_error_mm", FigureKind::kMotion},
    Figure{"segment_drift_mm", FigureKind::kMotion},
    Figure{"drift_m", FigureKind::kMotion},
    Figure{"velocity_error_mm_per_frame", FigureKind::kMotion},
    Figure{"acceleration_error_mm_per_frame2", FigureKind::kMotion},
    Figure{"velocity_error_m_per_s", FigureKind::kMotion},
    Figure{"acceleration_error_m_per_s2", FigureKind::kMotion},
    Figure{"root_angle_error_deg", FigureKind::kMotion},
    Figure{"worst_root_height_m", FigureKind::kMotion},
    Figure{"worst_root_orientation_deg", FigureKind::kMotion},
    Figure{"worst_joint_position_m", FigureKind::kMotion},
    Figure{"jerk_ratio", FigureKind::kMotion},
    Figure{"jerk_ratio_30", FigureKind::kMotion},
    Figure{"noise_to_signal_percent", FigureKind::kMotion},
    Figure{"skate_ratio", FigureKind::kMotion},
    Figure{"reference_skate_ratio", FigureKind::kMotion},
    Figure{"penetration_mean_mm", FigureKind::kMotion},
    Figure{"penetration_share", FigureKind::kMotion},
    Figure{"penetration_largest_mm", FigureKind::kMotion},
    Figure{"torque_rms_nm", FigureKind::kMotion},
    Figure{"torque_peak_nm", FigureKind::kMotion},
    Figure{"saturation_percent", FigureKind::kMotion, {}, true},   // of the servo that is at its limit longest
    Figure{"force_error_percent", FigureKind::kMotion, {}, true},  // of the weight
    Figure{"force_peak_weights", FigureKind::kMotion, {}, true},
    Figure{"contact_agreement", FigureKind::kMotion},
    Figure{"com_height_error_m", FigureKind::kMotion},
    Figure{"com_facing_error_m", FigureKind::kMotion},
    Figure{"quarter_trunk_error_deg", FigureKind::kMotion},
    Figure{"iterations", FigureKind::kCost},
    Figure{"back_offs", FigureKind::kCost, "rewinds"},
    Figure{"rollouts", FigureKind::kCost},
    Figure{"simulated_s_per_s", FigureKind::kCost},  // simulated seconds per second of motion
    Figure{"search_s_per_s", FigureKind::kCost},     // of these, before refinement
    Figure{"cpu_s_per_s", FigureKind::kTiming},      // CPU seconds of all rollouts per second of motion
    Figure{"wall_s", FigureKind::kTiming},
};

/// Index of a figure, at compile time: a name that does not exist does not compile.
consteval size_t FigureIndex(std::string_view name) {
  for (size_t i = 0; i < kFigures.size(); ++i) {
    if (kFigures[i].name == name) return i;
  }
  throw "no such figure";
}

enum class RunStatus {
  kCompleted,    ///< searched to the end of the clip
  kLeftGates,    ///< no sample stayed within tolerance, and the search had gone back as often as it may
  kBudget,       ///< the budget ended before the search did
  kDiverged,     ///< every sample of a fragment diverged
  kFailedInput,  ///< the clip or its settings cannot be used
  kFailed,       ///< a bug
  kSkipped,      ///< the recording is not there
};
std::string_view Name(RunStatus status);

/// One run.
struct RunRow {
  std::string clip;   ///< name in the list
  std::string group;  ///< may be empty
  uint64_t seed = 0;
  RunStatus status = RunStatus::kSkipped;
  std::string method;  ///< that found the control; empty where it was not run, and in older tables
  /// Whether the motion can go on where it ends: viable, not viable or not applicable; empty: not judged.
  std::string end;
  metrics::SuccessLevels levels;
  std::string violated;                                           ///< the tolerance that was left first; empty: none
  double violated_at = std::numeric_limits<double>::quiet_NaN();  ///< [s]
  bool replayed =
      false;  ///< the control, read back from its file, gave the same bits in a fresh world; else no success
  std::array<double, kFigures.size()> figures;  ///< NaN: not measured
  std::string message;                          ///< why it failed or was skipped

  RunRow() { figures.fill(std::numeric_limits<double>::quiet_NaN()); }
  bool ran() const {
    return status == RunStatus::kCompleted || status == RunStatus::kLeftGates || status == RunStatus::kBudget ||
           status == RunStatus::kDiverged;
  }

  /// Puts tolerances and metrics into the row, converted to the units of the columns.
  void Take(const metrics::Evaluation& evaluation, const metrics::MotionMetrics& metrics);

  io::Json ToJson() const;
};
/// Where a run is among the results of an evaluation.
std::filesystem::path FolderOfRun(const std::filesystem::path& evaluation, const std::string& clip, uint64_t seed);
/// Reads what RunRow::ToJson wrote. Throws InputError with the JSON pointer.
RunRow ReadRunRow(const io::JsonView& view);

/// CSV: clip, group, seed, status, method, end, loose, main, strict, world (0 or 1), violated, violated_at_s, replayed,
/// the figures, message. What was not measured is an empty cell.
std::string FormatRuns(const std::vector<RunRow>& rows);
/// Reads such a table. Throws InputError with file, line and column.
std::vector<RunRow> ParseRuns(const std::string& text, const std::string& name);

/// Budgets of the success curve: simulated seconds per second of motion.
inline constexpr std::array kBudgets = {700, 1400, 2800, 4200, 8400};
/// A run that samples once at a budget spends up to 1 % more: feedforward simulations that the first iteration repeats,
/// and durations rounded to simulation steps.
inline constexpr double kBudgetTolerance = 0.01;

/// k successes of n runs.
struct SuccessCount {
  int k = 0;
  int n = 0;
  double bound() const { return metrics::LowerBound(k, n); }
};

/// What the runs of a clip, of a group or of all have in common.
struct RunSummary {
  enum class Scope { kClip, kGroup, kTotal };
  Scope scope = Scope::kClip;
  std::string name;   ///< of the clip or group; total: empty
  std::string group;  ///< of a clip
  int skipped = 0;
  int failed = 0;  ///< kFailedInput and kFailed; neither these nor the skipped ones are in n
  SuccessCount loose;
  SuccessCount main;
  SuccessCount strict;
  SuccessCount world;
  SuccessCount viable;                                              ///< ends, of those to which it applies
  std::array<metrics::Quartiles, kFigures.size()> successful = {};  ///< over runs with main success
  std::array<metrics::Quartiles, kFigures.size()> all = {};         ///< over all runs that ran
  /// Main successes that had spent no more than each budget: by the spend of each run, not by runs that were stopped
  /// there.
  std::array<int, kBudgets.size()> within_budget = {};
};

/// Clips in the order of their first rows, then groups likewise (where there are any), then the total.
std::vector<RunSummary> Summarize(const std::vector<RunRow>& rows);

/// CSV with one row per summary: counts and bounds, per figure the median and quartiles over successful runs, and per
/// cost those over all runs.
std::string FormatSummaries(const std::vector<RunSummary>& summaries);
/// The same for people, as Markdown.
std::string FormatSummaryPage(const std::vector<RunSummary>& summaries);

/// Two methods on the same clips and seeds.
struct RunComparison {
  std::string clip;  ///< total: empty
  int pairs = 0;
  int success_a = 0;
  int success_b = 0;
  int only_a = 0;  ///< pairs in which A alone succeeds
  int only_b = 0;
  double p = 1;              ///< metrics::McNemarTest; of the total: of the sums, the test over all clips
  double joint_error_a = 0;  ///< median over pairs in which both succeed, as the next two [mm]
  double joint_error_b = 0;
  double jerk_a = 0;  ///< jerk_ratio
  double jerk_b = 0;
  double force_error_a = 0;  ///< [% of the weight]
  double force_error_b = 0;
  double simulated_a = 0;  ///< median over all pairs [s/s]
  double simulated_b = 0;
  double cpu_a = 0;  ///< median over all pairs [s/s]
  double cpu_b = 0;
};

/// Pairs runs of the same clip and seed that ran in both, by main success: clips in the order of A, then the total.
std::vector<RunComparison> CompareRuns(const std::vector<RunRow>& a, const std::vector<RunRow>& b);
std::string FormatComparisons(const std::vector<RunComparison>& comparisons);
std::string FormatComparisonPage(const std::vector<RunComparison>& comparisons);

}  // namespace retrace::results
