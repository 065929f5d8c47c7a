/// reconstruct: a recorded clip in, its open-loop control and its simulated motion out.
#include "common/number_option.h"
#include "common/program.h"
#include "common/reconstruction.h"

namespace {

using namespace retrace;

void AddOptions(CLI::App& app, apps::ReconstructionArguments& o) {
  apps::AddReconstructionOptions(app, o);
  apps::AddTailOption(app, o.job);
  apps::AddFeasibilityOptions(app, o.job);
  CLI::Option* variations =
      apps::AddNumber(app, "--variations", o.run.variations.count, io::Integer{1, 10000},
                      "Find so many controls that differ, with the seed and those after it: into DIR/1, DIR/2 and so "
                      "on, and how far apart they are into DIR/variations.json");
  apps::AddNumber(app, "--max-tries", o.run.variations.max_tries, io::Integer{1, 1000000},
                  "With --variations: seeds to try [three per variation]")
      ->needs(variations);
  app.set_version_flag("--version", "reconstruct " + results::Version());
}

}  // namespace

int main(int argc, char** argv) {
  apps::ReconstructionArguments arguments;
  arguments.program = "reconstruct";
  return apps::RunMpiProgram(
      arguments.program, "Reconstructs the open-loop control and the contact forces behind a recorded motion.", argc,
      argv, [&](CLI::App& app) { AddOptions(app, arguments); },
      [&](const std::string& command, parallel::MpiSession& mpi) {
        return apps::Reconstruct(arguments, command, mpi);
      });
}
