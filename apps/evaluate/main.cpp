/// evaluate: many clips and seeds in, tables of success, quality and cost out.
#include <algorithm>
#include <cstdio>

#include "common/job_options.h"
#include "common/number_option.h"
#include "common/program.h"
#include "common/progress.h"
#include "evaluate/print.h"
#include "retrace/io/error.h"
#include "retrace/batches/evaluation.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/simulation/solver_in_use.h"
#include "retrace/io/stop_request.h"

namespace retrace::evaluate_program {
namespace {

struct Options {
  std::string list;
  apps::JobArguments job;
  std::string clips;
  int seeds = 0;
  std::string only;
  std::string share;
  int threads = 0;
  std::string output;
  std::string keep = "control";
  bool force = false;
  std::string time_limit;
  int ranks_per_run = 0;
  double hang_limit = 300;
  std::string progress = "auto";
  bool controls = false;
  double required = -1;
  std::vector<std::string> compare;
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("list", o.list, "Tab-separated list of recordings, its columns named in the first row")
      ->type_name("LIST");
  app.add_option("--clips", o.clips, "Folder of the recordings [that of the list]")->type_name("DIR");
  apps::AddNumber(app, "--seeds", o.seeds, runs::kSeeds, "Run seeds 1 to N of each clip [from the list, else 5]");
  app.add_option("--only", o.only, "Run only clips in whose name this is found")->type_name("REGEX");
  apps::AddJobOptions(app, o.job);
  apps::AddTailOption(app, o.job);
  app.add_option(
         "--share", o.share,
         "I/N: run the I-th of N shares alone, e.g. in job I of an array of N jobs; afterwards the same command "
         "without it writes the tables of all")
      ->type_name("I/N");
  apps::AddNumber(app, "--threads", o.threads, apps::kThreads,
                  "Runs at once [all cores]; under mpirun each rank has one");
  app.add_option("--output", o.output, "Folder for the results [results/LIST]")->type_name("DIR");
  app.add_option("--keep", o.keep, "What a run leaves besides its manifest: control or all")
      ->capture_default_str()
      ->check(CLI::IsMember({"control", "all"}));
  app.add_option("--time-limit", o.time_limit,
                 "Stop with checkpoints (exit code 75) before so much time has passed: seconds or [D-][HH:]MM:SS; the "
                 "same command resumes")
      ->type_name("TIME");
  apps::AddNumber(app, "--ranks-per-run", o.ranks_per_run, io::Integer{1, 1000000},
                  "Under mpirun: ranks that work on a run together [so many that all runs are done soonest]");
  apps::AddNumber(app, "--hang-limit", o.hang_limit, apps::kHangLimits,
                  "Under mpirun: stop with checkpoints when a rank that has work gives no sign of life for so many "
                  "seconds; 0: never");
  app.add_flag("--force", o.force, "Run again what was made with another configuration or version");
  app.add_option("--progress", o.progress, "auto, plain, json or none")->capture_default_str();
  app.add_flag("--controls", o.controls, "Run seed 1 of each clip and test what the gates must refuse");
  apps::AddNumber(app, "--require", o.required, io::Real{{0, 1}},
                  "Share of its runs in which every clip must succeed (else exit code 4)");
  app.add_option("--compare", o.compare, "Compare the runs of two output folders, paired by clip and seed")
      ->type_name("DIR_A DIR_B")
      ->expected(2);
  app.set_version_flag("--version", "evaluate " + results::Version());
}

/// Reads I/N of --share.
void TakeShare(const std::string& text, runs::EvaluationOptions& options) {
  constexpr int kMostShares = 1000000;
  const size_t slash = std::min(text.find('/'), text.size());  // without one, N is missing
  int index = 0;
  int count = 0;
  try {
    io::ReadText(io::Integer{1, kMostShares}, text.substr(std::min(slash + 1, text.size())), "N", count);
    io::ReadText(io::Integer{1, count}, text.substr(0, slash), "I", index);
  } catch (const InputError& error) {
    throw UsageError("--share: found \"" + text + "\", expected I/N with I from 1 to N (" + error.what() + ")");
  }
  options.share = static_cast<size_t>(index);
  options.shares = static_cast<size_t>(count);
}

runs::EvaluationOptions Parse(const Options& o, const std::string& command) {
  runs::EvaluationOptions options;
  options.list = o.list;
  options.clips = o.clips;
  options.job = apps::ParseJob(o.job);
  options.samples = o.job.samples;
  options.saved = o.job.saved;
  options.seeds = o.seeds;
  options.only = o.only;
  if (!o.share.empty()) TakeShare(o.share, options);
  options.output = o.output;
  if (o.output.empty()) options.output = std::filesystem::path("results") / options.list.stem();
  options.kept = o.keep == "all" ? runs::KeptFiles::kAll : runs::KeptFiles::kControl;
  options.command = command;
  options.force = o.force;
  if (!o.time_limit.empty()) options.time_limit = io::ParseDuration(o.time_limit);
  options.negative_controls = o.controls;
  options.threads = o.threads;
  options.ranks_per_run = o.ranks_per_run;
  options.timeout = o.hang_limit;
  return options;
}

int Evaluate(const Options& o, const std::string& command, parallel::MpiSession& mpi) {
  if (!o.compare.empty()) {
    if (mpi.rank() == 0) apps::PrintComparison(o.compare[0], o.compare[1], o.output.empty() ? o.compare[1] : o.output);
    return 0;
  }
  if (o.list.empty()) throw UsageError("a list of clips is needed (--help lists the options)");
  const apps::ProgressStyle style = apps::ChooseProgress(o.progress, mpi.active());
  runs::EvaluationOptions options;
  runs::Batch batch;
  parallel::PrepareRanks(mpi, o.hang_limit, [&] {
    options = Parse(o, command);
    batch = runs::PlanBatch(options);
    return runs::IdentityOf(batch);
  });
  if (mpi.rank() == 0) apps::Warn("evaluate", simulation::SolverWarning(options.job.configuration.task.world));
  io::HandleStopSignals();
  size_t finished = 0;
  const auto on_row = [&](const results::RunRow& row, const std::vector<results::RunRow>&, size_t left) {
    ++finished;
    apps::PrintRow(row, finished, finished + left, style);
  };
  const std::optional<runs::EvaluationResult> result = runs::Evaluate(options, batch, mpi, on_row);
  if (!result) return 0;
  if (apps::Prints(style)) apps::PrintResult(*result, o.controls);
  if (const std::string failures = result->DescribeFailures(); !failures.empty()) {
    std::fprintf(stderr, "evaluate: %s\n", failures.c_str());
  }
  return static_cast<int>(result->Judge(o.required));
}

}  // namespace

int Main(int argc, char** argv) {
  Options options;
  return apps::RunMpiProgram(
      "evaluate",
      "Reconstructs a list of clips with many seeds and measures how often they succeed, how well and at what cost.",
      argc, argv, [&](CLI::App& app) { AddOptions(app, options); },
      [&](const std::string& command, parallel::MpiSession& mpi) { return Evaluate(options, command, mpi); });
}

}  // namespace retrace::evaluate_program
