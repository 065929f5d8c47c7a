#include "common/reconstruction.h"

#include <cstdio>
#include <filesystem>
#include <optional>

#include "common/number_option.h"
#include "common/outcome.h"
#include "common/program.h"
#include "common/progress.h"
#include "retrace/io/error.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/simulation/solver_in_use.h"
#include "retrace/jobs/idle_ranks.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::apps {
namespace {

/// Progress on standard error and, where results are printed, what the clip became.
runs::RunObserver Observe(const runs::Job& job, ProgressStyle style, std::optional<Progress>& progress) {
  runs::RunObserver observer;
  observer.on_iteration = [&job, style, &progress](const sampling::IterationRecord& record) {
    if (!progress) progress.emplace(style, job.problem);
    progress->Update(record);
  };
  observer.on_window_iteration = [&job, style, &progress](const windows::IterationRecord& record) {
    if (!progress) progress.emplace(style, job.problem);
    progress->Update(record);
  };
  observer.on_search_end = [&progress] {
    if (progress) progress->Finish();
    progress.reset();
  };
  observer.on_begin = [&job, style, &progress] {
    if (Prints(style)) PrintJob(job);
    progress.emplace(style, job.problem);
  };
  if (Prints(style)) {
    observer.report = [](const std::string& text) {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    };
  }
  return observer;
}

}  // namespace

std::filesystem::path OutputOf(const ReconstructionArguments& o) {
  if (!o.output.empty()) return o.output;
  std::filesystem::path output = std::filesystem::path("results") / std::filesystem::path(o.job.clip.clip).stem();
  return output += o.output_suffix;
}

void AddReconstructionOptions(CLI::App& app, ReconstructionArguments& o) {
  AddClipOptions(app, o.job.clip);
  AddJobOptions(app, o.job);
  AddNumber(app, "--seed", o.job.seed, io::Optional<io::Natural, uint64_t>{}, "Seed of all random numbers [1]");
  AddNumber(app, "--threads", o.threads, kThreads, "Threads [all cores]; under mpirun each rank has one");
  app.add_option("--output", o.output, "Folder for the results [results/CLIP" + o.output_suffix + "]")
      ->type_name("DIR");
  app.add_flag("--force", o.run.force, "Write into a folder that holds results already");
  app.add_flag("--resume", o.run.resume,
               "Go on from the checkpoint in the output folder, if there is one; the results are the same bytes");
  app.add_option("--time-limit", o.time_limit,
                 "Stop with a checkpoint (exit code 75) before so much time has passed: seconds or [D-][HH:]MM:SS")
      ->type_name("TIME");
  AddNumber(app, "--hang-limit", o.hang_limit, kHangLimits,
            "Under mpirun: stop with a checkpoint when a rank with work does not answer for so many seconds; 0: never");
  app.add_flag("--dry-run", o.dry_run, "Print what was recognised and would be done, and stop");
  app.add_option("--progress", o.progress, "auto, bar, plain, json or none")->capture_default_str();
  app.add_flag("--print-config", o.print_config, "Print the whole configuration with comments, and stop");
  app.add_flag("--report", o.run.report, "Also write report.html, which shows the run in any web browser");
}

int Reconstruct(const ReconstructionArguments& o, const std::string& command, parallel::MpiSession& mpi) {
  const results::RunTimer timer;
  const bool master = mpi.rank() == 0;
  if (o.print_config) {
    if (master) std::fputs(ParseJob(o.job).configuration.ToCommentedJson().c_str(), stdout);
    return 0;
  }
  RequireClip(o.job.clip);
  const ProgressStyle style = ChooseProgress(o.progress, mpi.active());
  io::StopRequest stop(o.time_limit.empty() ? 0 : io::ParseDuration(o.time_limit));
  io::HandleStopSignals();
  runs::RunOptions run = o.run;
  run.output = OutputOf(o);
  std::optional<runs::Job> prepared;
  parallel::PrepareRanks(mpi, o.hang_limit, [&] {
    prepared.emplace(ParseJob(o.job));
    if (!o.dry_run) runs::CheckOptions(run);
    runs::MeasuredOf(*prepared);             // a measurement that does not fit is better known now, too
    if (run.report) runs::FindReportPage();  // better now than after the search
    return prepared->identity;
  });
  runs::Job& job = *prepared;
  if (master) Warn(o.program, simulation::SolverWarning(job.configuration.task.world));
  if (o.dry_run) {
    if (master) PrintJob(job);
    return 0;
  }
  const bool searches_once = run.forces.controls == 0 && run.variations.count == 0;
  if (master && searches_once) Warn(o.program, runs::IdleRanksWarning(mpi.size(), job.configuration));
  const parallel::WorkerFactory factory = runs::MakeWorkersOf(job, run);
  if (!master) {
    mpi.Serve(factory);
    return 0;
  }
  // The farm first: whatever goes wrong from here on, its destructor releases the other ranks.
  const auto farm = parallel::MakeFarm(mpi, o.threads, factory, o.hang_limit);
  std::optional<Progress> progress;
  runs::RunSetting setting;
  setting.context = {command, runs::DescribeWorkers(mpi.active(), *farm), &timer};
  setting.stop = &stop;
  setting.observer = Observe(job, style, progress);
  const runs::RunOutcome outcome = runs::Run(job, *farm, run, setting);
  PrintOutcome(o.program, job, run, outcome, timer.WallSeconds(), Prints(style));
  return static_cast<int>(outcome.success ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace retrace::apps
