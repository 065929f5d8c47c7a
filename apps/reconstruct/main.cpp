/// reconstruct: a recorded clip in, its open-loop control and its simulated motion out.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "common/job_options.h"
#include "common/number_option.h"
#include "common/program.h"
#include "common/progress.h"
#include "reconstruct/print.h"
#include "retrace/io/error.h"
#include "retrace/runs/data_files.h"
#include "retrace/runs/ranks.h"
#include "retrace/runs/run.h"
#include "retrace/runs/solver.h"

namespace {

using namespace retrace;

struct Options {
  apps::JobArguments job;
  runs::RunOptions run;
  int threads = 0;
  std::string output;
  std::string time_limit;
  double hang_limit = 300;
  bool dry_run = false;
  std::string progress = "auto";
  bool print_config = false;
};

void AddOptions(CLI::App& app, Options& o) {
  apps::AddClipOptions(app, o.job.clip);
  apps::AddJobOptions(app, o.job);
  apps::AddNumber(app, "--seed", o.job.seed, io::Optional<io::Natural, uint64_t>{}, "Seed of all random numbers [1]");
  apps::AddNumber(app, "--threads", o.threads, apps::kThreads, "Threads [all cores]; under mpirun each rank has one");
  app.add_option("--output", o.output, "Folder for the results [results/CLIP]")->type_name("DIR");
  app.add_flag("--force", o.run.force, "Write into a folder that holds results already");
  app.add_flag("--resume", o.run.resume,
               "Go on from the checkpoint in the output folder, if there is one; the results are the same bytes");
  app.add_option("--time-limit", o.time_limit,
                 "Stop with a checkpoint (exit code 75) before so much time has passed: seconds or [D-][HH:]MM:SS")
      ->type_name("TIME");
  apps::AddNumber(
      app, "--hang-limit", o.hang_limit, apps::kHangLimits,
      "Under mpirun: stop with a checkpoint when a rank with work does not answer for so many seconds; 0: never");
  app.add_flag("--dry-run", o.dry_run, "Print what was recognised and would be done, and stop");
  app.add_option("--progress", o.progress, "auto, bar, plain, json or none")->capture_default_str();
  app.add_flag("--print-config", o.print_config, "Print the whole configuration with comments, and stop");
  app.add_flag("--report", o.run.report, "Also write report.html, which shows the run in any web browser");
  CLI::Option* variations =
      apps::AddNumber(app, "--variations", o.run.variations.count, io::Integer{1, 10000},
                      "Find so many controls that differ, with the seed and those after it: into DIR/1, DIR/2 and so "
                      "on, and how far apart they are into DIR/variations.json");
  apps::AddNumber(app, "--max-tries", o.run.variations.max_tries, io::Integer{1, 1000000},
                  "With --variations: seeds to try [three per variation]")
      ->needs(variations);
  app.set_version_flag("--version", "reconstruct " + results::Version());
}

/// Progress on standard error and, where results are printed, what the clip became.
runs::RunObserver Observe(const runs::Job& job, apps::ProgressStyle style, std::optional<apps::Progress>& progress) {
  runs::RunObserver observer;
  observer.on_iteration = [&job, style, &progress](const sampling::IterationRecord& record) {
    if (!progress) progress.emplace(style, job.problem);
    progress->Update(record);
  };
  observer.on_search_end = [&progress] {
    if (progress) progress->Finish();
    progress.reset();
  };
  observer.on_begin = [&job, style, &progress] {
    if (apps::Prints(style)) apps::PrintJob(job);
    progress.emplace(style, job.problem);
  };
  if (apps::Prints(style)) {
    observer.report = [](const std::string& text) {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    };
  }
  return observer;
}

int Reconstruct(const Options& o, const std::string& command, parallel::MpiSession& mpi) {
  const results::RunTimer timer;
  const bool master = mpi.rank() == 0;
  if (o.print_config) {
    if (master) std::fputs(apps::ParseJob(o.job).configuration.ToCommentedJson().c_str(), stdout);
    return 0;
  }
  apps::RequireClip(o.job.clip);
  const apps::ProgressStyle style = apps::ChooseProgress(o.progress, mpi.active());
  runs::StopRequest stop(o.time_limit.empty() ? 0 : runs::ParseDuration(o.time_limit));
  runs::HandleStopSignals();
  runs::RunOptions run = o.run;
  run.output = o.output;
  if (o.output.empty()) run.output = std::filesystem::path("results") / std::filesystem::path(o.job.clip.clip).stem();
  std::optional<runs::Job> prepared;
  runs::PrepareRanks(mpi, o.hang_limit, [&] {
    prepared.emplace(apps::ParseJob(o.job));
    if (!o.dry_run) runs::CheckOptions(run);
    if (run.report) runs::FindReportPage();  // better now than after the search
    return prepared->identity;
  });
  runs::Job& job = *prepared;
  if (master) apps::Warn("reconstruct", runs::SolverWarning(job.configuration.task.world));
  if (o.dry_run) {
    if (master) apps::PrintJob(job);
    return 0;
  }
  const parallel::WorkerFactory factory = runs::MakeWorkersOf(job, run);
  if (!master) {
    mpi.Serve(factory);
    return 0;
  }
  // The farm first: whatever goes wrong from here on, its destructor releases the other ranks.
  const auto farm = runs::MakeFarm(mpi, o.threads, factory, o.hang_limit);
  std::optional<apps::Progress> progress;
  runs::RunSetting setting;
  setting.context = {command, runs::DescribeWorkers(mpi.active(), *farm), &timer};
  setting.stop = &stop;
  setting.observer = Observe(job, style, progress);
  const runs::RunOutcome outcome = runs::Run(job, *farm, run, setting);
  apps::PrintOutcome(job, run, outcome, timer.WallSeconds(), apps::Prints(style));
  return static_cast<int>(outcome.success ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  return apps::RunMpiProgram(
      "reconstruct", "Reconstructs the open-loop control and the contact forces behind a recorded motion.", argc, argv,
      [&](CLI::App& app) { AddOptions(app, options); },
      [&](const std::string& command, parallel::MpiSession& mpi) { return Reconstruct(options, command, mpi); });
}
