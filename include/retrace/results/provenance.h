/// Where results come from: which program, on which machine, when, and at what cost.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "retrace/io/json.h"

namespace retrace::results {

/// Version of the toolkit, with the revision of its source where it was built from a repository:
/// `0.1.0` or `0.1.0 (1a2b3c4d5e6f)`, with `-dirty` after a revision that had local changes.
std::string Version();

/// Name and version of a library, e.g. {"ode", "0.16.2"}.
using LibraryVersion = std::pair<std::string, std::string>;

/// Measures a run from its construction on.
class RunTimer {
 public:
  RunTimer();
  double WallSeconds() const;
  /// CPU time of all threads of this process [s], user and system together.
  double CpuSeconds() const;

 private:
  std::chrono::steady_clock::time_point wall_start_;
  double cpu_start_;
};

/// Now, as ISO 8601 in UTC to the second: 2026-01-31T12:34:56Z.
std::string UtcNow();

/// {"version", "revision", "build", "compiler", "libraries": {...}, "host", "system", "cpu", "hardware_threads",
///  "finished", "wall_seconds", "cpu_seconds"}. Libraries that this module does not link come as `libraries`.
/// A manifest keeps it apart from the results: it differs from run to run where they must not.
io::Json Provenance(const RunTimer& timer, const std::vector<LibraryVersion>& libraries = {});

}  // namespace retrace::results
