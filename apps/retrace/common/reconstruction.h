/// What the programs that reconstruct have in common: their options, and the run from the clip to the folder.
#pragma once

#include <filesystem>
#include <string>

#include "commands.h"
#include "common/job_options.h"
#include "retrace/jobs/run_pipeline.h"
#include "retrace/parallel/mpi_session.h"

namespace retrace::apps {

/// As a user writes them.
struct ReconstructionArguments {
  std::string output_suffix;  ///< what the name of the default folder has after that of the clip
  JobArguments job;
  runs::RunOptions run;
  int threads = 0;
  std::string output;
  std::string time_limit;
  double rank_timeout = 300;
  bool dry_run = false;
  std::string progress = "auto";
  bool print_config = false;
  bool verbose = false;
  bool json = false;  ///< of what is printed
};

/// Where the results go.
std::filesystem::path OutputOf(const ReconstructionArguments& o);

void AddReconstructionOptions(cli::Command& command, ReconstructionArguments& o);

/// The whole command behind the options: prepares the job on all ranks, runs it, prints. Returns the exit code.
int Reconstruct(const ReconstructionArguments& o, const Call& call);

}  // namespace retrace::apps
