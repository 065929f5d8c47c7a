/// A run as its folder keeps it.
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
#include "retrace/task/altered_world.h"

namespace retrace::runs {

/// Sets targets that are the reference's own poses: the naive tracking that the paper starts from.
void SetTargetsToReference(const character::ReferenceMotion& reference, control::OpenLoopControl& control);

/// A folder with a control file and what was kept beside it; nothing is simulated.
struct StoredRun {
  /// Throws InputError for a folder that holds no run or a file that cannot be used.
  explicit StoredRun(const std::filesystem::path& path);
  StoredRun(const StoredRun&) = delete;
  StoredRun& operator=(const StoredRun&) = delete;

  std::filesystem::path folder;
  control::LoadedControl loaded;
  io::Json manifest;                                    ///< null where there is none
  std::vector<control::Push> pushes;                    ///< under which the motion was made; none for most
  metrics::GateLimits gates;                            ///< that it was held to: the manifest's, else the default ones
  std::optional<character::ReferenceMotion> reference;  ///< where reference.bvh is kept
  std::string solver;                                   ///< DescribeSolver of the stored world
  std::string solver_warning;                           ///< SolverWarning of the stored world

  /// The reference's file, whether it is kept or not.
  std::filesystem::path reference_file() const;
  /// That was to be reached, where there is a reference [s].
  double expected_duration() const;
  /// Puts the motion into other worlds, one after the other: loads on bodies, gravity, things around. Returns where
  /// they are. Throws InputError where no reference tells that.
  task::PlacedWorld PutInto(const task::AlteredWorld& world);

  /// The servos are driven at the reference itself instead of the stored targets. Throws InputError without a
  /// reference.
  void TrackReference();

  /// Gates and figures of a trajectory of this run; nothing without a reference.
  std::optional<metrics::Evaluation> Evaluate(const control::Trajectory& trajectory) const;
  /// Compares a trajectory with the tables of the folder, or with their hashes in the manifest where a table is not
  /// there; what neither has is not compared. Returns the first difference as a message, or nothing.
  /// @param required whether a table that neither folder nor manifest has is an InputError
  std::string FirstDifference(const control::Trajectory& trajectory, bool required) const;
  /// Simulates the stored control in a new world, under the stored pushes, and compares every state, contact and torque
  /// with the stored ones, bit for bit. Returns the first difference as a message; an empty text means that there is
  /// none. Throws InputError when the folder does not tell what to compare with.
  std::string Verify() const;
};

/// A stored run simulated again, bit for bit as when it was made.
struct ReplayedRun : StoredRun {
  explicit ReplayedRun(const std::filesystem::path& path);

  control::Trajectory trajectory;
  std::optional<metrics::Evaluation> evaluation;  ///< with a reference
  std::string difference;                         ///< of what is stored from the motion that this program finds
};

}  // namespace retrace::runs
