#include "best_of.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "common/progress.h"
#include "retrace/batches/best_of.h"
#include "retrace/batches/evaluation.h"
#include "retrace/io/error.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/report_page.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::apps {

int ReconstructBestOf(const ReconstructionArguments& o, const BestOfArguments& best, const Call& call) {
  parallel::MpiSession& mpi = *call.mpi;
  // One run says what these print.
  if (o.dry_run || o.print_config) return Reconstruct(o, call);
  RequireClip(o.job.clip);
  const ProgressStyle style = ChooseProgress(o.progress, mpi.active());
  runs::BestOfOptions options;
  runs::Batch batch;
  parallel::PrepareRanks(mpi, o.rank_timeout, [&] {
    options.job = ParseJob(o.job);
    options.count = best.count;
    options.output = OutputOf(o);
    options.command = call.line;
    options.force = o.run.force;
    options.resume = o.run.resume;
    options.samples = o.run.samples;
    if (!o.time_limit.empty()) options.time_limit = io::ParseDuration(o.time_limit);
    options.workers = {o.threads, best.ranks_per_run, o.rank_timeout};
    if (o.run.report) runs::FindReportPage();  // better now than after the search
    batch = runs::PlanBestOf(options);
    return runs::Job(options.job).identity;  // which reads the clip: what is wrong with it is said at once
  });
  if (mpi.rank() == 0) cli::Warn(call.name, simulation::SolverWarning(options.job.configuration.task.world));
  io::HandleStopSignals();
  const auto on_row = [&](const results::RunRow& row, const std::vector<results::RunRow>&, size_t left) {
    if (style == ProgressStyle::kNone) return;
    if (style == ProgressStyle::kJson) {
      std::fprintf(stderr, "%s\n", io::Dump(row.ToJson()).c_str());
    } else {
      std::fprintf(stderr, "%s (%zu left)\n", cli::Shown(runs::Describe(row)).c_str(), left);
    }
  };
  const std::optional<runs::BestOf> found = runs::FindBestOf(options, batch, mpi, on_row);
  if (!found) return 0;
  const results::RunRow& row = found->rows[found->best];
  if (Prints(style)) {
    std::printf("best of %zu: %s\n  results in %s\n", found->rows.size(), cli::Shown(runs::Describe(row)).c_str(),
                cli::Shown(options.output).c_str());
  }
  if (o.run.report) {
    const std::filesystem::path file = options.output / results::kReportFile;
    runs::WriteReportPage(runs::GatherReport({options.output.string()}).document, file);
    if (Prints(style)) std::printf("  %s opens in any web browser\n", cli::Shown(file).c_str());
  }
  return static_cast<int>(row.levels.main ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace retrace::apps
