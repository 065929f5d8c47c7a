#include "retrace/results/run_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/results/tables.h"

namespace retrace::results {
namespace {

using metrics::Quartiles;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kStatuses = {RunStatus::kCompleted, RunStatus::kLeftGates,   RunStatus::kBudget,
                                  RunStatus::kDiverged,  RunStatus::kFailedInput, RunStatus::kFailed,
                                  RunStatus::kSkipped};

/// The status of a name; false when there is none.
bool ParseStatus(std::string_view name, RunStatus& status) {
  for (const RunStatus known : kStatuses) {
    if (Name(known) != name) continue;
    status = known;
    return true;
  }
  if (name != "lost") return false;  // its old name
  status = RunStatus::kLeftGates;
  return true;
}

// Ends of runs: runs::Name of a verdict.
constexpr std::string_view kViable = "viable", kNotViable = "not viable", kNotApplicable = "not applicable";

bool IsEnd(std::string_view end) {
  return end.empty() || end == kViable || end == kNotViable || end == kNotApplicable;
}

/// A number for people, or a dash.
std::string Shown(double value, int decimals) {
  return std::isfinite(value) ? io::Fixed(value, decimals) : "-";
}

std::string Shown(const Quartiles& q, int decimals) {
  if (std::isnan(q.median)) return "-";
  return Shown(q.median, decimals).append(" [") + Shown(q.first, decimals) + "-" + Shown(q.third, decimals) + "]";
}

std::string Shown(const SuccessCount& count) {
  return std::to_string(count.k).append("/").append(std::to_string(count.n));
}

std::string ShownWithBound(const SuccessCount& count) {
  return count.n == 0 ? "-" : Shown(count).append(" (").append(io::Fixed(count.bound(), 2)).append(")");
}

void WriteQuartiles(io::CsvWriter& row, const Quartiles& q) {
  row.NumberOrEmpty(q.median);
  row.NumberOrEmpty(q.first);
  row.NumberOrEmpty(q.third);
}

/// The distinct values of a text of the rows, in the order in which they come.
template <typename Member>
std::vector<std::string> Distinct(const std::vector<RunRow>& rows, Member member) {
  std::vector<std::string> values;
  for (const RunRow& row : rows) {
    const std::string& value = row.*member;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

RunSummary SummarizeRows(const std::vector<const RunRow*>& rows) {
  constexpr size_t kSpent = FigureIndex("search_s_per_s");
  RunSummary summary;
  std::array<std::vector<double>, kFigures.size()> successful;
  std::array<std::vector<double>, kFigures.size()> all;
  for (const RunRow* row : rows) {
    summary.skipped += row->status == RunStatus::kSkipped;
    summary.failed += row->status == RunStatus::kFailedInput || row->status == RunStatus::kFailed;
    if (!row->ran()) continue;
    const std::pair<SuccessCount*, bool> levels[] = {{&summary.loose, row->levels.loose},
                                                     {&summary.main, row->levels.main},
                                                     {&summary.strict, row->levels.strict},
                                                     {&summary.world, row->levels.world}};
    for (const auto& [count, success] : levels) {
      count->k += success;
      ++count->n;
    }
    if (row->end == kViable || row->end == kNotViable) {
      summary.viable.k += row->end == kViable;
      ++summary.viable.n;
    }
    for (size_t f = 0; f < kFigures.size(); ++f) {
      all[f].push_back(row->figures[f]);
      if (row->levels.main) successful[f].push_back(row->figures[f]);
    }
    for (size_t b = 0; b < kBudgets.size(); ++b) {
      summary.within_budget[b] += row->levels.main && row->figures[kSpent] <= kBudgets[b] * (1 + kBudgetTolerance);
    }
  }
  for (size_t f = 0; f < kFigures.size(); ++f) {
    summary.successful[f] = metrics::QuartilesOf(std::move(successful[f]));
    summary.all[f] = metrics::QuartilesOf(std::move(all[f]));
  }
  return summary;
}

template <typename Choose>
RunSummary SummarizeIf(const std::vector<RunRow>& rows, RunSummary::Scope scope, const std::string& name,
                       const Choose& choose) {
  std::vector<const RunRow*> chosen;
  for (const RunRow& row : rows) {
    if (choose(row)) chosen.push_back(&row);
  }
  RunSummary summary = SummarizeRows(chosen);
  summary.scope = scope;
  summary.name = name;
  if (scope == RunSummary::Scope::kClip) summary.group = chosen.front()->group;
  return summary;
}

const char* ScopeName(RunSummary::Scope scope) {
  switch (scope) {
    case RunSummary::Scope::kClip:
      return "clip";
    case RunSummary::Scope::kGroup:
      return "group";
    case RunSummary::Scope::kTotal:
      return "total";
  }
  return "";
}

/// How a summary is called in a page.
std::string Title(const RunSummary& summary) {
  if (summary.scope == RunSummary::Scope::kClip) return summary.name;
  return summary.scope == RunSummary::Scope::kGroup ? "**" + summary.name + "**" : "**all**";
}

}  // namespace

std::string_view Name(RunStatus status) {
  switch (status) {
    case RunStatus::kCompleted:
      return "completed";
    case RunStatus::kLeftGates:
      return "left-gates";
    case RunStatus::kBudget:
      return "budget";
    case RunStatus::kDiverged:
      return "diverged";
    case RunStatus::kFailedInput:
      return "failed-input";
    case RunStatus::kFailed:
      return "failed";
    case RunStatus::kSkipped:
      return "skipped";
  }
  return "";
}

void RunRow::Take(const metrics::Evaluation& evaluation, const metrics::MotionMetrics& m) {
  const auto set = [&](size_t figure, double value) { figures[figure] = value; };
  violated.clear();
  violated_at = kNotANumber;
  for (const metrics::Gate& gate : evaluation.gates) {
    if (!gate.passed() && !(gate.first_violation >= violated_at)) {
      violated = gate.name;
      violated_at = gate.first_violation;
    }
    if (gate.name == "root_height") set(FigureIndex("worst_root_height_m"), gate.worst);
    if (gate.name == "root_orientation") set(FigureIndex("worst_root_orientation_deg"), Degrees(gate.worst));
    if (gate.name == "saturation") set(FigureIndex("saturation_percent"), 100 * gate.worst);
    if (gate.name == "joint_position") set(FigureIndex("worst_joint_position_m"), gate.worst);
  }
  constexpr double kMillimeters = 1000;
  set(FigureIndex("joint_error_mm"), kMillimeters * m.joint_error);
  set(FigureIndex("world_error_mm"), kMillimeters * m.world_error);
  set(FigureIndex("largest_world_error_mm"), kMillimeters * m.largest_world_error);
  set(FigureIndex("local_error_mm"), kMillimeters * m.local_error);
  set(FigureIndex("aligned_error_mm"), kMillimeters * m.aligned_error);
  set(FigureIndex("largest_body_error_mm"), kMillimeters * m.largest_body_error);
  set(FigureIndex("segment_drift_mm"), kMillimeters * m.segment_drift);
  set(FigureIndex("drift_m"), m.drift);
  set(FigureIndex("velocity_error_mm_per_frame"), kMillimeters * m.velocity_error);
  set(FigureIndex("acceleration_error_mm_per_frame2"), kMillimeters * m.acceleration_error);
  set(FigureIndex("velocity_error_m_per_s"), m.velocity_error * metrics::kPositionRate);
  set(FigureIndex("acceleration_error_m_per_s2"),
      m.acceleration_error * metrics::kPositionRate * metrics::kPositionRate);
  set(FigureIndex("root_angle_error_deg"), Degrees(m.root_angle_error));
  set(FigureIndex("jerk_ratio"), m.jerk_ratio);
  set(FigureIndex("jerk_ratio_30"), m.jerk_ratio_30);
  set(FigureIndex("noise_to_signal_percent"), m.noise_to_signal);
  set(FigureIndex("skate_ratio"), m.skate_ratio);
  set(FigureIndex("reference_skate_ratio"), m.reference_skate_ratio);
  set(FigureIndex("penetration_mean_mm"), kMillimeters * m.penetration.mean);
  set(FigureIndex("penetration_share"), m.penetration.share);
  set(FigureIndex("penetration_largest_mm"), kMillimeters * m.penetration.largest);
  double squares = 0;
  for (const double rms : m.torque_rms) squares += rms * rms / static_cast<double>(m.torque_rms.size());
  set(FigureIndex("torque_rms_nm"), std::sqrt(squares));
  set(FigureIndex("torque_peak_nm"), m.torque_peak);
  set(FigureIndex("force_error_percent"), 100 * m.force_error);
  set(FigureIndex("force_peak_weights"), m.force_peak);
  set(FigureIndex("contact_agreement"), m.contact_agreement);
  set(FigureIndex("com_height_error_m"), m.com_height_error);
  set(FigureIndex("com_facing_error_m"), m.com_facing_error);
  set(FigureIndex("quarter_trunk_error_deg"), Degrees(m.quarter_trunk_error));
}

io::Json RunRow::ToJson() const {
  const auto number = [](double value) { return std::isfinite(value) ? io::Json(value) : io::Json(nullptr); };
  io::Json json = {{"clip", clip},           {"group", group},       {"seed", seed},
                   {"status", Name(status)}, {"method", method},     {"end", end},
                   {"loose", levels.loose},  {"main", levels.main},  {"strict", levels.strict},
                   {"world", levels.world},  {"violated", violated}, {"violated_at_s", number(violated_at)},
                   {"replayed", replayed},   {"message", message}};
  for (size_t f = 0; f < kFigures.size(); ++f) json["figures"][std::string(kFigures[f].name)] = number(figures[f]);
  return json;
}

std::filesystem::path FolderOfRun(const std::filesystem::path& evaluation, const std::string& clip, uint64_t seed) {
  return evaluation / "runs" / (clip + "." + std::to_string(seed));
}

RunRow ReadRunRow(const io::JsonView& view) {
  const auto number = [](const io::JsonView& value) {
    return value.json().is_null() ? kNotANumber : value.Number({-1e300, 1e300});
  };
  RunRow row;
  row.clip = view["clip"].String();
  row.group = view["group"].String();
  if (!view["seed"].json().is_number_unsigned()) view["seed"].Expect("a whole number");
  row.seed = view["seed"].json().get<uint64_t>();
  if (!ParseStatus(view["status"].String(), row.status)) view["status"].Expect("the status of a run");
  if (view.Has("method")) row.method = view["method"].String();
  if (view.Has("end")) row.end = view["end"].String();
  if (!IsEnd(row.end)) view["end"].Expect("viable, not viable, not applicable or nothing");
  row.levels = {view["loose"].Boolean(), view["main"].Boolean(), view["strict"].Boolean(),
                view.Has("world") && view["world"].Boolean()};
  row.violated = view["violated"].String();
  row.violated_at = number(view["violated_at_s"]);
  row.replayed = view["replayed"].Boolean();
  row.message = view["message"].String();
  const io::JsonView figures = view["figures"];
  for (size_t f = 0; f < kFigures.size(); ++f) {
    const std::string name(kFigures[f].name);
    if (!kFigures[f].is_newer || figures.Has(name)) row.figures[f] = number(figures[name]);
  }
  return row;
}

std::string FormatRuns(const std::vector<RunRow>& rows) {
  io::CsvWriter csv;
  for (const char* name : {"clip", "group", "seed", "status", "method", "end", "loose", "main", "strict", "world",
                           "violated", "violated_at_s", "replayed"}) {
    csv.Text(name);
  }
  for (const Figure& figure : kFigures) csv.Text(figure.name);
  csv.Text("message");
  csv.EndRow();
  for (const RunRow& row : rows) {
    csv.Text(row.clip);
    csv.Text(row.group);
    csv.Text(std::to_string(row.seed));
    csv.Text(Name(row.status));
    csv.Text(row.method);
    csv.Text(row.end);
    for (const bool flag : {row.levels.loose, row.levels.main, row.levels.strict, row.levels.world})
      csv.Text(flag ? "1" : "0");
    csv.Text(row.violated);
    csv.NumberOrEmpty(row.violated_at);
    csv.Text(row.replayed ? "1" : "0");
    for (const double value : row.figures) csv.NumberOrEmpty(value);
    csv.Text(row.message);
    csv.EndRow();
  }
  return csv.Take();
}

std::vector<RunRow> ParseRuns(const std::string& text, const std::string& name) {
  const Table table = ParseTable(text, name);
  const auto fail = [&](size_t row, const std::string& column, const std::string& expected) {
    // Rows of a line each, below the names: messages are the only cells that could have more, and stand last.
    throw InputError(std::string(name).append(":").append(std::to_string(row + 2)).append(": ").append(column),
                     "\"" + table.Text(column)[row] + "\"", expected);
  };
  const auto number = [&](const std::string& column, size_t row) {
    const std::string& cell = table.Text(column)[row];
    double value = kNotANumber;
    if (!cell.empty() && !io::ParseNumber(cell, value)) fail(row, column, "a number or nothing");
    return value;
  };
  const auto flag = [&](const std::string& column, size_t row) {
    const std::string& cell = table.Text(column)[row];
    if (cell != "0" && cell != "1") fail(row, column, "0 or 1");
    return cell == "1";
  };
  std::vector<RunRow> rows(table.num_rows());
  for (size_t r = 0; r < rows.size(); ++r) {
    RunRow& row = rows[r];
    row.clip = table.Text("clip")[r];
    row.group = table.Text("group")[r];
    const std::string& seed = table.Text("seed")[r];
    const auto read = std::from_chars(seed.data(), seed.data() + seed.size(), row.seed);
    if (read.ec != std::errc() || read.ptr != seed.data() + seed.size()) fail(r, "seed", "a whole number");
    if (!ParseStatus(table.Text("status")[r], row.status)) fail(r, "status", "the status of a run");
    if (table.Has("method")) row.method = table.Text("method")[r];
    if (table.Has("end")) row.end = table.Text("end")[r];
    if (!IsEnd(row.end)) fail(r, "end", "viable, not viable, not applicable or nothing");
    row.levels = {flag("loose", r), flag("main", r), flag("strict", r), table.Has("world") && flag("world", r)};
    row.violated = table.Text("violated")[r];
    row.violated_at = number("violated_at_s", r);
    row.replayed = flag("replayed", r);
    for (size_t f = 0; f < kFigures.size(); ++f) {
      const auto& [name_now, kind, old_name, is_newer] = kFigures[f];
      const std::string column(!old_name.empty() && table.Has(old_name) ? old_name : name_now);
      if (!is_newer || table.Has(column)) row.figures[f] = number(column, r);
    }
    row.message = table.Text("message")[r];
  }
  return rows;
}

std::vector<RunSummary> Summarize(const std::vector<RunRow>& rows) {
  std::vector<RunSummary> summaries;
  if (rows.empty()) return summaries;
  for (const std::string& clip : Distinct(rows, &RunRow::clip)) {
    summaries.push_back(
        SummarizeIf(rows, RunSummary::Scope::kClip, clip, [&](const RunRow& row) { return row.clip == clip; }));
  }
  for (const std::string& group : Distinct(rows, &RunRow::group)) {
    if (group.empty()) continue;
    summaries.push_back(
        SummarizeIf(rows, RunSummary::Scope::kGroup, group, [&](const RunRow& row) { return row.group == group; }));
  }
  summaries.push_back(SummarizeIf(rows, RunSummary::Scope::kTotal, "", [](const RunRow&) { return true; }));
  return summaries;
}

std::string FormatSummaries(const std::vector<RunSummary>& summaries) {
  io::CsvWriter csv;
  for (const char* name : {"scope", "name", "group", "runs", "skipped", "failed"}) csv.Text(name);
  for (const char* level : {"loose", "main", "strict", "world"}) {
    csv.Text(level);
    csv.Text(std::string(level).append("_lower_bound"));
  }
  for (const char* name : {"ends", "viable", "viable_lower_bound"}) csv.Text(name);
  for (const int budget : kBudgets) csv.Text(std::string("main_within_").append(std::to_string(budget)));
  const auto names = [&](std::string_view figure, const char* runs) {
    for (const char* which : {"_median", "_q1", "_q3"}) csv.Text(std::string(figure).append(runs).append(which));
  };
  for (const Figure& figure : kFigures) names(figure.name, "");
  for (const Figure& figure : kFigures) {
    if (figure.kind != FigureKind::kMotion) names(figure.name, "_all");
  }
  csv.EndRow();
  for (const RunSummary& summary : summaries) {
    csv.Text(ScopeName(summary.scope));
    csv.Text(summary.name);
    csv.Text(summary.group);
    csv.Text(std::to_string(summary.main.n));
    csv.Text(std::to_string(summary.skipped));
    csv.Text(std::to_string(summary.failed));
    for (const SuccessCount* count : {&summary.loose, &summary.main, &summary.strict, &summary.world}) {
      csv.Text(std::to_string(count->k));
      csv.NumberOrEmpty(count->bound());
    }
    csv.Text(std::to_string(summary.viable.n));
    csv.Text(std::to_string(summary.viable.k));
    csv.NumberOrEmpty(summary.viable.n > 0 ? summary.viable.bound() : kNotANumber);
    for (const int count : summary.within_budget) csv.Text(std::to_string(count));
    for (const Quartiles& q : summary.successful) WriteQuartiles(csv, q);
    for (size_t f = 0; f < kFigures.size(); ++f) {
      if (kFigures[f].kind != FigureKind::kMotion) WriteQuartiles(csv, summary.all[f]);
    }
    csv.EndRow();
  }
  return csv.Take();
}

std::string FormatSummaryPage(const std::vector<RunSummary>& summaries) {
  std::string page =
      "| clip | success (bound) | loose | strict | world | viable end (bound) | joint error, mm | world error, mm | "
      "drift, m | jerk ratio at 30 "
      "Hz | skate ref / "
      "result | "
      "deepest, mm | CPU s/s | simulated s/s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  int clips = 0;
  int reliable = 0;
  int skipped = 0;
  int failed = 0;
  for (const RunSummary& summary : summaries) {
    if (summary.scope == RunSummary::Scope::kTotal) {
      skipped = summary.skipped;
      failed = summary.failed;
    }
    page.append("| ").append(Title(summary)).append(" | ");
    if (summary.main.n == 0) {
      page.append(summary.failed > 0 ? "failed" : "skipped").append(" | | | | | | | | | | | | |\n");
      continue;
    }
    if (summary.scope == RunSummary::Scope::kClip) {
      ++clips;
      reliable += 5 * summary.main.k >= 4 * summary.main.n;
    }
    const auto& good = summary.successful;
    page.append(ShownWithBound(summary.main)).append(" | ");
    page.append(Shown(summary.loose)).append(" | ").append(Shown(summary.strict)).append(" | ");
    page.append(Shown(summary.world)).append(" | ");
    page.append(ShownWithBound(summary.viable)).append(" | ");
    page.append(Shown(good[FigureIndex("joint_error_mm")], 0)).append(" | ");
    page.append(Shown(good[FigureIndex("world_error_mm")], 0)).append(" | ");
    page.append(Shown(good[FigureIndex("drift_m")].median, 2)).append(" | ");
    page.append(Shown(good[FigureIndex("jerk_ratio_30")].median, 1)).append(" | ");
    page.append(Shown(good[FigureIndex("reference_skate_ratio")].median, 2)).append(" / ");
    page.append(Shown(good[FigureIndex("skate_ratio")].median, 2)).append(" | ");
    page.append(Shown(good[FigureIndex("penetration_largest_mm")].median, 0)).append(" | ");
    const double cpu = summary.all[FigureIndex("cpu_s_per_s")].median;
    page.append(Shown(cpu, cpu < 1 ? 2 : 1)).append(" | ");
    page.append(Shown(summary.all[FigureIndex("simulated_s_per_s")].median, 0)).append(" |\n");
  }
  page.append(
      "\nSuccess: within tolerance at every instant; the bound is the one-sided 95 % Clopper-Pearson lower bound. "
      "Viable end: a control was found that takes the character on, on its feet, for /run/tail seconds; of the ends to "
      "which that applies. "
      "Figures are medians over successful runs (joint error with quartiles), costs over all runs.\n");
  page.append(std::to_string(reliable)).append(" of ").append(std::to_string(clips));
  page.append(" clips succeed in at least 80 % of their runs.");
  if (skipped > 0) page.append(" Skipped, the recording is missing: ").append(std::to_string(skipped)).append(" runs.");
  if (failed > 0) page.append(" Failed, see runs.csv: ").append(std::to_string(failed)).append(" runs.");
  page.append(
      "\n\nSuccess within a budget of simulated seconds per second of motion, by what each run spent until it first "
      "reached the end:\n\n| |");
  for (const int budget : kBudgets) page.append(" ").append(std::to_string(budget)).append(" |");
  page.append(" any |\n|---|");
  for (size_t b = 0; b <= kBudgets.size(); ++b) page.append("---|");
  page.push_back('\n');
  for (const RunSummary& summary : summaries) {
    if (summary.scope == RunSummary::Scope::kClip || summary.main.n == 0) continue;
    page.append("| ").append(Title(summary)).append(" |");
    for (const int count : summary.within_budget)
      page.append(" ").append(Shown(SuccessCount{count, summary.main.n})).append(" |");
    page.append(" ").append(Shown(summary.main)).append(" |\n");
  }
  return page;
}

std::vector<RunComparison> CompareRuns(const std::vector<RunRow>& a, const std::vector<RunRow>& b) {
  std::map<std::pair<std::string, uint64_t>, const RunRow*> other;
  for (const RunRow& row : b) {
    if (row.ran()) other[{row.clip, row.seed}] = &row;
  }
  using Pair = std::pair<const RunRow*, const RunRow*>;
  std::vector<Pair> pairs;
  for (const RunRow& row : a) {
    const auto found = other.find({row.clip, row.seed});
    if (row.ran() && found != other.end()) pairs.emplace_back(&row, found->second);
  }
  const auto compare = [](const std::string& clip, const std::vector<Pair>& chosen) {
    RunComparison comparison;
    comparison.clip = clip;
    comparison.pairs = static_cast<int>(chosen.size());
    const auto median = [&](size_t figure, bool of_b, bool both_succeed) {
      std::vector<double> values;
      for (const auto& [x, y] : chosen) {
        const bool counts = !both_succeed || (x->levels.main && y->levels.main);
        if (counts) values.push_back((of_b ? y : x)->figures[figure]);
      }
      return metrics::QuartilesOf(values).median;
    };
    for (const auto& [x, y] : chosen) {
      comparison.success_a += x->levels.main;
      comparison.success_b += y->levels.main;
      comparison.only_a += x->levels.main && !y->levels.main;
      comparison.only_b += y->levels.main && !x->levels.main;
    }
    comparison.p = metrics::McNemarTest(comparison.only_a, comparison.only_b);
    const auto take = [&](size_t figure, bool both_succeed, double& a_value, double& b_value) {
      a_value = median(figure, false, both_succeed);
      b_value = median(figure, true, both_succeed);
    };
    take(FigureIndex("joint_error_mm"), true, comparison.joint_error_a, comparison.joint_error_b);
    take(FigureIndex("jerk_ratio"), true, comparison.jerk_a, comparison.jerk_b);
    take(FigureIndex("force_error_percent"), true, comparison.force_error_a, comparison.force_error_b);
    take(FigureIndex("simulated_s_per_s"), false, comparison.simulated_a, comparison.simulated_b);
    take(FigureIndex("cpu_s_per_s"), false, comparison.cpu_a, comparison.cpu_b);
    return comparison;
  };
  std::vector<RunComparison> comparisons;
  for (const std::string& clip : Distinct(a, &RunRow::clip)) {
    std::vector<Pair> chosen;
    for (const Pair& pair : pairs) {
      if (pair.first->clip == clip) chosen.push_back(pair);
    }
    if (!chosen.empty()) comparisons.push_back(compare(clip, chosen));
  }
  comparisons.push_back(compare("", pairs));
  return comparisons;
}

std::string FormatComparisons(const std::vector<RunComparison>& comparisons) {
  io::CsvWriter csv;
  for (const char* name :
       {"clip", "pairs", "success_a", "success_b", "only_a", "only_b", "mcnemar_p", "joint_error_mm_a",
        "joint_error_mm_b", "jerk_ratio_a", "jerk_ratio_b", "force_error_percent_a", "force_error_percent_b",
        "simulated_s_per_s_a", "simulated_s_per_s_b", "cpu_s_per_s_a", "cpu_s_per_s_b"}) {
    csv.Text(name);
  }
  csv.EndRow();
  for (const RunComparison& c : comparisons) {
    csv.Text(c.clip.empty() ? "total" : c.clip);
    for (const int count : {c.pairs, c.success_a, c.success_b, c.only_a, c.only_b}) csv.Text(std::to_string(count));
    for (const double value : {c.p, c.joint_error_a, c.joint_error_b, c.jerk_a, c.jerk_b, c.force_error_a,
                               c.force_error_b, c.simulated_a, c.simulated_b, c.cpu_a, c.cpu_b}) {
      csv.NumberOrEmpty(value);
    }
    csv.EndRow();
  }
  return csv.Take();
}

std::string FormatComparisonPage(const std::vector<RunComparison>& comparisons) {
  std::string page =
      "| clip | success A | success B | A alone | B alone | McNemar p | joint error A / B, mm | jerk ratio A / B | "
      "force error A / B, % | "
      "simulated s/s A / B | CPU s/s A / B |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  const auto both = [](double a, double b, int decimals) {
    return Shown(a, decimals).append(" / ").append(Shown(b, decimals));
  };
  for (const RunComparison& c : comparisons) {
    page.append("| ").append(c.clip.empty() ? "**all**" : c.clip).append(" | ");
    page.append(Shown(SuccessCount{c.success_a, c.pairs})).append(" | ");
    page.append(Shown(SuccessCount{c.success_b, c.pairs})).append(" | ");
    page.append(std::to_string(c.only_a)).append(" | ").append(std::to_string(c.only_b)).append(" | ");
    page.append(Shown(c.p, 3)).append(" | ").append(both(c.joint_error_a, c.joint_error_b, 0)).append(" | ");
    page.append(both(c.jerk_a, c.jerk_b, 1)).append(" | ").append(both(c.force_error_a, c.force_error_b, 0));
    page.append(" | ");
    page.append(both(c.simulated_a, c.simulated_b, 0)).append(" | ").append(both(c.cpu_a, c.cpu_b, 2)).append(" |\n");
  }
  return page;
}

}  // namespace retrace::results
