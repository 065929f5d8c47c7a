/// Whether a simulated motion reproduces its reference, and how closely.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/io/describe.h"
#include "retrace/io/json.h"

namespace retrace::metrics {

/// Height of the human for which limits in meters are given; those of other characters follow their height [m].
inline constexpr double kHumanHeight = 1.7;

/// Limits that hold at every instant, the same for every motion.
struct GateLimits {
  double root_height = 0.25;  ///< of the root body's center from the reference's [m]
  double root_orientation = 60 * (3.14159265358979323846 / 180);  ///< angle between root orientations [rad]
  double joint_position = 0.25;  ///< mean over joints after removing root translation and heading [m]
  /// Mean over joints in the world, drift and heading included [m]: the criterion of learned trackers (Luo et al.
  /// 2021).
  double world_position = 0.5;
  bool judge_world = false;  ///< whether that decides, too; the criterion of Liu et al. 2010 allows any drift
  /// Share of the time that a servo may be at its largest torque (character::Joint::effort); 1: all of it. It holds for
  /// the whole motion, where the character's torques are limited.
  double saturation = 0.5;

  /// Those of a character: meters times its height as a share of the human's.
  GateLimits Of(const character::Character& character) const;
  io::Json ToJson() const;
};

void Describe(GateLimits& l, io::FieldVisitor& v);

/// One tolerance: the worst figure, its limit, and when the limit was first passed.
struct Gate {
  std::string name;
  double worst = 0;
  double limit = 0;
  double first_violation = -1;  ///< [s]; negative: never
  bool passed() const { return first_violation < 0; }
};

/// What a motion within tolerance must not have, lest it be nonsense: a body that is squeezed by what it touches, or
/// pulled apart. They are reported beside the tolerances, and the world position with them.
struct DoubtLimits {
  static constexpr double kForceWindow = 0.05;  ///< over which contact forces are averaged [s]
  /// As a multiple of what the recording requires at most, and of at least kLeastForce.
  static constexpr double kForceFactor = 4;
  static constexpr double kLeastForce = 1.5;  ///< [body weights]
  static constexpr double kJointGap = 0.05;   ///< of a human; between the two ends of a joint [m]
  /// Share of the tolerance of joint positions that the mean over time may reach. A body that folds up on its chair
  /// stays below the tolerance all the time and is never near the recording.
  static constexpr double kMeanPosture = 0.5;
};

/// Share of the tolerance of joint positions below which the mean over time is a near posture: 62 mm of a human, three
/// times what tracking leaves of most recordings that it can follow.
inline constexpr double kNearPosture = 0.25;

/// Share of the time that a joint may turn faster than its motor can (character::Joint::speed): impacts turn joints,
/// too.
inline constexpr double kMostTooFast = 0.02;

struct Evaluation {
  bool completed = false;         ///< simulated to the end of the reference
  double simulated_duration = 0;  ///< [s]
  /// root_height, root_orientation, joint_position; world, where that is judged; saturation, where torques are limited:
  /// the share of the servo that is at its limit longest, and when that servo was so first; motor_speed, where the
  /// character knows the highest rates of its motors: the same of the joint that turns faster than that longest.
  std::vector<Gate> gates;
  /// Mean distance of the joints in the world, which is reported whether or not it is judged.
  Gate world = {"world_position"};
  /// Sum of the contact forces on the character, averaged over DoubtLimits::kForceWindow [body weights]. Forces between
  /// its own bodies are left out.
  Gate contact_force = {"contact_force", 0, std::numeric_limits<double>::infinity()};
  /// Largest distance between the two ends of a joint [m].
  Gate joint_gap = {"joint_gap", 0, std::numeric_limits<double>::infinity()};
  /// The joints whose torques are limited, by name, with the share of the steps in which the torque about an axis was
  /// at its limit.
  std::vector<std::pair<std::string, double>> saturation;
  /// The joints whose motors have a highest rate, by name, with the highest rate at which they turned, as a share of
  /// that.
  std::vector<std::pair<std::string, double>> speed;
  double mean_joint_error = 0;  ///< mean over time of the joint_position figure [m]
  double mean_world_error = 0;  ///< mean over time of the world_position figure [m]
  double at_end = 0;            ///< largest figure of the tolerances in the last state, as a share of its limit
  double drift = 0;             ///< horizontal distance of the root from the reference's at the end [m]; not gated
  bool success() const;
  /// Whether it stays near the reference in the world to its end, whatever the other tolerances say.
  bool near_in_world() const { return completed && world.passed(); }
  /// Whether the posture is that of the reference most of the time (kNearPosture), not only within tolerance.
  bool near_in_posture() const;
  /// Why a motion within tolerance may still be nonsense, as sentences; none: it is plausible.
  std::vector<std::string> Doubts() const;
  /// The tolerance that was left first (of several at once the first of the list), or null.
  const Gate* FirstViolated() const;
  /// The tolerance of this name, or null.
  const Gate* Find(std::string_view name) const;

