#include "common/job_options.h"

#include <nlohmann/json.hpp>

#include "cli/number_option.h"
#include "cli/set_option.h"
#include "retrace/runs/configuration/configuration.h"

namespace retrace::apps {
namespace {

io::Words<simulation::Solver> SolverWords() {
  return {{{simulation::Solver::kStock, "stock"}, {simulation::Solver::kReduced, "reduced", "eliminated"}}};
}

}  // namespace

void AddWorldOption(cli::Command& command, std::vector<std::string>& worlds) {
  command.Add("--world", worlds, "Name of a world or its JSON file (repeatable: they are put together)")
      .Type("NAME|FILE")
      .OneEach();
}

void AddCharacterOption(cli::Command& command, std::string& character) {
  command
      .Add("--character", character,
           "Name of a character or its JSON file, or subject: of the size of the recorded person")
      .ShowDefault();
}

void AddStrengthOptions(cli::Command& command, StrengthArguments& o) {
  command
      .Add("--strength", o.efforts,
           "Largest torque about each axis of all joints, or of those of a name, in N m; 0: any (repeatable)")
      .Type("N|JOINT=N")
      .OneEach();
  cli::AddWord(command, "--servos", o.servos, character::ServosWords(),
               "Servos of a body that is made of another one: scaled (to its weight and size), kept (those of the "
               "other), or paper (kp 700, kd 1, at most 100 N m at every joint)");
}

void AddConfigurationOptions(cli::Command& command, JobArguments& o) {
  command.Add("--config", o.config, "Configuration file, as --print-config prints it").Type("FILE");
  cli::AddSetOption(command, o.sets, "One setting",
                    [](const std::string& assignment) { runs::Configuration().Set(assignment); });
}

void AddTaskOptions(cli::Command& command, JobArguments& o) {
  AddCharacterOption(command, o.character);
  AddStrengthOptions(command, o.strength);
  AddWorldOption(command, o.worlds);
  cli::AddWord(
      command, "--ground", o.ground, task::GroundSourceWords(),
      "What the character stands on where no world says so: recording (the floor, and steps, slopes, seats and tables "
      "that the motion shows) or plain (the floor alone) [recording]");
  AddConfigurationOptions(command, o);
  cli::AddWord(command, "--solver", o.solver, SolverWords(),
               "What finds the constraint forces: reduced (joints first, then contacts) or stock (ODE's own)");
}

void AddQualityOption(cli::Command& command, JobArguments& o) {
  cli::AddWord(command, "--quality", o.quality, runs::QualityWords(),
               "What the search spends: draft (one refinement pass), standard (up to six), or best (1400 samples "
               "throughout: about three times the time) [standard]");
}

void AddJobOptions(cli::Command& command, JobArguments& o) {
  AddTaskOptions(command, o);
  cli::AddWord(
      command, "--method", o.method, runs::MethodWords(),
      "What finds the control: sampling, tracking, hybrid, trajectory, or auto: tracking, and where the tracked motion "
      "exceeds the tolerances or drifts the nearest of hybrid, sampling and, where neither leads to the end, "
      "trajectory [" +
          runs::Name(o.defaults.run.method) + "]");
  AddQualityOption(command, o);
  cli::AddNumber(command, "--samples", o.samples, io::Optional<io::Integer, int>{sampling::kSampleNumbers},
                 "nSample, samples per iteration [200, more where the search gets lost]");
  cli::AddNumber(command, "--saved", o.saved, io::Optional<io::Integer, int>{sampling::kSavedNumbers},
                 "nSave, samples saved per iteration [50]");
  command.AddFlag("--paper", o.paper,
                  "Step, servo, targets, offsets and single pass of the paper: 0.0005 s, explicit PD");
}

void AddRepairOption(cli::Command& command, JobArguments& o) {
  command.AddFlag("--repair", o.repair,
                  "Change a motion that no body can perform by as little as it takes: its clock, its height, its legs");
}

void AddFeasibilityOptions(cli::Command& command, JobArguments& o) {
  AddRepairOption(command, o);
  command.AddFlag("--best-effort", o.best_effort,
                  "Go on to the end where the search exceeds the tolerances, and say where it left and came back");
}

void AddContinuationOption(cli::Command& command, JobArguments& o) {
  cli::AddNumber(
      command, "--check-continuation,--tail", o.continuation, io::OptionalReal{{0, 30}},
      "For how long after the end of the clip the character is to go on, in s; 0: its end is not judged [3]");
}

runs::JobOptions ParseJob(const JobArguments& o) {
  runs::JobOptions job;
  job.clip = ParseClip(o.clip);
  job.character = o.character;
  job.worlds = o.worlds;
  job.mass = o.mass;
  job.servos = o.strength.servos;
  for (const std::string& effort : o.strength.efforts) job.efforts.push_back(character::ParseJointEffort(effort));
  job.measured = o.force_plates;
  job.measured_heading = o.force_plates_heading;
  job.measured_delay = o.force_plates_delay;
  job.measured_exchanged = o.force_plates_exchanged;
  runs::Configuration& configuration = job.configuration = o.defaults;
  if (!o.config.empty()) {
    const runs::InputFile file = runs::ReadInput({runs::kConfigurationRole, o.config});
    const io::Json document = file.Parse();
    configuration.Read(io::JsonView(document, o.config));
    job.configuration_file = file.record;
  }
  if (o.quality) configuration.UseQuality(*o.quality);
  if (o.paper) configuration.UsePaperMode();
  if (o.paper_tracking) configuration.UsePaperTracking();
  if (o.solver) configuration.task.world.solver = *o.solver;
  if (o.samples) configuration.UseSamples(*o.samples);  // before the settings: a budget among them holds
  for (const std::string& assignment : o.sets) configuration.Set(assignment);
  if (o.samples) configuration.sampling.samples = *o.samples;
  if (o.saved) configuration.sampling.selection.saved = *o.saved;
  if (o.seed) configuration.SetSeed(*o.seed);
  if (o.continuation) configuration.run.tail = *o.continuation;
  if (o.best_effort) configuration.sampling.best_effort = true;
  if (o.ground) configuration.task.ground = *o.ground;
  if (o.repair) configuration.run.repair = true;
  if (o.method) configuration.run.method = *o.method;
  return job;
}

}  // namespace retrace::apps
