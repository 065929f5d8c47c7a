/// Ground forces of a simulated motion against measured ones, in body weights (mass times kStandardGravity).
///
/// Signals. The simulation has a force for each step, at the time of the state that the step led to; measured forces
/// are averaged over the same steps where they are sampled faster, else interpolated at the middle of each. Both are
/// compared as they are (`raw`) and after the same zero-lag low-pass (ButterworthLowPass) of 20, 12 and 6 Hz: the
/// total, the left and the right foot. What other bodies carry is in the total.
///
/// Components. Vertical; fore-aft: along the displacement of the reference's center of mass from its first to its last
/// pose, or where that is at most 0.5 m along the measurement's z; lateral: to the left of that.
///
/// Samples that count are those of steps within the measurement at which it is valid, but for 50 ms at each end of
/// these (100 ms at 6 Hz), which the ends of the filter reach.
///
/// Baselines, for the total force: Newton's law on the reference's center of mass, low-passed at 6 and at 12 Hz, and
/// body weight alone. They are not filtered again. A simulation that is no better than Newton's law tells nothing new
/// of the total force; how it divides between the feet Newton's law does not tell.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/io/json.h"
#include "retrace/metrics/ground_forces.h"
#include "retrace/motion/measured_forces.h"

namespace retrace::metrics {

/// A vector per instant, in rows.
using VectorSeries = Eigen::Matrix<double, Eigen::Dynamic, 3>;

/// Forces of the ground on the feet, over time.
struct FootForces {
  VectorSeries total;  ///< (instants)
  VectorSeries left;   ///< (instants)
  VectorSeries right;  ///< (instants)
};

/// Indices of the plates of the left and the right foot among `plates`: those of the segments left_foot and right_foot.
/// Nothing for a character that has not both.
struct FootPlates {
  size_t left = 0;
  size_t right = 0;
};
std::optional<FootPlates> FindFeet(const character::Character& character, const std::vector<ForcePlate>& plates);

/// [N], for each state.
FootForces FootForcesOf(const GroundForces& ground, const FootPlates& feet);

/// How a measurement lies in the time and the space of a run.
struct MeasurementPlace {
  double start = 0;       ///< time of the recording at which the run begins [s]
  double time_scale = 1;  ///< durations of the run over those of the recording
  double heading = 0;     ///< by which the run is turned about y from the recording, from z towards x [rad]
  double scale = 1;       ///< lengths of the run over those of the recording
  /// Velocity of a treadmill's belt that was taken out of the motion, in the axes and the lengths of the run and the
  /// time of the recording [m/s]; what it moved since `belt_start`, a time of the recording [s], is taken out of
  /// points, too.
  Vec3 belt = Vec3::Zero();
  double belt_start = 0;
  double delay = 0;        ///< by which the clock of the measurement is late [s]
  bool mirrored = false;   ///< the measurement's x axis is reversed first: its axes are of the other handedness
  bool exchanged = false;  ///< forces that are named after one foot are the other one's

