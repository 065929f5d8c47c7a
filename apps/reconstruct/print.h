/// What `reconstruct` prints for people.
#pragma once

#include "retrace/runs/run.h"

namespace retrace::apps {

/// What the clip became.
void PrintUnderstanding(const runs::Job& job);

/// How the run ended. Only failures are printed where results are not (`prints`).
void PrintOutcome(const runs::Job& job, const runs::RunOptions& run, const runs::RunOutcome& outcome,
                  double wall_seconds, bool prints);

}  // namespace retrace::apps
