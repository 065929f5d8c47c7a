/// stabilise: the folder of a run in, feedback along its control out, beside it.
#include <cstdio>

#include "common/number_option.h"
#include "common/program.h"
#include "common/set_option.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/runs/stored/stored_feedback.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/stabilize.h"

namespace retrace::stabilise_program {
namespace {

struct Options {
  std::string folder;
  std::vector<std::string> sets;
  int threads = 0;
  double hang_limit = 300;
  bool force = false;
  bool print_config = false;
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("folder", o.folder, "Folder of a run")->type_name("DIR");
  apps::AddSetOption(app, o.sets, "One setting", [](const std::string& assignment) {
    stabilization::Options options;
    runs::Set(assignment, options);
  });
  apps::AddNumber(app, "--threads", o.threads, apps::kThreads, "Threads [all cores]; under mpirun each rank has one");
  apps::AddNumber(app, "--hang-limit", o.hang_limit, apps::kHangLimits,
                  "Under mpirun: stop when a rank with work does not answer for so many seconds; 0: never");
  app.add_flag("--force", o.force, "Write over feedback that is there already");
  app.add_flag("--print-config", o.print_config, "Print the settings with comments, and stop");
  app.set_version_flag("--version", "stabilise " + results::Version());
}

int Stabilise(const Options& o, parallel::MpiSession& mpi) {
  const bool master = mpi.rank() == 0;
  stabilization::Options options;
  for (const std::string& assignment : o.sets) runs::Set(assignment, options);
  if (o.print_config) {
    if (master) std::fputs(io::WriteCommented(options).c_str(), stdout);
    return 0;
  }
  if (o.folder.empty()) throw UsageError("the folder of a run is needed (--help lists the options)");
  io::StopRequest stop(0);
  io::HandleStopSignals();
  std::optional<runs::StabilizationJob> prepared;
  parallel::PrepareRanks(mpi, o.hang_limit, [&] {
    prepared.emplace(o.folder, options);
    if (master) runs::CheckFeedbackOutput(prepared->run, o.force);
    return prepared->Identity();
  });
  const runs::StabilizationJob& job = *prepared;
  if (master) apps::Warn("stabilise", job.run.solver_warning);
  const parallel::WorkerFactory factory = stabilization::MakeWorkerFactory(job.problem);
  if (!master) {
    mpi.Serve(factory);
    return 0;
  }
  const auto farm = parallel::MakeFarm(mpi, o.threads, factory, o.hang_limit);
  stabilization::Hooks hooks;
  hooks.stop = [&] { return stop(); };
  const stabilization::Summary summary = runs::Stabilise(job, *farm, hooks);
  if (summary.status == stabilization::Status::kStopped) throw StoppedError(stop.reason() + ": no feedback is written");
  std::printf("%s: %s s, %s\n", o.folder.c_str(), io::Fixed(job.control.duration(), 2).c_str(),
              summary.BriefReport().c_str());
  if (summary.status != stabilization::Status::kDone) return static_cast<int>(ExitCode::kBelowGate);
  runs::WriteFeedback(job, summary, o.force);
  std::printf("  feedback in %s, for replay --feedback\n", runs::FeedbackFile(job.run).c_str());
  return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  Options options;
  return apps::RunMpiProgram(
      "stabilise", "Adds feedback to a run: replays then withstand pushes, and worlds that it was not made for.", argc,
      argv, [&](CLI::App& app) { AddOptions(app, options); },
      [&](const std::string&, parallel::MpiSession& mpi) { return Stabilise(options, mpi); });
}

}  // namespace retrace::stabilise_program
