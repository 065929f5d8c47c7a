/// grow-tree: the folder of a stabilized run in, a tree of recoveries around its feedback out, beside it.
#include <cstdio>
#include <memory>

#include "cli/number_option.h"
#include "cli/program.h"
#include "cli/set_option.h"
#include "commands.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/recovery_tree.h"
#include "retrace/parallel/rank_report.h"

namespace retrace::apps::feedback_grow_command {
namespace {

struct Options {
  std::string folder;
  std::string body = "trunk";
  std::vector<std::string> sets;
  int branches = 100;
  int states = 1000;
  int threads = 0;
  double rank_timeout = 300;
  bool force = false;
  bool resume = false;
  bool print_config = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("folder", o.folder, "Folder of a run with feedback, which `feedback add` makes").Type("DIR");
  cli::AddNumber(command, "--branches", o.branches, io::Integer{1, 100000}, "Branches to grow [100]");
  cli::AddNumber(command, "--states", o.states, io::Integer{1, 1000000},
                 "Perturbed states that are tried, at most [1000]");
  command.Add("--body", o.body, "Body that is pushed [trunk]").Type("BODY");
  cli::AddSetOption(command, o.sets, "One setting",
                    [](const std::string& assignment) { runs::TreeSettings().Set(assignment); });
  cli::AddNumber(command, "--threads", o.threads, cli::kThreads, "Threads [all cores]; under mpirun each rank has one");
  cli::AddNumber(command, "--rank-timeout,--hang-limit", o.rank_timeout, cli::kRankTimeouts,
                 "Under mpirun: stop when a rank with work does not answer for so many seconds; 0: never");
  command.AddFlag("--resume", o.resume, "Let a tree that is there grow on, with the same settings");
  command.AddFlag("--force", o.force, "Replace a tree that is there already");
  command.AddFlag("--print-config", o.print_config, "Print the settings with comments, and stop");
}

int GrowTree(const Options& o, const Call& call) {
  parallel::MpiSession& mpi = *call.mpi;
  const bool master = mpi.rank() == 0;
  runs::TreeSettings settings;
  for (const std::string& assignment : o.sets) settings.Set(assignment);
  if (o.print_config) {
    if (master) std::fputs(io::WriteCommented(settings).c_str(), stdout);
    return 0;
  }
  if (o.folder.empty()) throw UsageError("the folder of a run is needed (--help lists the options)");
  if (o.resume && o.force) throw UsageError("--resume goes on with a tree; it cannot go with --force");
  io::StopRequest stop(0);
  io::HandleStopSignals();
  std::optional<runs::TreeJob> prepared;
  parallel::PrepareRanks(mpi, o.rank_timeout, [&] {
    prepared.emplace(o.folder, settings, o.body);
    if (master) prepared->TakeEarlier(o.resume, o.force);
    return prepared->Identity();
  });
  runs::TreeJob& job = *prepared;
  if (master) cli::Warn(call.name, job.run.solver_warning);
  const parallel::WorkerFactory factory = stabilization::MakeTreeWorkerFactory(job.problem);
  if (!master) {
    mpi.Serve(factory);
    return 0;
  }
  const auto farm = parallel::MakeFarm(mpi, o.threads, factory, o.rank_timeout);
  stabilization::GrowthHooks hooks;
  hooks.stop = [&] { return stop(); };
  hooks.on_batch = [](const control::FeedbackTree& tree) {
    std::printf("  %s\n", cli::Shown(runs::Describe(tree)).c_str());
    std::fflush(stdout);
  };
  const stabilization::GrowthSummary summary = runs::GrowTree(job, *farm, o.branches, o.states, hooks);
  std::printf("%s: %s; pushes and searches %s CPU s, linear systems %s CPU s\n", cli::Shown(o.folder).c_str(),
              cli::ShownLines(runs::Describe(job.tree)).c_str(), io::Fixed(summary.search_cpu_seconds, 1).c_str(),
              io::Fixed(summary.linearize_cpu_seconds, 1).c_str());
  if (summary.stopped) throw StoppedError(stop.reason() + ": --resume lets the tree grow on");
  std::printf("  tree in %s, for replay --feedback --tree\n", cli::Shown(runs::TreeFile(job.run)).c_str());
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return GrowTree(*options, call); };
}

}  // namespace retrace::apps::feedback_grow_command
