/// idle: key poses and furniture in, a control that idles between them for any length out.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/job_options.h"
#include "common/json_printout.h"
#include "common/progress.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/idling.h"
#include "retrace/jobs/standing.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::apps::idle_command {
namespace {

struct Options {
  runs::IdlingOptions job;
  std::optional<double> seconds, gain, noise, noise_frequency, reach;
  idling::Noise noise_kind = idling::Noise::kIndependent;
  std::optional<int> paths, samples, threads;
  std::optional<uint64_t> seed;
  std::string output;
  bool force = false;
  bool dry_run = false;
  std::string progress = "auto";
  bool json = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("keys", o.job.keys, "Key poses: a JSON file, or the name of bundled ones: sitting, standing")
      .Type("KEYS")
      .Required();
  command.Add("--character", o.job.character, "Character: a JSON file, or a name").Type("NAME").ShowDefault();
  AddWorldOption(command, o.job.worlds);
  cli::AddNumber(command, "--seconds", o.seconds, io::OptionalReal{{0.5, 4000}}, "Length of the motion [60]");
  cli::AddNumber(command, "--paths", o.paths, io::OptionalInteger{1, 100}, "Paths for each ordered pair of keys [3]");
  command
      .Add("--allow-paths,--choose", o.job.choices,
           "Paths of a pair that may be played, as FROM:TO:NUMBER[,NUMBER]... (repeatable); of other pairs all")
      .Type("CHOICE")
      .OneEach();
  cli::AddNumber(command, "--gain", o.gain, io::OptionalReal{{0.01, 10}},
                 "Factor on the stiffness of the servos; that on their damping is its square root [0.7; standing 1.5]");
  cli::AddNumber(command, "--noise", o.noise, io::OptionalReal{{0, 1}},
                 "Standard deviation of random turns of the targets about each axis, in rad [0.02]");
  cli::AddWord(
      command, "--noise-kind", o.noise_kind, idling::NoiseWords(),
      "How that noise runs in time: independent (new turns at each target) or perlin (smooth, of two octaves)");
  cli::AddNumber(command, "--noise-frequency", o.noise_frequency, io::OptionalReal{{0.01, 10}},
                 "Frequency of the lower octave of Perlin noise, in 1/s [0.5]");
  cli::AddNumber(command, "--goal-tolerance,--reach", o.reach, io::OptionalReal{{0.001, 10}},
                 "Rms distance of bodies about the root within which a path reaches its key, in m [0.1]");
  cli::AddNumber(command, "--samples", o.samples, io::OptionalInteger{1, 1000000},
                 "Of keys that stand: samples per iteration of the search [40]");
  cli::AddNumber(command, "--threads", o.threads, io::OptionalInteger{1, 4096},
                 "Of keys that stand: threads of the search [all cores]");
  cli::AddNumber(command, "--seed", o.seed, io::Optional<io::Natural, uint64_t>{}, "Seed of the random numbers [1]");
  command.Add("--output", o.output, "Folder for the results [results/KEYS]").Type("DIR");
  command.AddFlag("--force", o.force, "Write into a folder that holds results already");
  command.AddFlag("--dry-run", o.dry_run, "Idle and print how it went, and write nothing");
  AddJsonOption(command, o.json);
  command.Add("--progress", o.progress, "auto, bar, plain, json or none").ShowDefault();
}

runs::IdlingOptions ParseOptions(const Options& o) {
  runs::IdlingOptions job = o.job;
  idling::Options& options = job.options;
  options.duration = o.seconds.value_or(options.duration);
  options.paths = o.paths.value_or(options.paths);
  options.gain = o.gain.value_or(options.gain);
  options.noise = o.noise.value_or(options.noise);
  options.noise_kind = o.noise_kind;
  options.noise_frequency = o.noise_frequency.value_or(options.noise_frequency);
  options.reach = o.reach.value_or(options.reach);
  options.seed = o.seed.value_or(options.seed);
  return job;
}

std::filesystem::path OutputOf(const Options& o, const std::string& name) {
  return o.output.empty() ? std::filesystem::path("results") / name : std::filesystem::path(o.output);
}

runs::StandingOptions StandingOf(const Options& o) {
  const std::pair<const char*, bool> of_furniture[] = {{"--world", !o.job.worlds.empty()},
                                                       {"--paths", o.paths.has_value()},
                                                       {"--allow-paths", !o.job.choices.empty()},
                                                       {"--noise", o.noise.has_value()},
                                                       {"--noise-kind", o.noise_kind != idling::Noise::kIndependent},
                                                       {"--noise-frequency", o.noise_frequency.has_value()},
                                                       {"--goal-tolerance,--reach", o.reach.has_value()}};
  for (const auto& [option, given] : of_furniture) {
    if (given) throw UsageError(std::string("found ") + option + " for keys that stand, expected keys on furniture");
  }
  runs::StandingOptions job;
  job.keys = o.job.keys;
  job.character = o.job.character;
  job.duration = o.seconds.value_or(job.duration);
  job.seed = o.seed.value_or(job.seed);
  job.gain = o.gain.value_or(job.gain);
  job.samples = o.samples.value_or(job.samples);
  return job;
}

int Stand(const Options& o, const Call& call) {
  const results::RunTimer timer;
  const ProgressStyle style = ChooseProgress(o.progress, false);
  io::StopRequest stop(0);
  io::HandleStopSignals();
  const runs::StandingJob job(StandingOf(o));
  cli::Warn(call.name, simulation::SolverWarning(job.problem.task.world));
  const std::string name = job.inputs.front().name.path.stem().string();
  const std::filesystem::path output = OutputOf(o, name);
  std::optional<results::RunFolder> folder;
  if (!o.dry_run) folder.emplace(output, o.force, runs::PathsOf(job.inputs));
  TimeProgress progress(style, job.options.duration);
  sampling::Hooks hooks;
  hooks.on_iteration = [&](const sampling::IterationRecord& record) {
    if (!record.refinement) progress.Update(record.end);
  };
  hooks.stop = [&] { return stop(); };
  const runs::Standing result = runs::Stand(job, o.threads.value_or(0), hooks);
  progress.Finish();
  if (folder) runs::WriteStanding(*folder, job, result, {call.line, {}, &timer});
  if (o.json) {
    PrintJson({{"success", result.success()},
               {"duration", result.search.control.duration()},
               {"evaluation", result.evaluation.ToJson()},
               {"largest_creep", result.largest_creep},
               {"mean_joint_rate", result.mean_joint_rate},
               {"folder", folder ? io::Json(output.string()) : io::Json()}});
  } else if (Prints(style)) {
    std::printf("%s: %s after %.2f of %.2f s\n%s", cli::Shown(name).c_str(),
                result.search.reached_end() ? "reached the end" : task::Name(result.search.ending).c_str(),
                result.search.control.duration(), job.options.duration,
                cli::ShownLines(runs::Describe(job, result)).c_str());
    if (folder) std::printf("  results in %s\n", cli::Shown(output).c_str());
  }
  return static_cast<int>(result.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

int Idle(const Options& o, const Call& call) {
  if (runs::AreStanding(o.job.keys)) return Stand(o, call);
  if (o.samples || o.threads) {
    throw UsageError(
        std::string("found ") + (o.samples ? "--samples" : "--threads") +
        " for keys on furniture, expected keys that stand: nothing is searched by sampling, on one thread");
  }
  const results::RunTimer timer;
  const ProgressStyle style = ChooseProgress(o.progress, false);
  io::StopRequest stop(0);
  io::HandleStopSignals();
  const runs::IdlingJob job(ParseOptions(o));
  cli::Warn(call.name, simulation::SolverWarning(job.problem.world));
  const std::string name = job.inputs.front().name.path.stem().string();
  const std::filesystem::path output = OutputOf(o, name);
  std::optional<results::RunFolder> folder;
  if (!o.dry_run) folder.emplace(output, o.force, runs::PathsOf(job.inputs));
  const double duration = job.problem.options.duration;
  TimeProgress progress(style, duration);
  idling::Hooks hooks;
  hooks.on_progress = [&](double time) { progress.Update(time); };
  hooks.stop = [&] { return stop(); };
  const runs::Idling result = runs::Idle(job, hooks);
  progress.Finish();
  const bool stopped = result.summary.status == idling::Status::kStopped;
  if (folder && result.num_steps > 0) runs::WriteIdling(*folder, job, result, {call.line, {}, &timer});
  const std::string ending = idling::Name(result.summary.status) + " after " +
                             io::Fixed(result.summary.control.duration(), 2) + " of " + io::Fixed(duration, 2) + " s";
  if (stopped) {
    throw StoppedError(stop.reason() + ": " + ending +
                       (folder && result.num_steps > 0 ? ", which are in " + output.string() : ""));
  }
  if (o.json) {
    const bool written = folder && result.num_steps > 0;
    PrintJson({{"success", result.success()},
               {"status", idling::Name(result.summary.status)},
               {"duration", result.summary.control.duration()},
               {"invalid_steps", result.invalid_steps},
               {"largest_root_offset", result.largest_root_offset},
               {"mean_joint_rate", result.mean_joint_rate},
               {"largest_turn", result.largest_turn},
               {"folder", written ? io::Json(output.string()) : io::Json()}});
  } else if (Prints(style)) {
    std::printf("%s: %s\n%s", cli::Shown(name).c_str(), cli::Shown(ending).c_str(),
                cli::ShownLines(runs::Describe(job, result)).c_str());
    if (result.num_steps == 0) {
      std::printf("  the first key, %s, cannot be held in this world%s\n", cli::Shown(job.keys.poses[0].name).c_str(),
                  folder ? ": nothing is written" : "");
    } else if (folder) {
      std::printf("  results in %s\n", cli::Shown(output).c_str());
    }
  }
  return static_cast<int>(result.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Idle(*options, call); };
}

}  // namespace retrace::apps::idle_command
