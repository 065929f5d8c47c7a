/// A run as its folder keeps it: the characters in its world, one for most runs, with what is kept of each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/control/control_file.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"

namespace retrace::runs {

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
  /// Under which the motion was made besides those of the control; none for most.
  std::vector<control::Push> pushes;
  std::string solver;          ///< simulation::DescribeSolver of the stored world
  std::string solver_warning;  ///< simulation::SolverWarning of the stored world

  /// The files of this run and of those that joined it, which no result may replace.
  std::vector<std::filesystem::path> Files() const;
  /// All pushes under which the motion was made: those of the control, then the others.
  std::vector<control::Push> AllPushes() const;
  /// A file of a character's motion.
  std::filesystem::path PathOf(size_t character, std::string_view name) const;
  /// What the reference of a character was repaired from, where that is kept. The run must outlive it. Throws
  /// InputError.
  std::optional<character::ReferenceMotion> Recording(size_t character) const;
  /// What a character's control lasts [s]; where that of another is longer, it holds its last targets.
  double control_duration(size_t character) const;
  /// What it was to last, where there is a reference [s].
  double expected_duration(size_t character) const;
  /// Throws UsageError for a scene: "FOLDER: found 2 characters, expected one: WHY".
  void RequireOneCharacter(const std::string& why) const;
  /// Throws UsageError for a motion with kinematic transitions or a kinematic ending: "FOLDER: found ..., expected a
  /// simulated one: WHY".
  void RequirePhysical(const std::string& why) const;

  /// Finds tolerances and figures of the motion of one character, over what its own control lasts; nothing without a
  /// reference. The run must outlive it.
  std::optional<metrics::Evaluator> EvaluatorOf(size_t character) const;
};

/// Simulates a scene; `observe` gets one second after the other, the part of each character
/// (control::TrajectoryOf).
void ReplayInParts(const control::Scene& scene, std::span<const control::Push> pushes,
                   const std::function<void(size_t character, const control::Trajectory& part)>& observe);

}  // namespace retrace::runs
