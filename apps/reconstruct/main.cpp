/// reconstruct: a recorded clip in, its open-loop control and its simulated motion out.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "common/clip_options.h"
#include "common/job_options.h"
#include "common/program.h"
#include "common/progress.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/methods/sampling/seeds.h"
#include "retrace/runs/checkpoint.h"
#include "retrace/runs/data_files.h"
#include "retrace/runs/failure_report.h"
#include "retrace/runs/identity.h"
#include "retrace/runs/reconstruction.h"
#include "retrace/runs/report_page.h"
#include "retrace/runs/run_files.h"
#include "retrace/runs/stop_request.h"
#include "retrace/runs/variations.h"

namespace {

using namespace retrace;

struct Options {
  runs::JobOptions job;
  int threads = 0;
  std::string output;
  bool force = false;
  bool resume = false;
  std::string time_limit;
  double hang_limit = 300;
  bool dry_run = false;
  std::string progress = "auto";
  bool print_config = false;
  bool report = false;
  runs::VariationOptions variations;
};

void AddOptions(CLI::App& app, Options& o) {
  apps::AddClipOptions(app, o.job.clip);
  apps::AddJobOptions(app, o.job);
  app.add_option("--seed", o.job.seed, "Seed of all random numbers [1]")->check(CLI::NonNegativeNumber);
  app.add_option("--threads", o.threads, "Threads [all cores]; under mpirun each rank has one")
      ->check(CLI::Range(1, 4096));
  app.add_option("--output", o.output, "Folder for the results [results/CLIP]")->type_name("DIR");
  app.add_flag("--force", o.force, "Write into a folder that holds results already");
  app.add_flag("--resume", o.resume,
               "Go on from the checkpoint in the output folder, if there is one; the results are the same bytes");
  app.add_option("--time-limit", o.time_limit,
                 "Stop with a checkpoint (exit code 75) before so much time has passed: seconds or [D-][HH:]MM:SS")
      ->type_name("TIME");
  app.add_option(
         "--hang-limit", o.hang_limit,
         "Under mpirun: stop with a checkpoint when a rank with work does not answer for so many seconds; 0: never")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--dry-run", o.dry_run, "Say what was understood and would be done, and stop");
  app.add_option("--progress", o.progress, "auto, bar, plain, json or none")->capture_default_str();
  app.add_flag("--print-config", o.print_config, "Print the whole configuration with comments, and stop");
  app.add_flag("--report", o.report, "Also write report.html, which shows the run in any web browser");
  CLI::Option* variations =
      app.add_option("--variations", o.variations.count,
                     "Find N controls that differ, with the seed and those after it: into DIR/1 ... DIR/N, and how far "
                     "apart they are into DIR/variations.json")
          ->type_name("N")
          ->check(CLI::Range(1, 10000));
  app.add_option("--max-tries", o.variations.max_tries, "With --variations: seeds to try [three per variation]")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000))
      ->needs(variations);
  app.set_version_flag("--version", "reconstruct " + results::Version());
}

/// What the clip became, for people.
void PrintUnderstanding(const Options& o, const runs::Job& job) {
  const task::Preparation& preparation = job.preparation;
  std::printf("%s: %.2f s\n", o.job.clip.clip.c_str(), job.reference.duration());
  for (const std::string& note : job.report.notes) std::printf("  %s\n", note.c_str());
  for (const metrics::ClipWarning& warning : job.checks.warnings) std::printf("  warning: %s\n", warning.text.c_str());
  for (const std::string& note : job.placed.notes) std::printf("  world: %s\n", note.c_str());
  for (const std::string& warning : job.placed.warnings) std::printf("  warning: %s\n", warning.c_str());
  const task::Task& task = preparation.task;
  std::printf(
      "  motion: %s; cost weights %s (%g, %g, %g, %g); contact scales %s; %d fragments, %zu of them ending at a "
      "segment boundary\n",
      Name(preparation.kind.kind).c_str(), preparation.cost_preset.c_str(), task.weights.pose, task.weights.root,
      task.weights.end_effector, task.weights.balance, preparation.contact_preset.c_str(),
      task.schedule.num_iterations(), task.schedule.boundaries.size());
  if (preparation.start_raised > 0) {
    std::printf("  start state raised by %.3f m out of the ground\n", preparation.start_raised);
  }
}