  io::Json ToJson() const;
};

/// Mean distance of corresponding joints after both motions are moved to a common root position and turned to a common
/// heading: by the turn about the vertical in the rotation between the two roots, which exists in any posture.
double JointPositionError(const character::Character& character, const character::State& simulated,
                          const character::State& reference);

/// Mean distance of corresponding joints in the world [m].
double WorldPositionError(const character::Character& character, const character::State& simulated,
                          const character::State& reference);

/// How close a state is to exceeding the tolerances: the largest of its figures as a share of their limits; above 1 it
/// is outside.
double LargestGateRatio(const character::Character& character, const character::State& simulated,
                        const character::State& reference, const GateLimits& limits_of_human);

/// The figures of one state, each as a share of the character's limit.
struct GateRatios {
  double root_height = 0;
  double root_orientation = 0;
  double joint_position = 0;
  double world_position = 0;  ///< 0 where it is not judged
  double largest() const { return std::max({root_height, root_orientation, joint_position, world_position}); }
};
GateRatios ComputeGateRatios(const character::Character& character, const character::State& simulated,
                             const character::State& reference, const GateLimits& limits_of_human);

/// The same figures, to the bit, of many states that are compared with one of the reference.
class GateComparison {
 public:
  /// The character must outlive it.
  GateComparison(const character::Character& character, const character::State& reference,
                 const GateLimits& limits_of_human);
  GateRatios Ratios(const character::State& simulated) const;

 private:
  const character::Character* character_;
  GateLimits limits_;
  character::BodyState root_;   // of the reference
  std::vector<Vec3> joints_;    // (joints) of the reference, from its root [m]
  std::vector<Vec3> in_world_;  // (joints) of the reference; none where the world is not judged [m]
};

/// Compares every state of a motion with the reference at its time, part by part.
class Evaluator {
 public:
  /// Character and reference must outlive it. What is after `most_steps` is left out, also whether it diverged there.
  Evaluator(const character::Character& character, const character::ReferenceMotion& reference,
            const GateLimits& limits_of_human, size_t most_steps = std::numeric_limits<size_t>::max());

  /// The parts of a motion in their order (control::ReplayInParts), or all of it.
  void Add(const control::Trajectory& part);
  /// `expected_duration` is the duration to reach [s].
  Evaluation Finish(double expected_duration) const;

 private:
  void AddForce(const control::Trajectory& part, size_t step);
  void AddTorques(const control::Trajectory& part, size_t step);
  void AddSpeeds(const character::State& state, double time);
  void FinishSaturation(Evaluation& evaluation) const;
  void FinishSpeeds(Evaluation& evaluation) const;
  /// What the center of mass of the reference requires at most, averaged as the contact forces are [body weights].
  double RequiredForce() const;

  const character::Character& character_;
  const character::ReferenceMotion& reference_;
  size_t most_steps_;
  Gate height_;
  Gate orientation_;
  Gate joints_;
  Gate world_;
  Gate force_;
  Gate gap_;
  bool judges_world_;
  double weight_;               // [N]
  std::vector<double> forces_;  // of the latest steps, as many as the window has, round and round [N]
  double force_sum_ = 0;        // of these
  size_t num_forces_ = 0;       // so far
  /// In how many steps a servo was at its limit, and when first.
  struct AtLimit {
    size_t steps = 0;
    double first = -1;  // [s]
  };
  std::vector<AtLimit> at_limit_;     // (joints)
  std::vector<AtLimit> too_fast_;     // (joints)
  std::vector<double> fastest_;       // (joints) as a share of the motor's highest rate
  size_t torque_steps_ = 0;           // steps whose torques are known
  double most_saturation_;            // limit
  std::vector<double> joint_errors_;  // (states)
  std::vector<double> world_errors_;  // (states)
  double drift_ = 0;
  double at_end_ = 0;
  double time_step_ = 0;
  bool diverged_ = false;
};

/// The same of a whole motion.
Evaluation Evaluate(const character::Character& character, const control::Trajectory& trajectory,
                    const character::ReferenceMotion& reference, double expected_duration,
                    const GateLimits& limits_of_human);

/// Residual of Newton's law per step: sum of contact forces - mass x (center-of-mass acceleration - gravity), with the
/// acceleration as the difference of velocities over the step [N].
std::vector<double> MomentumResidual(const character::Character& character, const control::Trajectory& trajectory,
                                     double gravity);

}  // namespace retrace::metrics
