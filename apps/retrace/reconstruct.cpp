/// reconstruct: a recorded clip in, its open-loop control and its simulated motion out.
#include <memory>

#include "best_of.h"
#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/reconstruction.h"

namespace retrace::apps::reconstruct_command {
namespace {

void AddOptions(cli::Command& command, ReconstructionArguments& o, BestOfArguments& best) {
  AddReconstructionOptions(command, o);
  AddContinuationOption(command, o.job);
  AddFeasibilityOptions(command, o.job);
  command.AddFlag("--sample-costs", o.run.samples,
                  "Also write samples.csv: each cost term of every sample that the search drew");
  const cli::Option variations =
      cli::AddNumber(command, "--variations", o.run.variations.count, io::Integer{1, 10000},
                     "Find so many controls that differ, with the seed and those after it: into DIR/1, DIR/2 and so "
                     "on, and how far apart they are into DIR/variations.json");
  cli::AddNumber(command, "--max-tries", o.run.variations.max_tries, io::Integer{1, 1000000},
                 "With --variations: seeds to try [three per variation]")
      .Needs(variations);
  const cli::Option best_of =
      cli::AddNumber(command, "--best-of", best.count, io::Integer{1, 10000},
                     "Find a control for each of so many seeds, side by side, and keep the best: by joint error, "
                     "ground forces and smoothness; the others are in DIR/tried")
          .Excludes(variations);
  cli::AddNumber(command, "--ranks-per-run", best.ranks_per_run, io::Integer{1, 1000000},
                 "With --best-of under mpirun: ranks that work on a seed together [so many that all are done soonest]")
      .Needs(best_of);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto arguments = std::make_shared<ReconstructionArguments>();
  const auto best = std::make_shared<BestOfArguments>();
  AddOptions(command, *arguments, *best);
  return [arguments, best](const Call& call) {
    return best->count > 0 ? ReconstructBestOf(*arguments, *best, call) : Reconstruct(*arguments, call);
  };
}

}  // namespace retrace::apps::reconstruct_command
