#include "common/job_options.h"

#include "common/number_option.h"
#include "common/set_option.h"
#include "retrace/runs/configuration/configuration.h"

namespace retrace::apps {
void AddWorldOption(CLI::App& app, std::vector<std::string>& worlds) {
  app.add_option("--world", worlds, "Name of a world or its JSON file (repeatable: they are put together)")
      ->type_name("NAME|FILE")
      ->allow_extra_args(false);
}

void AddTaskOptions(CLI::App& app, JobArguments& o) {
  app.add_option("--character", o.character,
                 "Name of a character or its JSON file, or subject: of the size of the recorded person")
      ->capture_default_str();
  AddWorldOption(app, o.worlds);
  app.add_option("--config", o.config, "Configuration file, as --print-config prints it")->type_name("FILE");
  AddSetOption(app, o.sets, "One setting",
               [](const std::string& assignment) { runs::Configuration().Set(assignment); });
  app.add_option("--solver", o.solver,
                 "Who finds the constraint forces: reduced (joints first, then contacts) or stock (ODE's own)")
      ->transform([](const std::string& word) { return word == "eliminated" ? "reduced" : word; })  // its old name
      ->check(CLI::IsMember({"reduced", "stock"}));
}

void AddJobOptions(CLI::App& app, JobArguments& o) {
  AddTaskOptions(app, o);
  app.add_option(
         "--method", o.method,
         "What finds the control: sampling, tracking, windows, or auto: tracking, and sampling where the tracked "
         "motion leaves the gates [" +
             runs::Name(o.defaults.run.method) + "]")
      ->check(CLI::IsMember(runs::MethodWords().List()));
  app.add_option(
         "--quality", o.quality,
         "What the search spends: draft (one smoothing pass), standard (three), or best (1400 samples throughout: "
         "about three times the time) [standard]")
      ->check(CLI::IsMember(runs::QualityWords().List()));
  AddNumber(app, "--samples", o.samples, io::Optional<io::Integer, int>{sampling::kSampleNumbers},
            "nSample, samples per iteration [200, more where the search gets lost]");
  AddNumber(app, "--saved", o.saved, io::Optional<io::Integer, int>{sampling::kSavedNumbers},
            "nSave, samples saved per iteration [50]");
  app.add_flag("--paper", o.paper, "Step, servo, targets, offsets and single pass of the paper: 0.0005 s, explicit PD");
}

void AddRepairOption(CLI::App& app, JobArguments& o) {
  app.add_flag("--repair", o.repair,
               "Change a motion that no body can perform by as little as it takes: its clock, its height, its legs");
}

void AddFeasibilityOptions(CLI::App& app, JobArguments& o) {
  AddRepairOption(app, o);
  app.add_flag("--best-effort", o.best_effort,
               "Go on to the end where the search leaves the gates, and say where it left and came back");
}

void AddTailOption(CLI::App& app, JobArguments& o) {
  AddNumber(app, "--tail", o.tail, io::OptionalReal{{0, 30}},
            "For how long after the end of the clip the character is to go on, in s; 0: its end is not judged [3]");
}

runs::JobOptions ParseJob(const JobArguments& o) {
  runs::JobOptions job;
  job.clip = ParseClip(o.clip);
  job.character = o.character;
  job.worlds = o.worlds;
  job.mass = o.mass;
  job.measured = o.measured;
  job.measured_heading = o.measured_heading;
  runs::Configuration& configuration = job.configuration = o.defaults;
  if (!o.config.empty()) {
    const runs::InputFile file = runs::ReadInput({runs::kConfigurationRole, o.config});
    const io::Json document = file.Parse();
    configuration.Read(io::JsonView(document, o.config));
    job.configuration_file = file.record;
  }
  if (!o.quality.empty()) {
    runs::Quality quality{};
    io::ReadText(runs::QualityWords(), o.quality, "--quality", quality);
    configuration.UseQuality(quality);
  }
  if (o.paper) configuration.UsePaperMode();
  if (o.paper_tracking) configuration.UsePaperTracking();
  if (!o.solver.empty()) configuration.Set("/simulation/solver=" + o.solver);
  if (o.samples) configuration.UseSamples(*o.samples);  // before the settings: a budget among them holds
  for (const std::string& assignment : o.sets) configuration.Set(assignment);
  if (o.samples) configuration.sampling.samples = *o.samples;
  if (o.saved) configuration.sampling.selection.saved = *o.saved;
  if (o.seed) configuration.SetSeed(*o.seed);
  if (o.tail) configuration.run.tail = *o.tail;
  if (o.best_effort) configuration.sampling.best_effort = true;
  if (o.repair) configuration.run.repair = true;
  if (!o.method.empty()) configuration.Set("/run/method=" + o.method);
  return job;
}

}  // namespace retrace::apps
