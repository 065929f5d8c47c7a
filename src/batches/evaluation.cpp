#include "retrace/batches/evaluation.h"

#include <algorithm>
#include <array>

#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/io/pattern.h"
#include "retrace/io/remedy.h"
#include "retrace/results/folder_mark.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;
using results::RunRow;
using results::RunStatus;

std::vector<RunRow> ReadRows(const fs::path& folder) {
  const fs::path path = folder / results::kRunsFile;
  return results::ParseRuns(io::ReadFile(path), path.string());
}

/// The folder may hold earlier results of this program, but nothing else: a wrong name must not fill a home folder. The
/// tables of another list stay unless the user says otherwise.
void PrepareFolder(const EvaluationOptions& o, const Batch& batch) {
  const fs::path table = o.output / results::kRunsFile;
  results::ClaimedFolder folder(o.output, {"evaluation", o.list},
                                [&] { return fs::exists(o.output / "runs") || fs::exists(table); });
  const std::array inputs = {o.list};
  for (const std::string_view name : {results::kRunsFile, kSummaryFile, kSummaryPage, kControlsFile}) {
    io::CheckOutput(o.output / name, inputs);
  }
  if (folder.FromAnotherSource() && fs::exists(table) && !o.force) {
    for (const RunRow& row : ReadRows(o.output)) {
      const auto same = [&](const ListedClip& clip) { return clip.name == row.clip; };
      if (std::any_of(batch.clips.begin(), batch.clips.end(), same)) continue;
      throw WithHint<UsageError>({Remedy::kOverwrite, Remedy::kOtherOutput},
                                 o.output.string() + ": found an evaluation of another list (" +
                                     folder.earlier()->source.string() + "), which has " + row.clip +
                                     ", expected one of " + o.list.string());
    }
  }
  folder.Mark();
  std::error_code error;
  fs::create_directories(o.output / "runs", error);
  if (error) throw OutputError(o.output.string() + ": cannot be created: " + error.message());
}

/// The master's part: all runs on a farm, and the tables.
EvaluationResult RunAndTabulate(const EvaluationOptions& o, const Batch& batch, parallel::TaskFarm& farm,
                                const RowCallback& on_row) {
  PrepareFolder(o, batch);
  const auto note = [&](const RunRow& row, const std::vector<RunRow>& all, size_t left) {
    io::WriteFile(o.output / results::kRunsFile, results::FormatRuns(all));
    if (on_row) on_row(row, all, left);
  };
  EvaluationResult result;
  try {
    result.rows = RunBatch(batch, farm, o.force, note);
  } catch (const StoppedError& error) {
    throw StoppedError(std::string(error.what()) + ": stopped, the same command resumes from " + o.output.string());
  }
  result.summaries = results::Summarize(result.rows);
  io::WriteFile(o.output / results::kRunsFile, results::FormatRuns(result.rows));
  io::WriteFile(o.output / kSummaryFile, results::FormatSummaries(result.summaries));
  io::WriteFile(o.output / kSummaryPage, results::FormatSummaryPage(result.summaries));
  if (o.negative_controls) {
    result.controls = TestNegativeControls(batch, result.rows);
    io::WriteFile(o.output / kControlsFile, FormatNegativeControls(result.controls));
  }
  return result;
}

}  // namespace

Batch PlanBatch(const EvaluationOptions& o) {
  Batch batch;
  batch.job = o.job;
  batch.samples = o.samples;
  batch.saved = o.saved;
  const InputFile list = ReadInput({"list", o.list});
  batch.clips = ParseClipList(list.bytes, o.list, o.clips);
  batch.list_sha256 = list.record.sha256;
  batch.kept = o.kept;
  batch.command = o.command;
  batch.time_limit = o.time_limit;
  CheckSettings(batch);
  const io::Pattern only("the clips", o.only);
  bool any = false;
  for (size_t c = 0; c < batch.clips.size(); ++c) {
    const ListedClip& clip = batch.clips[c];
    const bool selected = o.only.empty() || only.IsFoundIn(clip.name);
    any = any || selected;
    const int seeds = o.seeds > 0 ? o.seeds : clip.seeds > 0 ? clip.seeds : 5;
    for (int seed = 1; seed <= seeds; ++seed) {
      const fs::path folder = results::FolderOfRun(o.output, clip.name, static_cast<uint64_t>(seed));
      const bool mine = batch.runs.size() % o.shares + 1 == o.share;
      const bool wanted = selected && mine && (!o.negative_controls || seed == 1);
      batch.runs.push_back({c, static_cast<uint64_t>(seed), wanted, folder});
    }
  }
  if (!any) throw UsageError("the clips \"" + o.only + "\": no clip of " + o.list.string() + " has such a name");
  return batch;
}

