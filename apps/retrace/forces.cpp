/// forces: a recorded clip in, the forces of the ground and the loads of the joints behind it out, with their band.
#include "retrace/jobs/forces.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/job_options.h"
#include "common/outcome.h"
#include "common/progress.h"
#include "common/reconstruction.h"
#include "retrace/batches/force_trials.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/jobs/inverse_dynamics.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::apps::forces_command {
namespace {

struct Options {
  ReconstructionArguments reconstruction;
  bool simulate = false;
  runs::InverseDynamicsOptions estimate;
};

void AddOptions(cli::Command& command, Options& options) {
  ReconstructionArguments& o = options.reconstruction;
  AddReconstructionOptions(command, o);
  AddRepairOption(command, o.job);
  cli::AddNumber(command, "--mass", o.job.mass, io::OptionalReal{{1, 1000}},
                 "Mass of the person [kg]: the masses and the servos of the character are scaled to it [that of the "
                 "character]");
  const cli::Option force_plates =
      command
          .Add("--force-plates,--measured", o.job.force_plates,
               "Measured ground forces to compare with: a table, .mot or .sto of OpenSim, or .c3d")
          .Type("FILE");
  cli::AddNumber(command, "--force-plates-heading,--measured-heading", o.job.force_plates_heading,
                 io::OptionalAngle{{-360, 360}},
                 "Turn of the measured forces about the vertical, from z towards x, into the clip's axes [degrees] [as "
                 "the feet stand on the plates]")
      .Needs(force_plates);
  cli::AddNumber(command, "--force-plates-delay", o.job.force_plates_delay, io::OptionalReal{{-1, 1}},
                 "By how much the clock of the measured forces is late [s] [0, or what the motion shows clearly]")
      .Needs(force_plates);
  cli::AddWord(command, "--force-plates-sides", o.job.force_plates_exchanged,
               io::Words<bool>{{{false, "named"}, {true, "exchanged"}}},
               "Whose forces are named after the left foot: the left foot's (named) or the right one's (exchanged)")
      .Needs(force_plates);
  const cli::Option simulate = command.AddFlag(
      "--simulate", options.simulate,
      "Find controls that reproduce the forces in a simulation, with a band of several: minutes instead of an instant");
  command
      .AddFlag("--use-measured", options.estimate.use_measured,
               "Joint loads follow from the measured forces instead of the estimated ones")
      .Needs(force_plates)
      .Excludes(simulate);
  command
      .AddFlag("--reduce-residuals", options.estimate.reduce_residuals,
               "Change the motion by little, so that it agrees with the forces; with --use-measured also masses")
      .Excludes(simulate);
  command
      .AddFlag("--cycles", options.estimate.cycles,
               "Also write curves over strides and stances, per kilogram, with their mean and standard deviation")
      .Excludes(simulate);
  cli::AddNumber(command, "--seeds", o.run.forces.controls, io::Integer{1, 100},
                 "Seeds of controls to find, each by several variants of tracking; the one nearest to the forces that "
                 "the recording requires is the run, and those found by the same variant make the band")
      .Needs(simulate);
  cli::AddNumber(command, "--perturbation", o.run.forces.perturbation, io::Real{{0, 1}},
                 "Standard deviation of random velocities at the start of the tracked controls after the first, in "
                 "m/s of the root and rad/s of joints")
      .Needs(simulate);
}

/// Refuses options that only a simulation uses.
void CheckOptions(const ReconstructionArguments& o) {
  const std::pair<const char*, bool> given[] = {
      {"--resume", o.run.resume},
      {"--time-limit", !o.time_limit.empty()},
      {"--method", o.job.method.has_value()},
      {"--quality", o.job.quality.has_value()},
      {"--samples", o.job.samples.has_value()},
      {"--saved", o.job.saved.has_value()},
      {"--seed", o.job.seed.has_value()},
      {"--paper", o.job.paper},
  };
  for (const auto& [option, is_given] : given) {
    if (is_given) throw UsageError(std::string(option) + ": found without --simulate, expected with it");
  }
}

/// Estimates the forces of one motion into a folder.
runs::ForceEstimate EstimateInto(const std::filesystem::path& path, const runs::Job& job, const Options& options,
                                 const Call& call, const results::RunTimer& timer) {
  std::vector<std::filesystem::path> inputs;
  for (const runs::InputRecord& input : job.inputs) inputs.push_back(input.name.path);
  results::RunFolder folder(path, options.reconstruction.run.force, inputs);
  runs::ForceEstimate estimate = runs::EstimateForces(job, options.estimate);
  runs::RunContext context;
  context.command = call.line;
  context.timer = &timer;
  runs::WriteForceEstimate(folder, job, estimate, options.estimate, context);
  return estimate;
}

int Estimate(const Options& options, const Call& call) {
  const ReconstructionArguments& o = options.reconstruction;
  if (call.mpi->rank() != 0) return 0;
  CheckOptions(o);
  RequireClip(o.job.clip);
  const results::RunTimer timer;
  const runs::Job job = runs::JobOfEstimate(ParseJob(o.job));
  const bool prints = Prints(ChooseProgress(o.progress, false)) && !o.json;
  if (o.dry_run || prints) PrintRecognized(job);
  if (o.dry_run) return 0;
  const std::filesystem::path path = OutputOf(o);
  const runs::ForceEstimate estimate = EstimateInto(path, job, options, call, timer);
  if (o.json) {
    const io::Json json = {{"clip", o.job.clip.clip},        {"folder", path.string()},
                           {"seconds", timer.WallSeconds()}, {"summary", runs::Summary(estimate)},
                           {"notes", estimate.notes},        {"warnings", estimate.warnings}};
    std::printf("%s\n", io::Dump(json).c_str());
  }
  if (prints) {
    std::fputs(cli::ShownLines(runs::Describe(estimate)).c_str(), stdout);
    std::printf("%s: forces by inverse dynamics after %s s\n", cli::Shown(path.string()).c_str(),
                io::Fixed(timer.WallSeconds(), 2).c_str());
  }
  return 0;
}

/// Where the table and the folders of a folder of trials go.
std::filesystem::path OutputOfFolder(const ReconstructionArguments& o) {
  if (!o.output.empty()) return o.output;
  const std::filesystem::path folder = std::filesystem::absolute(o.job.clip.clip).lexically_normal();
  const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  return std::filesystem::path("results") / (name + o.output_suffix);
}

/// All trials of a folder, one after the other. One that is refused does not stop the others.
int EstimateFolder(const Options& options, const Call& call) {
  const ReconstructionArguments& o = options.reconstruction;
  if (call.mpi->rank() != 0) return 0;
  CheckOptions(o);
  if (!o.job.force_plates.empty()) {
    throw UsageError(
        "--force-plates: found with a folder of trials, expected one motion; forces of a trial are found by "
        "their name");
  }
  const std::vector<runs::ForceTrial> trials = runs::FindForceTrials(o.job.clip.clip);
  const std::filesystem::path output = OutputOfFolder(o);
  const bool prints = Prints(ChooseProgress(o.progress, false)) && !o.json;
  std::vector<runs::TrialResult> results;
  bool refused = false;
  for (const runs::ForceTrial& trial : trials) {
    if (o.dry_run) {
      std::printf("%s: forces of %s\n", cli::Shown(trial.name).c_str(),
                  trial.forces.empty() ? "no plates" : cli::Shown(trial.forces.filename().string()).c_str());
      continue;
    }
    Options one = options;
    one.reconstruction.job.clip.clip = trial.motion.string();
    one.reconstruction.job.force_plates = trial.forces.string();
    if (trial.forces.empty()) one.estimate.use_measured = false;
    runs::TrialResult& result = results.emplace_back();
    result.name = trial.name;
    try {
      const results::RunTimer timer;
      const runs::Job job = runs::JobOfEstimate(ParseJob(one.reconstruction.job));
      result.seconds = job.reference().duration();
      result.mass = job.character().total_mass();
      result.estimate = EstimateInto(output / trial.name, job, one, call, timer);
    } catch (const InputError& error) {
      result.error = error.what();
    } catch (const UsageError& error) {
      result.error = error.what();
    }
    refused = refused || !result.error.empty();
    if (!prints) continue;
    const std::string text = result.error.empty() ? runs::Summary(result.estimate) : "refused: " + result.error;
    std::printf("%zu/%zu %s: %s\n", results.size(), trials.size(), cli::Shown(trial.name).c_str(),
                cli::ShownLines(text).c_str());
    std::fflush(stdout);
  }
  if (o.dry_run) return 0;
  std::filesystem::create_directories(output);
  const std::filesystem::path table = output / "trials.csv";
  io::WriteFile(table, runs::FormatTrials(results));
  if (o.json) {
    io::Json list = io::Json::array();
    for (const runs::TrialResult& result : results) {
      io::Json& entry = list.emplace_back(io::Json{{"name", result.name}});
      entry[result.error.empty() ? "summary" : "refused"] =
          result.error.empty() ? runs::Summary(result.estimate) : result.error;
    }
    std::printf("%s\n", io::Dump({{"table", table.string()}, {"trials", list}}).c_str());
  }
  if (prints) std::printf("%s: %zu trials\n", cli::Shown(table.string()).c_str(), results.size());
  return refused ? 3 : 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  ReconstructionArguments& arguments = options->reconstruction;
  arguments.output_suffix = "-forces";
  arguments.job.character = runs::kForcesCharacter;
  arguments.job.defaults = runs::ForcesConfiguration();
  arguments.run.forces.controls = 3;
  AddOptions(command, *options);
  return [options](const Call& call) {
    if (options->simulate || options->reconstruction.print_config) return Reconstruct(options->reconstruction, call);
    options->estimate.report = options->reconstruction.run.report;
    const bool folder = std::filesystem::is_directory(options->reconstruction.job.clip.clip);
    return folder ? EstimateFolder(*options, call) : Estimate(*options, call);
  };
}

}  // namespace retrace::apps::forces_command
