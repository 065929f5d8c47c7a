/// make-library: a list of clips in, a library of controls with its index out.
#include <algorithm>
#include <cstdio>

#include "common/job_options.h"
#include "common/number_option.h"
#include "common/program.h"
#include "common/progress.h"
#include "retrace/batches/library_making.h"
#include "retrace/simulation/solver_in_use.h"
#include "retrace/io/stop_request.h"

namespace retrace::make_library_program {
namespace {

struct Options {
  std::string list;
  apps::JobArguments job;
  std::string clips;
  int seeds = 0;
  std::string only;
  int threads = 0;
  std::string output;
  bool force = false;
  std::string progress = "auto";
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("list", o.list,
                 "Tab-separated list of recordings, as for evaluate; its names are those of the controls")
      ->type_name("LIST")
      ->required();
  app.add_option("--clips", o.clips, "Folder of the recordings [that of the list]")->type_name("DIR");
  apps::AddNumber(app, "--seeds", o.seeds, runs::kSeeds,
                  "Seeds that are tried, one after the other, until one succeeds [from the list, else 3]");
  app.add_option("--only", o.only, "Make only controls in whose name this is found; those that are there stay")
      ->type_name("REGEX");
  apps::AddJobOptions(app, o.job);
  apps::AddNumber(app, "--threads", o.threads, apps::kThreads, "Reconstructions at once [all cores]");
  app.add_option("--output", o.output, "Folder of the library [results/LIST]")->type_name("DIR");
  app.add_flag("--force", o.force, "Make again what was made with another configuration or version");
  app.add_option("--progress", o.progress, "auto, plain, json or none")->capture_default_str();
  app.set_version_flag("--version", "make-library " + results::Version());
}

runs::LibraryOptions ParseOptions(const Options& o, const std::string& command) {
  runs::LibraryOptions options;
  options.list = o.list;
  options.clips = o.clips;
  options.job = apps::ParseJob(o.job);
  options.samples = o.job.samples;
  options.saved = o.job.saved;
  options.seeds = o.seeds;
  options.only = o.only;
  options.output = o.output;
  if (o.output.empty()) options.output = std::filesystem::path("results") / options.list.stem();
  options.command = command;
  options.force = o.force;
  options.threads = o.threads;
  return options;
}

int MakeLibrary(const Options& o, const std::string& command) {
  const bool prints = apps::Prints(apps::ChooseProgress(o.progress, false));
  const runs::LibraryOptions options = ParseOptions(o, command);
  apps::Warn("make-library", simulation::SolverWarning(options.job.configuration.task.world));
  io::HandleStopSignals();
  const runs::MadeLibrary made = runs::MakeLibrary(options, [&](const results::RunRow& row) {
    if (!prints) return;
    std::printf("  %s\n", runs::Describe(row).c_str());
    std::fflush(stdout);
  });
  if (prints) {
    size_t cuts = 0;
    for (const runs::IndexedControl& control : made.index.controls) cuts += control.cuts.size();
    std::printf("%s: %zu controls with %zu cuts", options.output.c_str(), made.index.controls.size(), cuts);
    const auto failed = static_cast<size_t>(
        std::count_if(made.rows.begin(), made.rows.end(), [](const results::RunRow& row) { return !row.levels.main; }));
    if (failed > 0) std::printf("; without a control: %zu clips", failed);
    std::printf("\n");
  }
  for (const results::RunRow& row : made.rows) {
    if (!row.ran()) std::fprintf(stderr, "make-library: %s\n", runs::Describe(row).c_str());
  }
  return static_cast<int>(made.Judge());
}

}  // namespace

int Main(int argc, char** argv) {
  const std::string command = apps::CommandLine(argc, argv);
  CLI::App app("Makes a library of controls of a list of recordings, for compose.", "make-library");
  Options options;
  options.job.defaults.run.method = runs::Method::kSampling;  // so that all controls are in one world
  AddOptions(app, options);
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("make-library", true, [&] { return MakeLibrary(options, command); });
}

}  // namespace retrace::make_library_program