ExitCode EvaluationResult::Judge(double required) const {
  const auto any = [&](RunStatus status) {
    return std::any_of(rows.begin(), rows.end(), [&](const RunRow& row) { return row.status == status; });
  };
  ExitCode code = ExitCode::kSuccess;
  for (const results::RunSummary& summary : summaries) {
    if (summary.scope == results::RunSummary::Scope::kClip && summary.main.n > 0 &&
        summary.main.k < required * summary.main.n) {
      code = ExitCode::kBelowGate;
    }
  }
  for (const NegativeControl& control : controls) {
    if (control.accepted) code = ExitCode::kBelowGate;
  }
  if (any(RunStatus::kFailedInput)) code = ExitCode::kInput;
  if (any(RunStatus::kFailed)) code = ExitCode::kBug;
  return code;
}

std::string EvaluationResult::DescribeFailures() const {
  const auto failed = [](const RunRow& row) {
    return row.status == RunStatus::kFailedInput || row.status == RunStatus::kFailed;
  };
  const auto first = std::find_if(rows.begin(), rows.end(), failed);
  if (first == rows.end()) return "";
  return std::to_string(std::count_if(rows.begin(), rows.end(), failed))
      .append(" of ")
      .append(std::to_string(rows.size()))
      .append(" runs could not be made; ")
      .append(first->clip)
      .append(", seed ")
      .append(std::to_string(first->seed))
      .append(": ")
      .append(first->message);
}

std::optional<EvaluationResult> Evaluate(const EvaluationOptions& o, Batch& batch, parallel::MpiSession& mpi,
                                         const RowCallback& on_row) {
  std::optional<EvaluationResult> result;
  WithRunFarm(batch, {o.threads, o.ranks_per_run, o.timeout}, mpi,
              [&](parallel::TaskFarm& farm) { result = RunAndTabulate(o, batch, farm, on_row); });
  return result;
}

std::vector<results::RunComparison> CompareFolders(const fs::path& a, const fs::path& b, const fs::path& output) {
  const std::vector<RunRow> rows_a = ReadRows(a);
  const std::vector<RunRow> rows_b = ReadRows(b);
  std::vector<results::RunComparison> comparisons = results::CompareRuns(rows_a, rows_b);
  if (comparisons.back().pairs == 0) {
    throw InputError(b / results::kRunsFile, "no run of a clip and seed of " + a.string(), "some");
  }
  io::CheckOutputFolder(output);
  std::error_code error;
  fs::create_directories(output, error);
  if (error) throw OutputError(output.string() + ": cannot be created: " + error.message());
  io::WriteFile(output / kComparisonFile, results::FormatComparisons(comparisons));
  return comparisons;
}

std::string Describe(const RunRow& row) {
  std::string text = row.clip;
  text.append(" seed ").append(std::to_string(row.seed)).append(": ");
  if (!row.ran()) return text.append(Name(row.status)).append(": ").append(row.message);
  if (row.levels.main) {
    text.append(row.levels.strict ? "strict success" : "success");
  } else if (row.violated.empty()) {
    text.append(Name(row.status));
  } else {
    text.append(row.violated).append(" left at ").append(io::Fixed(row.violated_at, 2)).append(" s");
  }
  text.append(", joint error ").append(io::Fixed(row.figures[results::FigureIndex("joint_error_mm")], 0));
  text.append(" mm, ").append(io::Fixed(row.figures[results::FigureIndex("cpu_s_per_s")], 1)).append(" CPU s/s");
  return text;
}

}  // namespace retrace::runs
