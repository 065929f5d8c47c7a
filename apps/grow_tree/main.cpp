/// grow-tree: the folder of a stabilised run in, a tree of recoveries around its feedback out, beside it.
#include <cstdio>

#include "common/number_option.h"
#include "common/program.h"
#include "common/set_option.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/recovery_tree.h"

namespace retrace::grow_tree_program {
namespace {

struct Options {
  std::string folder;
  std::string body = "trunk";
  std::vector<std::string> sets;
  int branches = 100;
  int states = 1000;
  int threads = 0;
  double hang_limit = 300;
  bool force = false;
  bool resume = false;
  bool print_config = false;
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("folder", o.folder, "Folder of a run with feedback, which stabilise adds")->type_name("DIR");
  apps::AddNumber(app, "--branches", o.branches, io::Integer{1, 100000}, "Branches to grow [100]");
  apps::AddNumber(app, "--states", o.states, io::Integer{1, 1000000},
                  "Perturbed states that are tried, at most [1000]");
  app.add_option("--body", o.body, "Body that is pushed [trunk]")->type_name("BODY");
  apps::AddSetOption(app, o.sets, "One setting",
                     [](const std::string& assignment) { runs::TreeSettings().Set(assignment); });
  apps::AddNumber(app, "--threads", o.threads, apps::kThreads, "Threads [all cores]; under mpirun each rank has one");
  apps::AddNumber(app, "--hang-limit", o.hang_limit, apps::kHangLimits,
                  "Under mpirun: stop when a rank with work does not answer for so many seconds; 0: never");
  app.add_flag("--resume", o.resume, "Let a tree that is there grow on, with the same settings");
  app.add_flag("--force", o.force, "Replace a tree that is there already");
  app.add_flag("--print-config", o.print_config, "Print the settings with comments, and stop");
  app.set_version_flag("--version", "grow-tree " + results::Version());
}

int GrowTree(const Options& o, parallel::MpiSession& mpi) {
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
  parallel::PrepareRanks(mpi, o.hang_limit, [&] {
    prepared.emplace(o.folder, settings, o.body);
    if (master) prepared->TakeEarlier(o.resume, o.force);
    return prepared->Identity();
  });
  runs::TreeJob& job = *prepared;
  if (master) apps::Warn("grow-tree", job.run.solver_warning);
  const parallel::WorkerFactory factory = stabilization::MakeTreeWorkerFactory(job.problem);
  if (!master) {
    mpi.Serve(factory);
    return 0;
  }
  const auto farm = parallel::MakeFarm(mpi, o.threads, factory, o.hang_limit);
  stabilization::GrowthHooks hooks;
  hooks.stop = [&] { return stop(); };
  hooks.on_batch = [](const control::FeedbackTree& tree) {
    std::printf("  %s\n", runs::Describe(tree).c_str());
    std::fflush(stdout);
  };
  const stabilization::GrowthSummary summary = runs::GrowTree(job, *farm, o.branches, o.states, hooks);
  std::printf("%s: %s; pushes and searches %s CPU s, linear systems %s CPU s\n", o.folder.c_str(),
              runs::Describe(job.tree).c_str(), io::Fixed(summary.search_cpu_seconds, 1).c_str(),
              io::Fixed(summary.linearise_cpu_seconds, 1).c_str());
  if (summary.stopped) throw StoppedError(stop.reason() + ": --resume lets the tree grow on");
  std::printf("  tree in %s, for replay --feedback --tree\n", runs::TreeFile(job.run).c_str());
  return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  Options options;
  return apps::RunMpiProgram(
      "grow-tree", "Grows a tree of recoveries around the feedback of a run: replays then withstand larger pushes.",
      argc, argv, [&](CLI::App& app) { AddOptions(app, options); },
      [&](const std::string&, parallel::MpiSession& mpi) { return GrowTree(options, mpi); });
}

}  // namespace retrace::grow_tree_program
