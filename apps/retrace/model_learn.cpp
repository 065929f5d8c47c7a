/// learn-response: a normal motion and disturbed ones in, a model out that walks on and answers pushes.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "retrace/jobs/learned_response.h"
#include "retrace/jobs/response_job.h"
#include "retrace/results/provenance.h"

namespace retrace::apps::model_learn_command {
namespace {

struct Options {
  runs::ResponseLearningOptions learning;
  std::optional<int> dimensions, iterations;
  std::string output = "results/response";
  bool paper = false, force = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command
      .Add("examples", o.learning.examples,
           "The normal motion, then disturbed ones: folders of runs, whose pushes are in their manifests, or "
           "recordings; @START:END after a name takes these seconds of it, and "
           "@START:END,push=BODY:FX:FY:FZ:FROM-TO[:X:Y:Z] says what pushed a recording then: N in world axes, s, and m "
           "in the body's frame")
      .Type("DIR|FILE")
      .Required();
  const auto set_skeleton = [&o](const std::vector<std::string>& file) { o.learning.skeleton = file.back(); };
  command.AddReader("--skeleton", set_skeleton, "Skeleton of AMC recordings [the ASF of the same name beside each]")
      .Type("FILE.asf");
  command.Add("--character", o.learning.character, "Character of recordings: a JSON file, or a name")
      .Type("NAME")
      .ShowDefault();
  command.AddFlag(
      "--paper", o.paper,
      "By the letter of the paper: pairs of poses, three latent coordinates, scaled conjugate gradients, pushes "
      "left in the examples");
  cli::AddNumber(command, "--dimensions", o.dimensions, io::OptionalInteger{1, 50},
                 "Latent coordinates [8; 3 with --paper]");
  cli::AddNumber(command, "--iterations", o.iterations, io::OptionalInteger{1, 100000},
                 "Iterations of the minimization [150]");
  cli::AddNumber(
      command, "--back-rate", o.learning.model.back_rate, io::Real{{1e-3, 1e3}},
      "Rate of the back constraint, in 1/m^2: the larger, the more different are latent positions of like poses");
  cli::AddNumber(command, "--start-deviation", o.learning.model.start_deviation, io::Real{{0, 10}},
                 "Standard deviation of what is added to the start of the minimization");
  cli::AddNumber(command, "--seed", o.learning.model.seed, io::Natural{}, "Seed of that");
  cli::AddNumber(command, "--normal-seconds", o.learning.normal_seconds, io::Real{{0.5, 60}},
                 "So much is taken of a normal motion without @, from its first second on [s]");
  cli::AddNumber(command, "--after", o.learning.after, io::Real{{0.3, 60}},
                 "So much is taken of a pushed motion without @ after its push, at most [s]");
  cli::AddNumber(command, "--responses", o.learning.most_responses, io::Integer{1, 50},
                 "So many responses are taken of a long recording without @, the strongest ones");
  command.AddFlag(
      "--no-push-removal,--keep-pushes", [&o] { o.learning.model.takes_pushes_off = false; },
      "Let the dynamics learn pushed motions as they are, pushes and all; --paper always does");
  command.AddFlag(
      "--no-push-search", [&o] { o.learning.find_pushes = false; },
      "Do not look for pushes in recordings for which none is named");
  command.AddFlag(
      "--no-clock", [&o] { o.learning.clock = false; },
      "Let the model have a rhythm of its own, and leave recordings as they are; --paper always does");
  command.AddFlag(
      "--no-back-constraint,--free-places", [&o] { o.learning.model.back_constraint = false; },
      "Latent positions that are not a smooth function of what is observed");
  cli::AddNumber(command, "--order", o.learning.model.order, io::Integer{1, 2},
                 "Last latent positions from which the next one follows");
  command.Add("--output", o.output, "Folder of the model").Type("DIR").ShowDefault();
  command.AddFlag("--force", o.force, "Write into a folder that has something in it already");
}

int Learn(Options o, const Call& call) {
  response_model::ResponseOptions& model = o.learning.model;
  if (o.paper) {
    const response_model::ResponseOptions given = model;
    model = response_model::PaperOptions();
    o.learning.clock = false;
    model.back_rate = given.back_rate;
    model.start_deviation = given.start_deviation;
    model.seed = given.seed;
    model.order = given.order;
    model.back_constraint = given.back_constraint;
  }
  model.dimensions = o.dimensions.value_or(model.dimensions);
  model.iterations = o.iterations.value_or(model.iterations);
  const runs::LearnedResponse learned = runs::LearnResponse(o.learning);
  runs::WriteLearnedResponse(o.output, o.force, learned);
  std::printf("%s\n%s", cli::Shown(o.output).c_str(), cli::ShownLines(runs::Describe(learned)).c_str());
  for (const std::string& warning : learned.warnings) cli::Warn(call.name, warning);
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Learn(*options, call); };
}

}  // namespace retrace::apps::model_learn_command
