/// What a program that reconstructs prints for people.
#pragma once

#include <string>
#include <vector>

#include "retrace/jobs/run_pipeline.h"

namespace retrace::apps {

/// The exit code of a result, which is a success or not, and doubtful where there are doubts.
int ExitCodeOf(bool success, const std::vector<std::string>& doubts);

/// What was recognized in the clip, what was changed, and what may be wrong with it.
void PrintRecognized(const runs::Job& job);

/// The same, and the task that follows from it.
void PrintJob(const runs::Job& job);

/// How much is printed of an outcome.
struct PrintedOutcome {
  bool prints = true;    ///< false: failures to find variations alone
  bool verbose = false;  ///< also the figures of the solvers
  bool json = false;     ///< as JSON on standard output instead
  std::string command;   ///< of the run, as a shell takes it back
};

/// How the run ended. `program` is its name.
void PrintOutcome(const std::string& program, const runs::Job& job, const runs::RunOptions& run,
                  const runs::RunOutcome& outcome, double wall_seconds, const PrintedOutcome& printed);

}  // namespace retrace::apps