  /// Time of the recording at which something was measured. @param time by the clock of the measurement [s]
  double RecordedTime(double time) const { return time - delay; }
  /// The same in the run [s].
  double RunTime(double time) const { return (RecordedTime(time) - start) * time_scale; }
  /// A point of the recording in the run. @param time of the recording [s]
  Vec3 ToRun(const Vec3& point, double time) const;
  /// A point of the run in the recording. @param time of the recording [s]
  Vec3 ToRecording(const Vec3& point, double time) const;
  /// The same of a force and of a moment, which a mirror turns round.
  Vec3 ForceToRun(const Vec3& force) const;
  Vec3 ForceToRecording(const Vec3& force) const;
  Vec3 MomentToRun(const Vec3& moment) const;
  Vec3 MomentToRecording(const Vec3& moment) const;
};

/// Where a measured force acts, and what is left there.
struct FootCenters {
  VectorSeries center;          ///< (states) of pressure [m], in the axes of the run; NaN where the foot is not loaded
  Eigen::VectorXd free_moment;  ///< (states) about the vertical through it [N m]; 0 where it was not measured
};

/// A measurement on the steps of a run.
struct MeasuredSteps {
  FootForces forces;        ///< (states) mean over the step that led to the state [N], in the axes of the run
  std::vector<bool> valid;  ///< (states) the state's step is within the valid part of the measurement
  /// The centers of the left and the right foot; none where not all forces say where they act.
  std::optional<std::pair<FootCenters, FootCenters>> centers = {};
};

/// Takes out of what is valid, with 50 ms around, each contact during which a foot stands beside the plates: the
/// measured total is then not all of the ground's force.
/// @param expected forces of the feet by an estimate, on the same steps
/// @return the share of what was valid that is left
double KeepCovered(const FootForces& expected, double mass, const std::vector<double>& times, MeasuredSteps& measured);

/// Puts a measurement on the steps of a run. Forces of one foot are added up. A force of which the names do not tell
/// the foot belongs, each time that it is on, to the foot of the reference that is nearest to where it acts. Throws
/// InputError, in which `name` stands for the file, where that is not known, where the forces pull the person down, and
/// where too little that is valid is within the run. The reference's character has a left and a right foot (FindFeet).
/// @param times of the states of the run [s]
MeasuredSteps MeasuredOnSteps(const motion::MeasuredForces& measured, const std::string& name,
                              const MeasurementPlace& place, const character::ReferenceMotion& reference,
                              const std::vector<double>& times);

/// A signal against the measured one.
struct ForceFigures {
  double rmse = 0;     ///< root of the mean square of the difference [% of body weight]
  double rrmse = 0;    ///< the same over the mean of the two ranges [%]; NaN where both are 0
  double r = 0;        ///< Pearson's correlation; NaN where one does not vary
  double peak = 0;     ///< largest value less the largest measured [% of body weight]; of magnitudes where not vertical
  double impulse = 0;  ///< of the difference, over that of the measured vertical total force [%]
};

enum class ForceComponent { kVertical, kForeAft, kLateral };
inline constexpr int kForceComponents = 3;
std::string Name(ForceComponent component);

/// Cut-offs of the comparison [Hz]; 0: as it is.
inline constexpr double kForceCutoffs[] = {0, 20, 12, 6};
/// "raw" or "20Hz".
std::string CutoffName(double cutoff);

/// One line of a comparison.
struct ForceComparisonRow {
  std::string source;  ///< run, newton_6Hz, newton_12Hz or body_weight
  double cutoff = 0;   ///< [Hz]; 0: none
  std::string part;    ///< total, left or right
  ForceComponent component = ForceComponent::kVertical;
  ForceFigures figures;
};

/// Times at which feet touch down or lift off, simulated less measured. A foot is on the ground with more than 5 % of
/// body weight; gaps and touches of less than 40 ms do not count. Events that have none within 200 ms are not matched.
struct ContactTiming {
  int measured = 0;                     ///< events
  int matched = 0;                      ///< of these
  std::optional<double> mean;           ///< [ms]
  std::optional<double> mean_absolute;  ///< [ms]
};

struct ForceComparison {
  double start = 0;  ///< of what is compared [s]
  double end = 0;    ///< [s]
  std::vector<ForceComparisonRow> rows;
  ContactTiming onset;
  ContactTiming offset;
  double largest_step_force = 0;      ///< vertical, of the run's steps as they are [body weights]
  double largest_measured_force = 0;  ///< [body weights]
  double no_contact_share = 0;        ///< of the time with less than 5 % of body weight in all
  double measured_no_contact_share = 0;

  /// Throws std::out_of_range for a row that there is not.
  const ForceFigures& At(const std::string& source, double cutoff, const std::string& part,
                         ForceComponent component) const;
  /// What is not a number is null.
  io::Json ToJson() const;
};

/// What is compared.
struct ForceComparisonInput {
  const std::vector<double>& times;             ///< of the states of the run [s], at equal distances
  const FootForces& simulated;                  ///< (states) [N]
  double simulated_mass;                        ///< of the character [kg]
  const MeasuredSteps& measured;                ///< (states)
  double measured_mass;                         ///< of the person who was measured [kg]
  const character::ReferenceMotion& reference;  ///< of the run
  double heading = 0;                           ///< MeasurementPlace::heading
};

/// Throws std::invalid_argument for series of other lengths than the times.
ForceComparison CompareForces(const ForceComparisonInput& input);

/// How far the forces of the feet are from those that the reference requires by inverse dynamics (RequiredForcesOf),
/// which need no simulation and are no measurement: root mean square over the vertical forces of the total, the left
/// and the right foot, after 20 Hz, as a share of body weight. NaN where less than 0.25 s can be compared.
/// @param times of the states of the run [s], at equal distances
/// @param gravity downwards [m/s^2]
double RequiredForceError(const std::vector<double>& times, const GroundForces& ground, const FootPlates& feet,
                          double mass, const character::ReferenceMotion& reference, double gravity);

/// Vertical, fore-aft and lateral components, in columns, of forces in a run's axes.
/// @param heading MeasurementPlace::heading
VectorSeries InComponents(const VectorSeries& forces, const character::ReferenceMotion& reference, double heading);

}  // namespace retrace::metrics
