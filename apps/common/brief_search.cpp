#include "common/brief_search.h"

#include "common/number_option.h"
#include "common/set_option.h"

namespace retrace::apps {

void AddBriefSearchOptions(CLI::App& app, BriefSearchArguments& o, const std::string& output) {
  AddNumber(app, "--samples", o.samples, io::OptionalInteger{1, 1000000}, "Samples per iteration [200]");
  AddNumber(app, "--saved", o.saved, io::OptionalInteger{1, 100000}, "Samples saved per iteration [40]");
  AddNumber(app, "--seed", o.seed, io::Optional<io::Natural, uint64_t>{}, "Seed of all random numbers [1]");
  AddSetOption(app, o.sets, "One setting of reconstruct",
               [](const std::string& assignment) { runs::Configuration().Set(assignment); });
  AddNumber(app, "--threads", o.threads, kThreads, "Threads [all cores]");
  app.add_option("--output", o.output, "Folder for the results [" + output + "]")->type_name("DIR");
  app.add_flag("--force", o.force, "Write into a folder that holds results already");
  app.add_option("--progress", o.progress, "auto, bar, plain, json or none")->capture_default_str();
}

void Apply(const BriefSearchArguments& o, runs::Configuration& configuration) {
  for (const std::string& assignment : o.sets) configuration.Set(assignment);
  sampling::Options& options = configuration.sampling;
  options.samples = o.samples.value_or(options.samples);
  options.selection.saved = o.saved.value_or(options.selection.saved);
  options.seed = o.seed.value_or(options.seed);
}

}  // namespace retrace::apps
