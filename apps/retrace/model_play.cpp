/// synthesize: a model of responses in, a motion of any length under pushes out. Kinematic.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "retrace/io/error.h"
#include "retrace/jobs/learned_response.h"
#include "retrace/results/provenance.h"

namespace retrace::apps::model_play_command {
namespace {

struct Options {
  runs::SynthesisOptions synthesis;
  std::vector<std::string> models;
  std::string output = "results/synthesis", against, undisturbed;
  bool force = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command
      .Add("models", o.models,
           "Folder of a model, as `model learn` makes it, or its model.json; of several, learned with one normal "
           "motion, each push is answered by the one that was pushed most like it")
      .Type("DIR|FILE")
      .Required();
  cli::AddNumber(command, "--seconds", o.synthesis.seconds, io::Real{{0.1, 1200}}, "Length of the motion [s]");
  command
      .Add("--push", o.synthesis.pushes,
           "A force on a body's center of mass: BODY,FX:FY:FZ,START,DURATION in N (world axes) and s (repeatable)")
      .Type("PUSH")
      .OneEach();
  command
      .Add("--against", o.against,
           "Folder of a pushed run: begin with it shortly before its push, go on under its pushes for --seconds "
           "after that, and measure the distance from it")
      .Type("DIR");
  command.Add("--undisturbed", o.undisturbed, "Folder of the same run without a push, to be compared with, too")
      .Type("DIR");
  command.AddFlag("--paper", o.synthesis.paper,
                  "By the letter of the paper: latent position and pose are found together, given the last two frames");
  command.Add("--output", o.output, "Folder for the results").Type("DIR").ShowDefault();
  command.AddFlag("--force", o.force, "Write into a folder that has something in it already");
}

int Synthesize(Options o, const Call& call) {
  if (o.synthesis.paper) o.synthesis.synthesis = response_model::PaperSynthesis();
  o.synthesis.against = o.against;
  o.synthesis.undisturbed = o.undisturbed;
  if (!o.undisturbed.empty() && o.against.empty()) {
    throw UsageError("--undisturbed: found no --against, expected the run that was pushed");
  }
  std::vector<response_model::StoredModel> stored;
  std::vector<const response_model::ResponseModel*> models;
  for (const std::string& model : o.models) stored.push_back(runs::LoadResponseModel(model));
  for (const response_model::StoredModel& model : stored) models.push_back(&model.model);
  const runs::Synthesis result = runs::Synthesize(models, o.synthesis);
  runs::WriteSynthesis(o.output, o.force, *models[0], o.synthesis, result, call.line);
  std::printf("%s\n%s", cli::Shown(o.output).c_str(), cli::ShownLines(runs::Describe(*models[0], result)).c_str());
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Synthesize(*options, call); };
}

}  // namespace retrace::apps::model_play_command
