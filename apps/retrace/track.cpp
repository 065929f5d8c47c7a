/// track: a recorded clip in, a controller that follows it in closed loop, and its commands and motion out.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/job_options.h"
#include "common/json_printout.h"
#include "common/outcome.h"
#include "common/progress.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/tracking_run.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::apps::track_command {
namespace {

struct Options {
  JobArguments job;
  std::optional<double> rate, feedback, stiffness, friction, perturbation;
  std::vector<std::string> pushes;
  std::string output;
  bool force = false;
  bool dry_run = false;
  bool print_config = false;
  bool json = false;
  std::string progress = "auto";
};

void AddOptions(cli::Command& command, Options& o) {
  AddClipOptions(command, o.job.clip);
  AddTaskOptions(command, o.job);
  AddRepairOption(command, o.job);
  cli::AddNumber(command, "--rate", o.rate, io::OptionalReal{{1, 1e5}}, "Quadratic programs per second [120]");
  cli::AddNumber(command, "--feedback", o.feedback, io::OptionalReal{{0, 1e6}},
                 "k_os, feedback on accelerations, in 1/s^2 [300]");
  cli::AddNumber(command, "--stiffness", o.stiffness, io::OptionalReal{{0, 100}},
                 "k, factor on the servos between two solutions; 0: none [0.05]");
  cli::AddNumber(command, "--friction", o.friction, io::OptionalReal{{0.01, 100}},
                 "Coefficient of friction in the controller's model; that of the world is /simulation/friction [0.7]");
  command.AddFlag(
      "--paper", o.job.paper_tracking,
      "By the letter of the paper: its servo with steps of 0.0001 s, 80 programs per second, equal weights, the "
      "simulation's contacts, no foot placement, a reference as it is");
  command
      .Add("--push", o.pushes,
           "A force on a body's center of mass: BODY,FX:FY:FZ,START,DURATION in N (world axes) and s (repeatable)")
      .Type("PUSH")
      .OneEach();
  cli::AddNumber(command, "--perturbation", o.perturbation, io::OptionalReal{{0, 10}},
                 "Standard deviation of random velocities at the start, in m/s of the root and rad/s of joints [0]");
  cli::AddNumber(command, "--seed", o.job.seed, io::Optional<io::Natural, uint64_t>{}, "Seed of the perturbation [1]");
  command.Add("--output", o.output, "Folder for the results [results/CLIP-tracked]").Type("DIR");
  command.AddFlag("--force", o.force, "Write into a folder that holds results already");
  command.AddFlag("--dry-run", o.dry_run, "Track and print how it went, and write nothing");
  command.AddFlag("--print-config", o.print_config, "Print the whole configuration with comments, and stop");
  AddJsonOption(command, o.json);
  command.Add("--progress", o.progress, "auto, bar, plain, json or none").ShowDefault();
}

runs::JobOptions ParseOptions(const Options& o) {
  runs::JobOptions job = ParseJob(o.job);
  tracking::Options& options = job.configuration.tracking;
  options.solve_rate = o.rate.value_or(options.solve_rate);
  options.feedback = o.feedback.value_or(options.feedback);
  options.stiffness = o.stiffness.value_or(options.stiffness);
  options.friction = o.friction.value_or(options.friction);
  options.perturbation = o.perturbation.value_or(options.perturbation);
  return job;
}

void PrintNotes(const runs::Job& job, const runs::Tracking& result) {
  PrintRecognized(job);
  for (const std::string& note : result.prepared.Notes()) std::printf("  %s\n", cli::Shown(note).c_str());
}

int ExitCodeOf(const runs::Job& job, const runs::Tracking& result) {
  return apps::ExitCodeOf(result.success(), runs::DoubtsOf(job, result.evaluation));
}

int Track(const Options& o, const Call& call) {
  const results::RunTimer timer;
  const runs::JobOptions options = ParseOptions(o);
  if (o.print_config) {
    std::fputs(options.configuration.ToCommentedJson().c_str(), stdout);
    return 0;
  }
  RequireClip(o.job.clip);
  const ProgressStyle style = ChooseProgress(o.progress, false);
  io::StopRequest stop(0);
  io::HandleStopSignals();
  const runs::Job job(options);
  cli::Warn(call.name, simulation::SolverWarning(job.configuration.task.world));
  std::filesystem::path output = o.output;
  if (o.output.empty()) output = std::filesystem::path("results") / (options.clip.file.stem().string() + "-tracked");
  std::optional<results::RunFolder> folder;
  if (!o.dry_run) folder.emplace(output, o.force, runs::PathsOf(job.inputs));
  const double duration = job.problem.task.duration();
  TimeProgress progress(style, duration);
  tracking::Hooks hooks;
  hooks.on_progress = [&](double time) { progress.Update(time); };
  hooks.stop = [&] { return stop(); };
  const runs::Tracking result = runs::Track(job, o.pushes, hooks);
  progress.Finish();
  if (folder) runs::WriteTracking(*folder, job, result, {call.line, {}, &timer});
  if (result.summary.status == tracking::Status::kStopped) {
    throw StoppedError(stop.reason() + ": " + result.Ending() + " of " + io::Fixed(duration, 2) + " s" +
                       (folder ? ", which are in " + output.string() : ""));
  }
  if (o.json) {
    PrintJson({{"clip", options.clip.file.string()},
               {"success", result.success()},
               {"doubts", runs::DoubtsOf(job, result.evaluation)},
               {"ending", result.Ending()},
               {"evaluation", result.evaluation.ToJson()},
               {"cpu_seconds_per_second", result.summary.cpu_seconds / result.summary.control.duration()},
               {"folder", folder ? io::Json(output.string()) : io::Json()}});
  }
  if (o.json || !Prints(style)) return ExitCodeOf(job, result);
  PrintNotes(job, result);
  std::printf("%s: %s (%.3f CPU s per second of motion)\n%s", cli::Shown(options.clip.file).c_str(),
              cli::ShownLines(result.summary.BriefReport()).c_str(),
              result.summary.cpu_seconds / result.summary.control.duration(),
              cli::ShownLines(runs::Describe(result.evaluation, duration, result.diverged)).c_str());
  if (folder) std::printf("  results in %s\n", cli::Shown(output).c_str());
  return ExitCodeOf(job, result);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Track(*options, call); };
}

}  // namespace retrace::apps::track_command
