#include "common/reconstruction.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/number_option.h"
#include "cli/program.h"
#include "common/outcome.h"
#include "common/progress.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/jobs/idle_ranks.h"
#include "retrace/jobs/tracked_baseline.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::apps {
namespace {

/// Progress on standard error and, where results are printed, what the clip became.
runs::RunObserver Observe(const runs::Job& job, ProgressStyle style, bool verbose, bool reports,
                          std::optional<Progress>& progress) {
  runs::RunObserver observer;
  observer.on_iteration = [&job, style, &progress](const sampling::IterationRecord& record) {
    if (!progress) progress.emplace(style, job.problem);
    progress->Update(record);
  };
  observer.on_window_iteration = [&job, style, &progress](const trajectory::IterationRecord& record) {
    if (!progress) progress.emplace(style, job.problem);
    progress->Update(record);
  };
  observer.on_search_end = [&progress] {
    if (progress) progress->Finish();
    progress.reset();
  };
  observer.on_begin = [&job, style, verbose, &progress] {
    if (Prints(style) && verbose) PrintJob(job);
    if (Prints(style) && !verbose) {
      std::fprintf(stderr, "%s: %s s of motion\n", cli::Shown(job.options.clip.file).c_str(),
                   io::Fixed(job.reference().duration(), 2).c_str());
    }
    progress.emplace(style, job.problem);
  };
  if (reports) {
    observer.report = [](const std::string& text) {
      std::fputs(cli::ShownLines(text).c_str(), stdout);
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

void AddReconstructionOptions(cli::Command& command, ReconstructionArguments& o) {
  AddClipOptions(command, o.job.clip);
  AddJobOptions(command, o.job);
  cli::AddNumber(command, "--seed", o.job.seed, io::Optional<io::Natural, uint64_t>{},
                 "Seed of all random numbers [1]");
  cli::AddNumber(command, "--threads", o.threads, cli::kThreads, "Threads [all cores]; under mpirun each rank has one");
  command.Add("--output", o.output, "Folder for the results [results/CLIP" + o.output_suffix + "]").Type("DIR");
  command.AddFlag("--force", o.run.force, "Write into a folder that holds results already");
  command.AddFlag("--resume", o.run.resume,
                  "Go on from the checkpoint in the output folder, if there is one; the results are the same bytes");
  command
      .Add("--time-limit", o.time_limit,
           "Stop with a checkpoint (exit code 75) before so much time has passed: seconds or [D-][HH:]MM:SS")
      .Type("TIME");
  cli::AddNumber(
      command, "--rank-timeout,--hang-limit", o.rank_timeout, cli::kRankTimeouts,
      "Under mpirun: stop with a checkpoint when a rank with work does not answer for so many seconds; 0: never");
  command.AddFlag("--dry-run", o.dry_run, "Print what was recognized and would be done, and stop");
  command.Add("--progress", o.progress, "auto, bar, plain, json or none").ShowDefault();
  const cli::Option verbose =
      command.AddFlag("--verbose", o.verbose, "Also print what was recognized and changed, and figures of the solvers");
  command.AddFlag("--json", o.json, "Print the verdict, what was found and what to do next as JSON").Excludes(verbose);
  command.AddFlag("--print-config", o.print_config, "Print the whole configuration with comments, and stop");
  command.AddFlag("--report", o.run.report, "Also write report.html, which shows the run in any web browser");
}

int Reconstruct(const ReconstructionArguments& o, const Call& call) {
  parallel::MpiSession& mpi = *call.mpi;
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
  parallel::PrepareRanks(mpi, o.rank_timeout, [&] {
    prepared.emplace(runs::Job(ParseJob(o.job)));
    if (!o.dry_run) runs::CheckOptions(run);
    runs::MeasuredOf(*prepared);             // a measurement that does not fit is better known now, too
    if (run.report) runs::FindReportPage();  // better now than after the search
    if (!o.dry_run) {
      TimeProgress parts(master ? style : ProgressStyle::kNone, prepared->reference().duration());
      const auto show = [&](double time) { parts.Update(time); };
      prepared.emplace(runs::WithBaseline(std::move(*prepared), mpi.active() ? 1 : o.threads, {.on_progress = show}));
      parts.Finish();
    }
    return prepared->identity;
  });
  runs::Job& job = *prepared;
  if (master) cli::Warn(call.name, simulation::SolverWarning(job.configuration.task.world));
  if (o.dry_run) {
    if (master) PrintJob(job);
    return 0;
  }
  const bool searches_once = run.forces.controls == 0 && run.variations.count == 0;
  if (master && searches_once) cli::Warn(call.name, runs::IdleRanksWarning(mpi.size(), job.configuration));
  const parallel::WorkerFactory factory = runs::MakeWorkersOf(job, run);
  if (!master) {
    mpi.Serve(factory);
    return 0;
  }
  // The farm first: whatever goes wrong from here on, its destructor releases the other ranks.
  const auto farm = parallel::MakeFarm(mpi, o.threads, factory, o.rank_timeout);
  std::optional<Progress> progress;
  runs::RunSetting setting;
  setting.context = {call.line, runs::DescribeWorkers(mpi.active(), *farm), &timer};
  setting.stop = &stop;
  const bool prints = Prints(style) && !o.json;
  setting.observer = Observe(job, style, o.verbose && prints, prints, progress);
  const runs::RunOutcome outcome = runs::Run(job, *farm, run, setting);
  PrintOutcome(call.name, job, run, outcome, timer.WallSeconds(), {Prints(style), o.verbose, o.json, call.line});
  return ExitCodeOf(outcome.success, outcome.doubts);
}

}  // namespace retrace::apps
