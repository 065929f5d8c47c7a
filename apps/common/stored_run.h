/// A run as its folder keeps it, simulated again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/control/control.h"
#include "retrace/control/control_file.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"

namespace retrace::apps {

/// A reference.bvh. The character must outlive the motion. Throws InputError.
character::ReferenceMotion ReadReference(const std::filesystem::path& file, const character::Character& character);

/// Sets targets that are the reference's own poses: the naive tracking that the paper starts from.
void TrackReference(const character::ReferenceMotion& reference, control::OpenLoopControl& control);

/// The pushes under which a folder was made, so that it can be verified; none for all others.
std::vector<control::Push> PushesOf(const std::filesystem::path& folder, const character::Character& character);

/// The gates that a run was held to: those of its manifest, else the default ones.
metrics::GateLimits GatesOf(const std::filesystem::path& folder);

/// Compares a trajectory with the tables of a folder, or with their hashes in the manifest where a table is not there;
/// what neither has is not compared. Returns the first difference as a message, or nothing.
/// @param required whether a table that neither folder nor manifest has is an InputError
std::string FirstDifference(const std::filesystem::path& folder, const character::Character& character,
                            const control::Trajectory& trajectory, bool required);

/// A folder with a control file and all that follows from it, bit for bit as when it was made.
struct StoredRun {
  /// Reads and replays. Throws InputError for a folder that holds no run or a file that cannot be used.
  explicit StoredRun(const std::filesystem::path& path);
  StoredRun(const StoredRun&) = delete;
  StoredRun& operator=(const StoredRun&) = delete;

  std::filesystem::path folder;
  control::LoadedControl loaded;
  io::Json manifest;                                    ///< null where there is none
  std::vector<control::Push> pushes;                    ///< under which the motion was made
  std::optional<character::ReferenceMotion> reference;  ///< where reference.bvh is kept
  control::Trajectory trajectory;
  double expected = 0;                                 ///< duration that was to be reached [s]
  std::optional<metrics::Evaluation> evaluation = {};  ///< with a reference
  std::string difference;                              ///< of what is stored from the motion that this program finds
};

}  // namespace retrace::apps
