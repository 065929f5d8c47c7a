#include "common/brief_search.h"

#include "cli/number_option.h"
#include "cli/set_option.h"
#include "common/json_printout.h"
#include "common/progress.h"

namespace retrace::apps {

void AddBriefSearchOptions(cli::Command& command, BriefSearchArguments& o, const std::string& output) {
  cli::AddNumber(command, "--samples", o.samples, io::OptionalInteger{1, 1000000}, "Samples per iteration [200]");
  cli::AddNumber(command, "--saved", o.saved, io::OptionalInteger{1, 100000}, "Samples saved per iteration [40]");
  cli::AddNumber(command, "--seed", o.seed, io::Optional<io::Natural, uint64_t>{}, "Seed of all random numbers [1]");
  cli::AddSetOption(command, o.sets, "One setting of reconstruct",
                    [](const std::string& assignment) { runs::Configuration().Set(assignment); });
  cli::AddNumber(command, "--threads", o.threads, cli::kThreads, "Threads [all cores]");
  command.Add("--output", o.output, "Folder for the results [" + output + "]").Type("DIR");
  command.AddFlag("--force", o.force, "Write into a folder that holds results already");
  AddJsonOption(command, o.json);
  command.Add("--progress", o.progress, "auto, bar, plain, json or none").ShowDefault();
}

bool BriefSearchArguments::prints() const {
  return !json && Prints(ChooseProgress(progress, false));
}

void Apply(const BriefSearchArguments& o, runs::Configuration& configuration) {
  for (const std::string& assignment : o.sets) configuration.Set(assignment);
  sampling::Options& options = configuration.sampling;
  options.samples = o.samples.value_or(options.samples);
  options.selection.saved = o.saved.value_or(options.selection.saved);
  options.seed = o.seed.value_or(options.seed);
}

}  // namespace retrace::apps
