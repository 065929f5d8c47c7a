/// stabilize: the folder of a run in, feedback along its control out, beside it.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/number_option.h"
#include "cli/program.h"
#include "cli/set_option.h"
#include "commands.h"
#include "common/json_printout.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/stabilize.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/runs/stored/stored_feedback.h"

namespace retrace::apps::feedback_add_command {
namespace {

struct Options {
  std::string folder;
  std::vector<std::string> sets;
  int threads = 0;
  double rank_timeout = 300;
  bool force = false;
  bool print_config = false;
  bool json = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("folder", o.folder, "Folder of a run").Type("DIR");
  cli::AddSetOption(command, o.sets, "One setting", [](const std::string& assignment) {
    stabilization::Options options;
    runs::Set(assignment, options);
  });
  cli::AddNumber(command, "--threads", o.threads, cli::kThreads, "Threads [all cores]; under mpirun each rank has one");
  cli::AddNumber(command, "--rank-timeout,--hang-limit", o.rank_timeout, cli::kRankTimeouts,
                 "Under mpirun: stop when a rank with work does not answer for so many seconds; 0: never");
  command.AddFlag("--force", o.force, "Write over feedback that is there already");
  const cli::Option prints =
      command.AddFlag("--print-config", o.print_config, "Print the settings with comments, and stop");
  AddJsonOption(command, o.json).Excludes(prints);
}

int Stabilize(const Options& o, const Call& call) {
  parallel::MpiSession& mpi = *call.mpi;
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
  parallel::PrepareRanks(mpi, o.rank_timeout, [&] {
    prepared.emplace(o.folder, options);
    if (master) runs::CheckFeedbackOutput(prepared->run, o.force);
    return prepared->Identity();
  });
  const runs::StabilizationJob& job = *prepared;
  if (master) cli::Warn(call.name, job.run.solver_warning);
  const parallel::WorkerFactory factory = stabilization::MakeWorkerFactory(job.problem);
  if (!master) {
    mpi.Serve(factory);
    return 0;
  }
  const auto farm = parallel::MakeFarm(mpi, o.threads, factory, o.rank_timeout);
  stabilization::Hooks hooks;
  hooks.stop = [&] { return stop(); };
  const stabilization::Summary summary = runs::Stabilize(job, *farm, hooks);
  if (summary.status == stabilization::Status::kStopped) throw StoppedError(stop.reason() + ": no feedback is written");
  const bool done = summary.status == stabilization::Status::kDone;
  if (done) runs::WriteFeedback(job, summary, o.force);
  const int code = static_cast<int>(done ? ExitCode::kSuccess : ExitCode::kBelowGate);
  if (o.json) {
    PrintJson({{"folder", o.folder},
               {"duration", job.control.duration()},
               {"success", done},
               {"summary", summary.BriefReport()},
               {"simulations", summary.simulations},
               {"largest_gain", summary.largest_gain},
               {"feedback", done ? io::Json(runs::FeedbackFile(job.run).string()) : io::Json()}});
    return code;
  }
  std::printf("%s: %s s, %s\n", cli::Shown(o.folder).c_str(), io::Fixed(job.control.duration(), 2).c_str(),
              cli::ShownLines(summary.BriefReport()).c_str());
  if (!done) return code;
  std::printf("  feedback in %s, for replay --feedback\n", cli::Shown(runs::FeedbackFile(job.run)).c_str());
  return code;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Stabilize(*options, call); };
}

}  // namespace retrace::apps::feedback_add_command
