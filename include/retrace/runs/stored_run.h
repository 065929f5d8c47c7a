/// A run as its folder keeps it: the characters in its world, one for most runs, with what is kept of each.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/control/control.h"
#include "retrace/control/control_file.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"
#include "retrace/task/altered_world.h"

namespace retrace::runs {

struct Replayed;

/// Where the motion of another run is put into a world: it is turned about the world's vertical axis, then moved.
struct Placement {
  double heading = 0;          ///< about y, from z towards x [rad]
  Vec3 offset = Vec3::Zero();  ///< [m]

  /// A motion that was placed by `first` and then by this.
  Placement After(const Placement& first) const;
};

/// What is known of one character of a run besides its control.
struct RunCharacter {
  std::string run;             ///< folder of the run that it came from: this one where it did not join another
  std::string control_sha256;  ///< of that run's control file
  Placement placement;         ///< of that run's motion in this world
  metrics::GateLimits gates;   ///< that it was held to: the manifest's, else the default ones
  std::filesystem::path reference_file;                 ///< where the reference is, or would be
  std::optional<character::ReferenceMotion> reference;  ///< where it is kept
};

/// A control file that a run was read from.
struct ControlInput {
  std::filesystem::path file;
  std::string sha256;
};

/// A folder with a control file and what was kept beside it; nothing is simulated.
struct StoredRun {
  /// Throws InputError for a folder that holds no run or a file that cannot be used.
  explicit StoredRun(const std::filesystem::path& path);
  StoredRun(StoredRun&&) = default;
  StoredRun& operator=(StoredRun&&) = default;

  std::filesystem::path folder;
  control::Scene scene;                  ///< the references point at its characters
  std::vector<RunCharacter> characters;  ///< (characters)
  std::vector<ControlInput> controls;    ///< of the run, and of those that joined it
  io::Json manifest;                     ///< null where there is none
  std::vector<control::Push> pushes;     ///< under which the motion was made; none for most
  std::string solver;                    ///< DescribeSolver of the stored world
  std::string solver_warning;            ///< SolverWarning of the stored world

  /// The files of this run and of those that joined it, which no result may replace.
  std::vector<std::filesystem::path> Files() const;
  /// A file of a character's motion.
  std::filesystem::path PathOf(size_t character, std::string_view name) const;
  /// What a character's control lasts [s]; where that of another is longer, it holds its last targets.
  double control_duration(size_t character) const;
  /// What it was to last, where there is a reference [s].
  double expected_duration(size_t character) const;
  /// Throws UsageError for a scene: "FOLDER: found 2 characters, expected one: WHY".
  void RequireOneCharacter(const std::string& why) const;

  /// Puts the motion of a run's only character into other worlds, one after the other: loads on bodies, gravity, things
  /// around. Returns where they are. Throws InputError without a reference, UsageError for a scene.
  task::PlacedWorld PutInto(const task::AlteredWorld& world);

  /// The characters of another run join this one's world, with their references. These are moved as kinematics alone:
  /// they take no account of other characters. Returns what the user should know, as sentences. Throws UsageError for
  /// another time step, and for a run whose world has things of its own.
  std::vector<std::string> Join(const StoredRun& other, const Placement& placement);

  /// The scene with the references' own poses as targets, where there are references: the naive tracking that the paper
  /// starts from.
  control::Scene NaiveTracking() const;
  /// That becomes the scene. Throws InputError for a character without a reference.
  void TrackReference();

  /// Gates and figures of a trajectory of one character, over what its own control lasts; nothing without a reference.
  std::optional<metrics::Evaluation> Evaluate(size_t character, const control::Trajectory& trajectory) const;
  /// Compares the files of the folder with the hashes in the manifest, and the manifest with its seal; then
  /// trajectories with the motion and the tables of the folder, or with their hashes in the manifest where a table is
  /// not there; what neither has is not compared. Returns the first difference as a message, or nothing.
  /// @param required whether the folder must have a manifest (else that is the difference), and every table that
  ///        neither has is an InputError
  std::string FirstDifference(const Replayed& replayed, bool required) const;
  /// Simulates the stored controls in a new world, under the stored pushes, and compares every state, contact and
  /// torque with the stored ones, bit for bit, after every file was compared with the manifest. Returns the first
  /// difference as a message; an empty text means that there is none. Throws InputError when the folder has
  /// nothing to compare with.
  std::string Verify() const;
};

}  // namespace retrace::runs
