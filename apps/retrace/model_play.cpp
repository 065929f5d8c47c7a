/// synthesize: a model of responses in, a motion of any length under pushes out. Kinematic.
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/jobs/learned_response.h"
#include "retrace/jobs/response_stream.h"
#include "retrace/results/provenance.h"

namespace retrace::apps::model_play_command {
namespace {

struct Options {
  runs::SynthesisOptions synthesis;
  std::vector<std::string> models;
  std::string output = "results/synthesis", against, undisturbed;
  bool force = false, stream = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command
      .Add("models", o.models,
           "Folder of a model, as `model learn` makes it, or its model.json; of several, learned with one normal "
           "motion, each push is answered by the one that was pushed most like it")
      .Type("DIR|FILE")
      .Required();
  const auto seconds =
      cli::AddNumber(command, "--seconds", o.synthesis.seconds, io::Real{{0.1, 1200}}, "Length of the motion [s]");
  const auto push =
      command
          .Add("--push", o.synthesis.pushes,
               "A force on a body: BODY,FX:FY:FZ,START,DURATION[,X:Y:Z] in N (world axes), s, and m in the body's "
               "frame; without a point at its center of mass (repeatable)")
          .Type("PUSH")
          .OneEach();
  const auto against =
      command
          .Add("--against", o.against,
               "Folder of a pushed run, or a recording with its push as `model learn` takes it: begin with it shortly "
               "before its push, go on under its pushes for --seconds after that, and measure the distance from it")
          .Type("DIR|FILE");
  const auto set_skeleton = [&o](const std::vector<std::string>& file) { o.synthesis.skeleton = file.back(); };
  command
      .AddReader("--skeleton", set_skeleton,
                 "Skeleton of an AMC recording --against [the ASF of the same name beside it]")
      .Type("FILE.asf");
  command.Add("--character", o.synthesis.character, "Character of a recording --against: a JSON file, or a name")
      .Type("NAME")
      .ShowDefault();
  command.Add("--undisturbed", o.undisturbed, "Folder of the same run without a push, to be compared with, too")
      .Type("DIR");
  command.AddFlag("--paper", o.synthesis.paper,
                  "By the letter of the paper: latent position and pose are found together, given the last two frames");
  command.AddFlag(
      "--free-feet", [&o] { o.synthesis.synthesis.holds_feet = false; },
      "Do not hold the heels and toes that stand, as far as no push acts");
  const auto output = command.Add("--output", o.output, "Folder for the results").Type("DIR").ShowDefault();
  const auto force = command.AddFlag("--force", o.force, "Write into a folder that has something in it already");
  command
      .AddFlag("--stream", o.stream,
               "Write no files: an empty line on standard input asks for the next pose, a number for so many, and "
               "BODY,FX:FY:FZ,DURATION[,X:Y:Z] pushes from the next pose on; poses are lines on standard output")
      .Excludes(seconds)
      .Excludes(push)
      .Excludes(against)
      .Excludes(output)
      .Excludes(force);
}

/// Answers each line of standard input, until there are no more.
int Stream(const std::vector<const response_model::ResponseModel*>& models, const Options& o, const Call& call) {
  runs::ResponseStream stream(models, o.synthesis.synthesis);
  std::cout << stream.Header() << std::flush;
  for (std::string line; std::cout && std::getline(std::cin, line);) std::cout << stream.Answer(line) << std::flush;
  if (!stream.doubtful()) return static_cast<int>(ExitCode::kSuccess);
  cli::Warn(call.name, "doubtful: no example is like some of the motion: the standard deviation was up to " +
                           io::Fixed(stream.deviation(), 2) + " of that of all that was learned");
  return static_cast<int>(ExitCode::kDoubtful);
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
  if (o.stream) return Stream(models, o, call);
  const runs::Synthesis result = runs::Synthesize(models, o.synthesis);
  runs::WriteSynthesis(o.output, o.force, *models[0], o.synthesis, result, call.line);
  std::printf("%s\n%s", cli::Shown(o.output).c_str(), cli::ShownLines(runs::Describe(*models[0], result)).c_str());
  for (const std::string& doubt : result.doubts) cli::Warn(call.name, "doubtful: " + doubt);
  return static_cast<int>(result.doubts.empty() ? ExitCode::kSuccess : ExitCode::kDoubtful);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Synthesize(*options, call); };
}

}  // namespace retrace::apps::model_play_command
