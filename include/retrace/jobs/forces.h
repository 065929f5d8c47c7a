/// Forces behind a recorded motion, with what is uncertain about them: several controls of one recording, of which the
/// one whose feet come nearest to the forces that the recording requires is the run, while all that are tracked like it
/// make the band; and how they compare with measured forces.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/jobs/reconstruction.h"
#include "retrace/metrics/force_comparison.h"
#include "retrace/results/force_tables.h"
#include "retrace/retargeting/subject.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

/// The configuration that `forces` begins with; the user's settings come after it: soles that give way a little, and
/// tracking that is guided by forces (tracking::Options::guidance), with a search among variations of the controller.
Configuration ForcesConfiguration();
/// The character of `forces` where none is named: of the recorded person's size (character_input.h).
inline constexpr const char* kForcesCharacter = character::kSubjectName;

struct ForceOptions {
  int controls = 0;  ///< 0: a reconstruction without anything that is described here
  /// Standard deviation of the random start velocities of all tracked controls but the first [m/s of the root,
  /// rad/s of the joints]. Controls that are found by sampling differ in the seed alone.
  double perturbation = 0.02;
};

/// One of the controls.
struct ForceControl {
  uint64_t seed = 0;
  double perturbation = 0;  ///< of its start
  std::string way;          ///< of tracking (WaysOf)
  Method method = Method::kSampling;
  bool success = false;           ///< it stays within tolerance
  double joint_error = 0;         ///< [m]
  double newton_error = 0;        ///< metrics::MotionMetrics::force_error, a share of body weight
  double required_error = 0;      ///< metrics::RequiredForceError; NaN for a character without two feet
  double largest_step_force = 0;  ///< vertical, of a simulation step [body weights]
  std::string control_sha256;     ///< of its control file
};

/// The quantities of one control over its states.
struct ForceSignals {
  metrics::GroundForces ground;
  results::Channels joint_loads;
};

/// What was found.
struct Forces {
  Reconstruction run;                  ///< of the chosen control
  std::vector<ForceControl> controls;  ///< in the order of their seeds
  /// Index of the control with the least ForceControl::required_error, or of a character without two feet by Newton's
  /// law; of those within tolerance, where there are any.
  size_t chosen = 0;
  std::vector<size_t>
      band;  ///< indices of the controls of the band: tracked like the chosen one, within tolerance as it is
  std::vector<ForceSignals> signals;                   ///< (controls) on the same plates
  std::optional<metrics::MeasuredSteps> measured;      ///< on the states of the run, where it was measured
  std::optional<metrics::ForceComparison> comparison;  ///< of the run with that; none where it ends before

  bool success() const { return run.success(); }
};

/// Callbacks that report progress.
struct ForceHooks {
  sampling::Hooks search = {};                               ///< of all searches, one after the other
  std::function<void()> on_search_end = {};                  ///< after each control
  std::function<void(const std::string& text)> report = {};  ///< receives each control's outcome as text for people
};

/// How the job's measurement lies in the time and the space of its motion: by the clocks of the files, and turned as
/// the user says or, by quarter turns and in either handedness, as the feet stand on the plates
/// (kinetics::FindPlacement). Throws InputError where left and right of the measurement are clearly exchanged, unless
/// the job says that they are.
metrics::MeasurementPlace PlaceOf(const Job& job);

/// Throws UsageError where parts of the clip are retimed: measured forces and events keep the clock of the recording.
void RequireRecordedClock(const Job& job);

/// The measured forces of the feet as channels beside those of the motion, after the low-pass (0: none) [Hz]; NaN where
/// nothing was measured. @param time_step between two of the measured steps [s]
results::Channels MeasuredChannels(const Job& job, const metrics::MeasuredSteps& measured, double time_step,
                                   double cutoff);

/// The job's measurement on the steps of its motion; nothing where there is none. Throws InputError for one that does
/// not fit the motion, and for a character without a left and a right foot.
std::optional<metrics::MeasuredSteps> MeasuredOf(const Job& job);

/// The variants of tracking: as configured and, where forces guide the tracking and nothing is said of
/// feet, with feet as recorded and with feet that are pressed into the ground by what they carry. Which of them has the
/// forces of its reference differs from motion to motion.
std::vector<std::pair<std::string, tracking::Options>> WaysOf(const tracking::Options& options);

/// The same variants with more feedback on the center of mass, for recordings whose forces do not keep the motion up,
/// such as those that require a center of pressure far beside the soles. None where forces do not guide.
std::vector<std::pair<std::string, tracking::Options>> FirmerWaysOf(const tracking::Options& options);

/// Finds the controls by the method of the job's configuration: one for each variant with the first seed, and with the
/// other seeds those of the variant that then came nearest to what the reference requires. Where no tracked motion of a
/// seed stays within tolerance, it is tracked firmly (FirmerWaysOf), then without being guided by forces; where that
/// fails too, and the method is to be chosen, one is found by sampling, and the next seed tries all variants again. The
/// farm's workers are of MakeSeededWorkerFactory. The job has the seed and the perturbation of the chosen control
/// afterwards.
Forces FindForces(Job& job, parallel::TaskFarm& farm, const ForceOptions& options, const ForceHooks& hooks);

/// Writes what WriteRun writes of the chosen control, the tables of results/force_tables.h, forces.svg, and the files
/// of OpenSim in the folder's `export`. Throws OutputError.
void WriteForces(results::RunFolder& folder, const Job& job, const Forces& forces, const RunContext& context,
                 const io::Json& more = io::NoMembers());

/// A comparison as lines for people.
std::string DescribeComparison(const metrics::ForceComparison& comparison);

/// What was found, as lines for people.
std::string Describe(const Forces& forces);

}  // namespace retrace::runs