/// The folder of a run that goes on or begins. A checkpoint goes before everything else in it; without one, a folder
/// whose run has finished is left as it is, and nothing is returned.
std::optional<results::RunFolder> OpenFolder(const Options& o, const std::string& output) {
  const bool resumes = o.resume && runs::Checkpoint::Exists(output);
  const std::filesystem::path path(output);
  if (o.resume && !resumes) {
    for (const std::string_view name : {results::kManifestFile, std::string_view(runs::kVariationsFile)}) {
      if (std::filesystem::exists(path / name)) return std::nullopt;
    }
  }
  if (!o.force && !resumes && runs::Checkpoint::Exists(path)) {
    throw UsageError(
        output + ": found the checkpoint of a run that was stopped (--resume goes on from it, --force begins anew)");
  }
  return std::optional<results::RunFolder>(std::in_place, path, o.force || resumes);
}

/// What a finished run left to be said: its exit code.
int FinishedBefore(const std::string& output, const io::Json& identity) {
  const std::filesystem::path path(output);
  const std::filesystem::path manifest = path / results::kManifestFile;
  const bool one = std::filesystem::exists(manifest);
  const io::Json earlier = io::ReadJson(one ? manifest : path / runs::kVariationsFile);
  const io::JsonView view(earlier, output);
  if (!view.Has("identity_sha256") || view["identity_sha256"].String() != io::Sha256(identity.dump())) {
    throw UsageError(output +
                     ": found the results of another run, with another clip, character, configuration or version "
                     "(--force overwrites them)");
  }
  const bool success = view["success"].Boolean();
  std::printf("%s: finished before, %s\n", output.c_str(), success ? "successfully" : "below the gates");
  return static_cast<int>(success ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

/// How it went, in a few words.
std::string Outcome(const runs::FailureReport& report, const metrics::Evaluation& evaluation) {
  if (evaluation.success()) return "reconstructed";
  if (report.ending == sampling::Status::kReachedEnd) return "below the gates";
  const double time = report.failure.fragment >= 0 ? report.failure.start : report.reached;
  return (report.failure.fragment >= 0 ? "not reconstructed, lost at " : "not reconstructed, stopped at ") +
         io::Fixed(time, 2) + " of " + io::Fixed(report.duration, 2) + " s";
}

/// A single search, its files, and what is said of it.
int ReconstructOne(const Options& o, const runs::Job& job, parallel::TaskFarm& farm, sampling::Hooks hooks,
                   apps::ProgressStyle style, results::RunFolder& folder, const runs::RunContext& context,
                   const io::Json& more) {
  const sampling::Problem& problem = job.problem;
  apps::Progress progress(style, problem);
  hooks.on_iteration = [&](const sampling::IterationRecord& record) { progress.Update(record); };
  const runs::Reconstruction result = runs::Reconstruct(job, farm, hooks);
  progress.Finish();
  runs::WriteRun(folder, job, result, context, runs::KeptFiles::kAll, more);

  const metrics::Evaluation& evaluation = result.evaluation;
  const sampling::Summary& search = result.search;
  if (style != apps::ProgressStyle::kNone && style != apps::ProgressStyle::kJson) {
    const runs::FailureReport report = runs::ReportFailure(problem, search, evaluation, job.checks);
    std::printf("%s: %s after %.1f s (%.1f CPU s per second of motion, %.0f samples/s per core)\n%s%s",
                o.job.clip.clip.c_str(), Outcome(report, evaluation).c_str(), context.timer->WallSeconds(),
                search.cpu_seconds / job.reference.duration(),
                static_cast<double>(search.rollouts) / std::max(search.cpu_seconds, 1e-9), report.Text().c_str(),
                runs::Describe(evaluation, report.duration, result.trajectory.diverged).c_str());
    std::printf("  results in %s\n", folder.path().c_str());
  }
  return static_cast<int>(evaluation.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

/// Several searches, their files, and what is said of them.
int FindVariations(const Options& o, runs::Job& job, parallel::TaskFarm& farm, const sampling::Hooks& hooks,
                   apps::ProgressStyle style, const results::RunFolder& folder, const runs::RunContext& run,
                   const io::Json& more, bool force) {
  runs::VariationContext context;
  context.folder = &folder;
  context.force = force;
  context.command = run.command;
  context.workers = run.workers;
  context.hooks = hooks;
  context.more = more;
  std::optional<apps::Progress> progress;
  context.hooks.on_iteration = [&](const sampling::IterationRecord& record) {
    if (!progress) progress.emplace(style, job.problem);
    progress->Update(record);
  };
  context.on_search_end = [&] {
    if (progress) progress->Finish();
    progress.reset();
  };
  if (style != apps::ProgressStyle::kNone && style != apps::ProgressStyle::kJson) {
    context.say = [](const std::string& text) {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    };
  }
  const runs::VariationsSummary summary = runs::FindVariations(job, farm, o.variations, context);
  if (summary.success()) return static_cast<int>(ExitCode::kSuccess);
  std::fflush(stdout);
  std::fprintf(stderr, "reconstruct: found %zu of %d variations with %d seeds: %d not inside the gates, %d the same\n",
               summary.found, summary.requested, summary.tries, summary.failed, summary.repeated);
  return static_cast<int>(ExitCode::kBelowGate);
}

/// The page of a run, or of all variations.
void WriteReport(const std::string& output, apps::ProgressStyle style) {
  const std::filesystem::path folder = output;
  if (std::filesystem::exists(folder / runs::kVariationsFile) && !std::filesystem::exists(folder / "1")) {
    return;  // no variation was found: there is nothing to show
  }
  const std::filesystem::path file = folder / results::kReportFile;
  io::WriteFile(file, runs::MakeReportPage(runs::GatherReport({output}).document));
  if (style != apps::ProgressStyle::kNone && style != apps::ProgressStyle::kJson) {
    std::printf("  %s opens in any web browser\n", file.c_str());
  }
}

int Reconstruct(const Options& o, const std::string& command, parallel::MpiSession& mpi) {
  const results::RunTimer timer;
  const bool master = mpi.rank() == 0;
  if (o.print_config) {
    if (master) std::fputs(runs::MakeConfiguration(o.job).ToCommentedJson().c_str(), stdout);
    return 0;
  }
  if (o.job.clip.clip.empty()) throw UsageError("a clip is needed (--help lists the options)");
  const apps::ProgressStyle style = apps::ChooseProgress(o.progress, mpi.active());
  runs::StopRequest stop(o.time_limit.empty() ? 0 : runs::ParseDuration(o.time_limit, "--time-limit"));
  runs::HandleStopSignals();
  io::Json identity;
  std::optional<runs::Job> prepared;
  runs::PrepareRanks(mpi, o.hang_limit, [&] {
    prepared.emplace(o.job);
    if (o.report) runs::FindReportPage();  // better now than after the search
    return identity = runs::Identity(o.job);
  });
  runs::Job& job = *prepared;
  if (o.dry_run) {
    if (master) PrintUnderstanding(o, job);
    return 0;
  }
  const sampling::Problem& problem = job.problem;
  const bool many = o.variations.count > 0;
  if (many && o.variations.max_tries > 0 && o.variations.max_tries < o.variations.count) {
    throw UsageError("found --max-tries " + std::to_string(o.variations.max_tries) +
                     ", expected at least as many as --variations, " + std::to_string(o.variations.count));
  }
  const auto factory = many ? sampling::MakeSeededWorkerFactory(problem) : sampling::MakeWorkerFactory(problem);
  if (!master) {
    mpi.Serve(factory);
    return 0;
  }
  // The farm first: whatever goes wrong from here on, its destructor releases the other ranks.
  const auto farm = apps::MakeFarm(mpi, o.threads, factory, o.hang_limit);
  const std::string output =
      o.output.empty() ? "results/" + std::filesystem::path(o.job.clip.clip).stem().string() : o.output;
  const io::Json workers = {{"kind", mpi.active() ? "ranks" : "threads"}, {"count", farm->num_workers()}};
  if (many) identity["variations"] = {{"count", o.variations.count}, {"max_tries", o.variations.max_tries}};
  const io::Json more = {{"identity_sha256", io::Sha256(identity.dump())}};
  std::optional<results::RunFolder> folder = OpenFolder(o, output);
  if (!folder) {
    const int exit_code = FinishedBefore(output, identity);
    if (o.report) WriteReport(output, style);
    return exit_code;
  }
  using Earlier = runs::Checkpoint::Earlier;
  runs::Checkpoint checkpoint(output, identity, o.resume ? Earlier::kResume : Earlier::kReplace);
  sampling::Hooks hooks;
  hooks.store = &checkpoint;
  hooks.stop = [&] { return stop(); };
  if (style != apps::ProgressStyle::kNone && style != apps::ProgressStyle::kJson) {
    PrintUnderstanding(o, job);
    std::fflush(stdout);
  }
  int exit_code = 0;
  try {
    if (many) {
      exit_code = FindVariations(o, job, *farm, hooks, style, *folder, {command, workers, &timer}, more,
                                 o.force || checkpoint.Resumes());
    } else {
      exit_code = ReconstructOne(o, job, *farm, hooks, style, *folder, {command, workers, &timer}, more);
    }
  } catch (const StoppedError& error) {
    checkpoint.Flush();
    throw StoppedError(stop.ReasonFor(error) + ": stopped, --resume goes on from the checkpoint in " + output);
  }
  checkpoint.Remove();
  if (o.report) WriteReport(output, style);
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  return apps::RunMpiProgram(
      "reconstruct", "Reconstructs the open-loop control and the contact forces behind a recorded motion.", argc, argv,
      [&](CLI::App& app) { AddOptions(app, options); },
      [&](const std::string& command, parallel::MpiSession& mpi) { return Reconstruct(options, command, mpi); });
}
