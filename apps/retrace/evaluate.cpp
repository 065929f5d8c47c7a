/// evaluate: many clips and seeds in, tables of success, quality and cost out.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/job_options.h"
#include "common/json_printout.h"
#include "common/progress.h"
#include "evaluate_print.h"
#include "retrace/batches/evaluation.h"
#include "retrace/io/error.h"
#include "retrace/io/stop_request.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/report/report.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::apps::evaluate_command {
namespace {

struct Options {
  std::string list;
  JobArguments job;
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
  double rank_timeout = 300;
  std::string progress = "auto";
  bool controls = false;
  double required = -1;
  std::vector<std::string> compare;
  bool json = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("list", o.list, "Tab-separated list of recordings, its columns named in the first row").Type("LIST");
  command.Add("--clips", o.clips, "Folder of the recordings [that of the list]").Type("DIR");
  cli::AddNumber(command, "--seeds", o.seeds, runs::kSeeds, "Run seeds 1 to N of each clip [from the list, else 5]");
  command.Add("--only", o.only, "Run only clips in whose name this is found").Type("REGEX");
  AddJobOptions(command, o.job);
  AddContinuationOption(command, o.job);
  command
      .Add("--share", o.share,
           "I/N: run the I-th of N shares alone, e.g. in job I of an array of N jobs; afterwards the same command "
           "without it writes the tables of all")
      .Type("I/N");
  cli::AddNumber(command, "--threads", o.threads, cli::kThreads,
                 "Runs at once [all cores]; under mpirun each rank has one");
  command.Add("--output", o.output, "Folder for the results [results/LIST]").Type("DIR");
  command.Add("--keep", o.keep, "What a run leaves besides its manifest: control or all")
      .ShowDefault()
      .OneOf({"control", "all"});
  command
      .Add("--time-limit", o.time_limit,
           "Stop with checkpoints (exit code 75) before so much time has passed: seconds or [D-][HH:]MM:SS; the "
           "same command resumes")
      .Type("TIME");
  cli::AddNumber(command, "--ranks-per-run", o.ranks_per_run, io::Integer{1, 1000000},
                 "Under mpirun: ranks that work on a run together [so many that all runs are done soonest]");
  cli::AddNumber(command, "--rank-timeout,--hang-limit", o.rank_timeout, cli::kRankTimeouts,
                 "Under mpirun: stop with checkpoints when a rank that has work gives no sign of life for so many "
                 "seconds; 0: never");
  command.AddFlag("--force", o.force, "Run again what was made with another configuration or version");
  command.Add("--progress", o.progress, "auto, plain, json or none").ShowDefault();
  command.AddFlag("--controls", o.controls, "Run seed 1 of each clip and test what the tolerances must refuse");
  cli::AddNumber(command, "--require", o.required, io::Real{{0, 1}},
                 "Share of its runs in which every clip must succeed (else exit code 4)");
  const cli::Option json = AddJsonOption(command, o.json);
  command.Add("--compare", o.compare, "Compare the runs of two output folders, paired by clip and seed")
      .Type("DIR_A DIR_B")
      .Count(2, 2)
      .Excludes(json);
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

runs::EvaluationOptions Parse(const Options& o, const Call& call) {
  runs::EvaluationOptions options;
  options.list = o.list;
  options.clips = o.clips;
  options.job = ParseJob(o.job);
  options.samples = o.job.samples;
  options.saved = o.job.saved;
  options.seeds = o.seeds;
  options.only = o.only;
  if (!o.share.empty()) TakeShare(o.share, options);
  options.output = o.output;
  if (o.output.empty()) options.output = std::filesystem::path("results") / options.list.stem();
  options.kept = o.keep == "all" ? runs::KeptFiles::kAll : runs::KeptFiles::kControl;
  options.command = call.line;
  options.force = o.force;
  if (!o.time_limit.empty()) options.time_limit = io::ParseDuration(o.time_limit);
  options.negative_controls = o.controls;
  options.threads = o.threads;
  options.ranks_per_run = o.ranks_per_run;
  options.timeout = o.rank_timeout;
  return options;
}

int Evaluate(const Options& o, const Call& call) {
  parallel::MpiSession& mpi = *call.mpi;
  if (!o.compare.empty()) {
    if (mpi.rank() == 0) PrintComparison(o.compare[0], o.compare[1], o.output.empty() ? o.compare[1] : o.output);
    return 0;
  }
  if (o.list.empty()) throw UsageError("a list of clips is needed (--help lists the options)");
  const ProgressStyle style = ChooseProgress(o.progress, mpi.active());
  runs::EvaluationOptions options;
  runs::Batch batch;
  parallel::PrepareRanks(mpi, o.rank_timeout, [&] {
    options = Parse(o, call);
    batch = runs::PlanBatch(options);
    return runs::IdentityOf(batch);
  });
  if (mpi.rank() == 0) cli::Warn(call.name, simulation::SolverWarning(options.job.configuration.task.world));
  io::HandleStopSignals();
  size_t finished = 0;
  const auto on_row = [&](const results::RunRow& row, const std::vector<results::RunRow>&, size_t left) {
    ++finished;
    PrintRow(row, finished, finished + left, style);
  };
  const std::optional<runs::EvaluationResult> result = runs::Evaluate(options, batch, mpi, on_row);
  if (!result) return 0;
  if (o.json) {
    io::Json json = report::DescribeEvaluation(options.output.string(), result->rows);
    json.erase("kind");
    json["folder"] = options.output.string();
    PrintJson(json);
  } else if (Prints(style)) {
    PrintResult(*result, o.controls);
  }
  if (const std::string failures = result->DescribeFailures(); !failures.empty()) {
    std::fprintf(stderr, "%s: %s\n", cli::Shown(call.name).c_str(), cli::Shown(failures).c_str());
  }
  return static_cast<int>(result->Judge(o.required));
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Evaluate(*options, call); };
}

}  // namespace retrace::apps::evaluate_command
