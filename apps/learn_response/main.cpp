/// learn-response: a normal motion and disturbed ones in, a model out that walks on and answers pushes.
#include <cstdio>
#include <string>

#include "common/number_option.h"
#include "common/program.h"
#include "retrace/results/provenance.h"
#include "retrace/jobs/learnt_response.h"
#include "retrace/jobs/response_job.h"

namespace retrace::learn_response_program {
namespace {

struct Options {
  runs::ResponseLearningOptions learning;
  std::optional<int> dimensions, iterations;
  std::string output = "results/response";
  bool paper = false, force = false;
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("examples", o.learning.examples,
                 "The normal motion, then disturbed ones: folders of runs, whose pushes are in their manifests, or "
                 "recordings; @START:END after a name takes these seconds of it")
      ->type_name("DIR|FILE")
      ->required();
  app.add_option("--skeleton", o.learning.skeleton, "Skeleton of AMC recordings [the ASF of the same name beside each]")
      ->type_name("FILE.asf");
  app.add_option("--character", o.learning.character, "Character of recordings: a JSON file, or a name")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag(
      "--paper", o.paper,
      "By the letter of the paper: pairs of poses, three latent coordinates, scaled conjugate gradients, pushes "
      "left in the examples");
  apps::AddNumber(app, "--dimensions", o.dimensions, io::OptionalInteger{1, 50},
                  "Latent coordinates [8; 3 with --paper]");
  apps::AddNumber(app, "--iterations", o.iterations, io::OptionalInteger{1, 100000},
                  "Iterations of the minimisation [150]");
  apps::AddNumber(
      app, "--back-rate", o.learning.model.back_rate, io::Real{{1e-3, 1e3}},
      "Rate of the back constraint, in 1/m^2: the larger, the more different are latent places of like poses");
  apps::AddNumber(app, "--start-deviation", o.learning.model.start_deviation, io::Real{{0, 10}},
                  "Standard deviation of what is added to the start of the minimisation");
  apps::AddNumber(app, "--seed", o.learning.model.seed, io::Natural{}, "Seed of that");
  apps::AddNumber(app, "--normal-seconds", o.learning.normal_seconds, io::Real{{0.5, 60}},
                  "So much is taken of a normal motion without @, from its first second on [s]");
  apps::AddNumber(app, "--after", o.learning.after, io::Real{{0.3, 60}},
                  "So much is taken of a pushed motion without @ after its push, at most [s]");
  app.add_flag_callback(
      "--keep-pushes", [&o] { o.learning.model.takes_pushes_off = false; },
      "Let the dynamics learn pushed motions as they are, pushes and all");
  app.add_flag_callback(
      "--no-clock", [&o] { o.learning.clock = false; },
      "Let the model have a rhythm of its own, also where all examples repeat one cycle of one recording");
  app.add_flag_callback(
      "--free-places", [&o] { o.learning.model.back_constraint = false; },
      "Latent places that are not a smooth function of what is observed");
  apps::AddNumber(app, "--order", o.learning.model.order, io::Integer{1, 2},
                  "Last latent places from which the next one follows");
  app.add_option("--output", o.output, "Folder of the model")->type_name("DIR")->capture_default_str();
  app.add_flag("--force", o.force, "Write into a folder that has something in it already");
  app.set_version_flag("--version", "learn-response " + results::Version());
}

int Learn(Options o) {
  synthesis::ResponseOptions& model = o.learning.model;
  if (o.paper) {
    const synthesis::ResponseOptions given = model;
    model = synthesis::PaperOptions();
    o.learning.clock = false;
    model.back_rate = given.back_rate;
    model.start_deviation = given.start_deviation;
    model.seed = given.seed;
  }
  model.dimensions = o.dimensions.value_or(model.dimensions);
  model.iterations = o.iterations.value_or(model.iterations);
  const runs::LearntResponse learnt = runs::LearnResponse(o.learning);
  runs::WriteLearntResponse(o.output, o.force, learnt);
  std::printf("%s\n%s", o.output.c_str(), runs::Describe(learnt).c_str());
  for (const std::string& warning : learnt.warnings) apps::Warn("learn-response", warning);
  return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  CLI::App app("Learns how somebody walks and answers pushes from a normal motion and a few disturbed ones.",
               "learn-response");
  Options options;
  AddOptions(app, options);
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("learn-response", true, [&] { return Learn(options); });
}

}  // namespace retrace::learn_response_program
