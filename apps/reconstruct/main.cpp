/// reconstruct: a recorded clip in, its open-loop control and its simulated motion out.
#include "common/number_option.h"
#include "common/program.h"
#include "common/reconstruction.h"
#include "reconstruct/best_of.h"

namespace retrace::reconstruct_program {
namespace {

void AddOptions(CLI::App& app, apps::ReconstructionArguments& o, apps::BestOfArguments& best) {
  apps::AddReconstructionOptions(app, o);
  apps::AddTailOption(app, o.job);
  apps::AddFeasibilityOptions(app, o.job);
  app.add_flag("--sample-costs", o.run.samples,
               "Also write samples.csv: each cost term of every sample that the search drew");
  CLI::Option* variations =
      apps::AddNumber(app, "--variations", o.run.variations.count, io::Integer{1, 10000},
                      "Find so many controls that differ, with the seed and those after it: into DIR/1, DIR/2 and so "
                      "on, and how far apart they are into DIR/variations.json");
  apps::AddNumber(app, "--max-tries", o.run.variations.max_tries, io::Integer{1, 1000000},
                  "With --variations: seeds to try [three per variation]")
      ->needs(variations);
  CLI::Option* best_of =
      apps::AddNumber(app, "--best-of", best.count, io::Integer{1, 10000},
                      "Find a control for each of so many seeds, side by side, and keep the best: by joint error, "
                      "ground forces and smoothness; the others are in DIR/tried")
          ->excludes(variations);
  apps::AddNumber(app, "--ranks-per-run", best.ranks_per_run, io::Integer{1, 1000000},
                  "With --best-of under mpirun: ranks that work on a seed together [so many that all are done soonest]")
      ->needs(best_of);
  app.set_version_flag("--version", "reconstruct " + results::Version());
}

}  // namespace

int Main(int argc, char** argv) {
  apps::ReconstructionArguments arguments;
  apps::BestOfArguments best;
  arguments.program = "reconstruct";
  return apps::RunMpiProgram(
      arguments.program, "Reconstructs the open-loop control and the contact forces behind a recorded motion.", argc,
      argv, [&](CLI::App& app) { AddOptions(app, arguments, best); },
      [&](const std::string& command, parallel::MpiSession& mpi) {
        return best.count > 0 ? apps::ReconstructBestOf(arguments, best, command, mpi)
                              : apps::Reconstruct(arguments, command, mpi);
      });
}

}  // namespace retrace::reconstruct_program
