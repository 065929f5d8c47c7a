/// synthesise: a model of responses in, a motion of any length under pushes out. Kinematic.
#include <cstdio>
#include <string>

#include "common/number_option.h"
#include "common/program.h"
#include "retrace/io/error.h"
#include "retrace/results/provenance.h"
#include "retrace/jobs/learnt_response.h"

namespace retrace::synthesise_program {
namespace {

struct Options {
  runs::SynthesisOptions synthesis;
  std::vector<std::string> models;
  std::string output = "results/synthesis", against, undisturbed;
  bool force = false;
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("models", o.models,
                 "Folder of a model, as learn-response makes it, or its model.json; of several, learnt with one normal "
                 "motion, each push is answered by the one that was pushed most like it")
      ->type_name("DIR|FILE")
      ->required();
  apps::AddNumber(app, "--seconds", o.synthesis.seconds, io::Real{{0.1, 1200}}, "Length of the motion [s]");
  app.add_option(
         "--push", o.synthesis.pushes,
         "A force on a body's centre of mass: BODY,FX:FY:FZ,START,DURATION in N (world axes) and s (repeatable)")
      ->type_name("PUSH")
      ->allow_extra_args(false);
  app.add_option("--against", o.against,
                 "Folder of a pushed run: begin with it shortly before its push, go on under its pushes for --seconds "
                 "after that, and measure the distance from it")
      ->type_name("DIR");
  app.add_option("--undisturbed", o.undisturbed, "Folder of the same run without a push, to be compared with, too")
      ->type_name("DIR");
  app.add_flag("--paper", o.synthesis.paper,
               "By the letter of the paper: latent place and pose are found together, given the last two frames");
  app.add_option("--output", o.output, "Folder for the results")->type_name("DIR")->capture_default_str();
  app.add_flag("--force", o.force, "Write into a folder that has something in it already");
  app.set_version_flag("--version", "synthesise " + results::Version());
}

int Synthesise(Options o, const std::string& command) {
  if (o.synthesis.paper) o.synthesis.synthesis = synthesis::PaperSynthesis();
  o.synthesis.against = o.against;
  o.synthesis.undisturbed = o.undisturbed;
  if (!o.undisturbed.empty() && o.against.empty()) {
    throw UsageError("--undisturbed: found no --against, expected the run that was pushed");
  }
  std::vector<synthesis::StoredModel> stored;
  std::vector<const synthesis::ResponseModel*> models;
  for (const std::string& model : o.models) stored.push_back(runs::LoadResponseModel(model));
  for (const synthesis::StoredModel& model : stored) models.push_back(&model.model);
  const runs::Synthesis result = runs::Synthesise(models, o.synthesis);
  runs::WriteSynthesis(o.output, o.force, *models[0], o.synthesis, result, command);
  std::printf("%s\n%s", o.output.c_str(), runs::Describe(*models[0], result).c_str());
  return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  const std::string command = apps::CommandLine(argc, argv);
  CLI::App app("Plays a model of responses: a motion of any length that answers pushes. Kinematic.", "synthesise");
  Options options;
  AddOptions(app, options);
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("synthesise", true, [&] { return Synthesise(options, command); });
}

}  // namespace retrace::synthesise_program
