/// A stored run compared with its simulation, bit for bit.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/metrics/gates.h"
#include "retrace/runs/stored/replay.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

/// How a stored run compares with its simulation.
struct Verification {
  std::string difference;                                       ///< the first one, as a message; empty: none
  size_t num_states = 0;                                        ///< that were compared
  std::vector<std::optional<metrics::Evaluation>> evaluations;  ///< (characters) where there is a reference
};

/// Compares the files of the folder with the hashes in the manifest, and the manifest with its seal; then
/// trajectories with the motion and the tables of the folder, or with their hashes in the manifest where a table is
/// not there; what neither has is not compared. Returns the first difference as a message, or nothing.
std::string FirstDifference(const StoredRun& run, const Replayed& replayed);

/// Simulates the stored controls in a new world, under the stored pushes, and compares every state, contact and
/// torque with the stored ones, bit for bit, after every file was compared with the manifest. Of the motion it holds
/// about a second at a time. A folder without a manifest differs. Throws InputError when the folder does not tell
/// what to compare with.
Verification Verify(const StoredRun& run);

/// The same for programs that show a run, whatever it has lost: a folder without a manifest, and tables that are
/// neither in the folder nor in the manifest, are no difference. `observe` sees the parts of each character's motion.
Verification ReplayAndCompare(const StoredRun& run,
                              const std::function<void(size_t character, const control::Trajectory& part)>& observe);

/// A stored run simulated as it was made.
struct ReplayedRun {
  explicit ReplayedRun(StoredRun stored);

  StoredRun run;
  Replayed replayed;
  std::string difference;  ///< of what is stored from the motion that this program finds
};

/// Lines for people about a run that does not differ from its simulation.
std::string DescribeVerified(const StoredRun& run, const Verification& verification);

}  // namespace retrace::runs
