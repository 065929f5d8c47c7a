/// `reconstruct --best-of`: several controls, of which the best becomes the run.
#pragma once

#include <string>

#include "common/reconstruction.h"
#include "retrace/parallel/mpi_session.h"

namespace retrace::apps {

struct BestOfArguments {
  int count = 0;  ///< seeds; 0: no choice
  int ranks_per_run = 0;
};

/// The whole program behind the options. Returns the exit code.
int ReconstructBestOf(const ReconstructionArguments& o, const BestOfArguments& best, const Call& call);

}  // namespace retrace::apps
