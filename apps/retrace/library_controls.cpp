/// make-library: a list of clips in, a library of controls with its index out.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/job_options.h"
#include "common/progress.h"
#include "retrace/batches/library_making.h"
#include "retrace/io/stop_request.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::apps::library_controls_command {
namespace {

struct Options {
  std::string list;
  JobArguments job;
  std::string clips;
  int seeds = 0;
  std::string only;
  int threads = 0;
  std::string output;
  bool force = false;
  std::string progress = "auto";
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("list", o.list, "Tab-separated list of recordings, as for evaluate; its names are those of the controls")
      .Type("LIST")
      .Required();
  command.Add("--clips", o.clips, "Folder of the recordings [that of the list]").Type("DIR");
  cli::AddNumber(command, "--seeds", o.seeds, runs::kSeeds,
                 "Seeds that are tried, one after the other, until one succeeds [from the list, else 3]");
  command.Add("--only", o.only, "Make only controls in whose name this is found; those that are there stay")
      .Type("REGEX");
  AddJobOptions(command, o.job);
  cli::AddNumber(command, "--threads", o.threads, cli::kThreads, "Reconstructions at once [all cores]");
  command.Add("--output", o.output, "Folder of the library [results/LIST]").Type("DIR");
  command.AddFlag("--force", o.force, "Make again what was made with another configuration or version");
  command.Add("--progress", o.progress, "auto, plain, json or none").ShowDefault();
}

runs::LibraryOptions ParseOptions(const Options& o, const Call& call) {
  runs::LibraryOptions options;
  options.list = o.list;
  options.clips = o.clips;
  options.job = ParseJob(o.job);
  options.samples = o.job.samples;
  options.saved = o.job.saved;
  options.seeds = o.seeds;
  options.only = o.only;
  options.output = o.output;
  if (o.output.empty()) options.output = std::filesystem::path("results") / options.list.stem();
  options.command = call.line;
  options.force = o.force;
  options.threads = o.threads;
  return options;
}

int MakeLibrary(const Options& o, const Call& call) {
  const bool prints = Prints(ChooseProgress(o.progress, false));
  const runs::LibraryOptions options = ParseOptions(o, call);
  cli::Warn(call.name, simulation::SolverWarning(options.job.configuration.task.world));
  io::HandleStopSignals();
  const runs::MadeLibrary made = runs::MakeLibrary(options, [&](const results::RunRow& row) {
    if (!prints) return;
    std::printf("  %s\n", cli::Shown(runs::Describe(row)).c_str());
    std::fflush(stdout);
  });
  if (prints) {
    size_t cuts = 0;
    for (const runs::IndexedControl& control : made.index.controls) cuts += control.cuts.size();
    std::printf("%s: %zu controls with %zu cuts", cli::Shown(options.output).c_str(), made.index.controls.size(), cuts);
    const auto failed = static_cast<size_t>(
        std::count_if(made.rows.begin(), made.rows.end(), [](const results::RunRow& row) { return !row.levels.main; }));
    if (failed > 0) std::printf("; without a control: %zu clips", failed);
    std::printf("\n");
  }
  for (const results::RunRow& row : made.rows) {
    if (!row.ran())
      std::fprintf(stderr, "%s: %s\n", cli::Shown(call.name).c_str(), cli::Shown(runs::Describe(row)).c_str());
  }
  return static_cast<int>(made.Judge());
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  options->job.defaults.run.method = runs::Method::kSampling;  // so that all controls are in one world
  AddOptions(command, *options);
  return [options](const Call& call) { return MakeLibrary(*options, call); };
}

}  // namespace retrace::apps::library_controls_command
