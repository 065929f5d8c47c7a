#include "retrace/batches/best_of.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/remedy.h"
#include "retrace/planning/viability/viable_end.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;
using results::RunRow;

constexpr std::array kJudged = {results::FigureIndex("joint_error_mm"), results::FigureIndex("force_error_percent"),
                                results::FigureIndex("jerk_ratio_30")};
constexpr double kLeastFigure = 1e-6;  // below which smaller is no better

/// Logarithm of the product. A figure that was not measured counts for none of them.
double Badness(const RunRow& row) {
  double sum = 0;
  for (const size_t figure : kJudged) {
    const double value = row.figures[figure];
    if (std::isfinite(value)) sum += std::log(std::max(value, kLeastFigure));
  }
  return sum;
}

void CopyRun(const fs::path& from, const BestOfOptions& o, const BestOf& found, results::RunFolder& folder) {
  io::Json manifest = io::ReadJson(from / results::kManifestFile);
  for (const io::Json& file : manifest["files"]) {
    const auto name = file["name"].get<std::string>();
    folder.Write(name, io::ReadFile(from / name));
  }
  io::Json tried = io::Json::array();
  for (const RunRow& row : found.rows) tried.push_back(row.ToJson());
  manifest["best_of"] = {{"count", o.count}, {"seed", found.rows[found.best].seed}, {"tried", tried}};
  folder.Finish(manifest);
}

}  // namespace

Batch PlanBestOf(const BestOfOptions& o) {
  Batch batch;
  batch.job = o.job;
  ListedClip clip;
  clip.clip = o.job.clip;
  clip.name = o.job.clip.file.stem().string();
  batch.clips.push_back(std::move(clip));
  batch.kept = o.samples ? KeptFiles::kAllAndSamples : KeptFiles::kAll;
  batch.program = "reconstruct";
  batch.command = o.command;
  batch.time_limit = o.time_limit;
  CheckSettings(batch);
  const uint64_t first = o.job.configuration.sampling.seed;
  for (int i = 0; i < o.count; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    batch.runs.push_back({0, seed, true, o.output / kTriedFolder / std::to_string(seed)});
  }
  return batch;
}

std::optional<size_t> ChooseBest(const std::vector<RunRow>& rows) {
  const std::string viable = Name(ViableEnd::Verdict::kViable);
  const auto key = [&](size_t r) {
    const RunRow& row = rows[r];
    return std::tuple(!row.levels.main, row.end != viable, Badness(row), r);
  };
  std::optional<size_t> best;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].ran() && (!best || key(r) < key(*best))) best = r;
  }
  return best;
}

std::optional<BestOf> FindBestOf(const BestOfOptions& o, Batch& batch, parallel::MpiSession& mpi,
                                 const RowCallback& on_row) {
  std::optional<BestOf> found;
  WithRunFarm(batch, o.workers, mpi, [&](parallel::TaskFarm& farm) {
    results::RunFolder folder(o.output, o.force || o.resume, {});
    const auto note = [&](const RunRow& row, const std::vector<RunRow>& all, size_t left) {
      if (on_row) on_row(row, all, left);
    };
    BestOf result;
    try {
      result.rows = RunBatch(batch, farm, o.force, note);
    } catch (const StoppedError& error) {
      throw WithHint<StoppedError>({Remedy::kResume}, std::string(error.what()) + ": stopped with checkpoints in " +
                                                          (o.output / kTriedFolder).string());
    }
    const std::optional<size_t> best = ChooseBest(result.rows);
    if (!best) {
      const RunRow& row = result.rows.front();
      if (row.status == results::RunStatus::kFailed) throw std::runtime_error(row.message);
      throw InputError(row.message);
    }
    result.best = *best;
    io::WriteFile(o.output / kTriedFile, results::FormatRuns(result.rows));
    CopyRun(batch.runs[*best].folder, o, result, folder);
    found = std::move(result);
  });
  return found;
}

}  // namespace retrace::runs
