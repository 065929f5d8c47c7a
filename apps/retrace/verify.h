/// What `retrace verify` and `retrace replay --verify` print.
#pragma once

#include <string>

#include "retrace/runs/stored/replay.h"

namespace retrace::apps {

/// Simulates a run again, compares it with what is stored, and prints what differs or that nothing does. `program` is
/// what messages begin with. With `json` a document says it. Returns the exit code.
int PrintVerification(const std::string& program, const runs::StoredRun& run, bool json = false);

}  // namespace retrace::apps
