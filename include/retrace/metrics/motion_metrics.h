/// Figures of one simulated motion against its reference, by the definitions of the field, and the three levels of
/// success that follow from them.
///
/// Where a formula has published variants, the one used here is stated. "Joints" are the character's joints without the
/// root; "bodies" are the centers of mass of all bodies. Means and maxima run over every simulated state, and over
/// those alone: a motion that diverged is measured up to there. Meters, seconds, radians, y up.
#pragma once

#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"

namespace retrace::metrics {

/// What the height of the center of mass is allowed: motions on the feet and in flight, or motions on the ground.
enum class MotionClass { kOnFeet, kOnGround };

/// Rates at which the published figures are defined [1/s].
inline constexpr double kPositionRate = 30;  ///< velocity_error, acceleration_error, jerk_ratio_30
inline constexpr double kJerkRate = 60;      ///< jerk_ratio
inline constexpr double kSkateRate = 20;     ///< skate_ratio

/// A Gaussian low-pass whose gain is 1/sqrt(2) here: force_error [Hz].
inline constexpr double kForceCutoff = 20;

/// Sinking into the floor, into the height field or a fixed box of the world. SMPLSim (mean depth) and
/// OmniRetarget/holosoma (share and maximum). NaN in a world with moving boxes.
struct Penetration {
  double mean = 0;   ///< over states, of the depth of the deepest point of the body, 0 when none is under the floor [m]
  double share = 0;  ///< of states in which that depth is over kVisiblePenetration
  double largest = 0;  ///< [m]
};
inline constexpr double kVisiblePenetration = 0.01;  ///< [m]

struct MotionMetrics {
  /// JointPositionError of gates.h, mean over states: root position and heading removed in each. What the tolerances
  /// use [m].
  double joint_error = 0;
  double world_error = 0;  ///< G-MPJPE: mean distance of joints in the world [m] (SMPLSim, PHC)
  /// The largest of a state of the same distance [m]: learned trackers count a motion as a success where it stays below
  /// 0.5 m (Evaluation::near_in_world).
  double largest_world_error = 0;
  double local_error = 0;  ///< MPJPE, root-relative: root position removed, heading not [m] (SMPLSim, PHC)
  /// Mean distance of joints after a turn about the vertical and a horizontal shift bring the roots together in each
  /// state: height counts [m]. UHC and PHC measure in the world; an open-loop motion drifts there.
  double aligned_error = 0;
  double largest_body_error = 0;  ///< the same, largest over bodies and states [m]
  /// The same alignment, but only at the start of each second: mean distance of joints within it [m].
  double segment_drift = 0;
  double drift = 0;  ///< horizontal distance of the root from the reference's at the end [m]
  /// E_vel: mean over joints of the difference of displacements between frames at kPositionRate, in the world
  /// [m/frame]; times kPositionRate it is a speed (SMPLSim, PHC). NaN for motions of less than two frames.
  double velocity_error = 0;
  double acceleration_error = 0;  ///< E_acc: the same of second differences [m/frame^2]
  double root_angle_error = 0;    ///< mean angle between root orientations, heading included [rad]
  /// Mean over time of sum_j | third derivative of joint rotation j |, of the simulation over that of the reference
  /// (SBTO uses second derivatives). Both are sampled at kJerkRate and not filtered; the derivative is the second
  /// difference of the joint's angular velocity, which is the rotation vector of the turn between two samples over
  /// their distance. The figure depends on the rate: references have passed a filter of 25 ms and have nothing to add
  /// above 30 Hz, simulations have (4.2, 7.0 and 14.5 at 30, 60 and 120 Hz for one walk). At 60 Hz the jerks of control
  /// fragments (0.1 s) show in full and the contact noise of single steps is not magnified; jerk_ratio_30 is the same
  /// at kPositionRate, to be compared with figures from motions of that rate. NaN when the reference does not move.
  double jerk_ratio = 0;
  double jerk_ratio_30 = 0;
  /// Noise-to-signal ratio, % (after Liu et al. 2015): 100 sum_j var(log(reference_j^-1 simulated_j)) /
  /// sum_j var(log(reference_j)), over joints alone: the root, whose yaw would have to be removed and has none when
  /// upside down, has figures of its own. var is the mean squared distance from the mean. NaN when the reference does
  /// not move.
  double noise_to_signal = 0;
  /// Skating ratio (GMD, OmniControl) of simulation and reference: share of intervals at kSkateRate in which a foot is
  /// lower than 0.05 m at both ends and slides at more than 0.5 m/s, at that instant and as a mean over five intervals.
  /// As there, where it is the toe joint, the height and the horizontal speed are those of one point of the foot: the
  /// ball, on the sole at 70 % of its length. The foot's lowest point would not do: a heel passes low over the floor
  /// while the foot swings, and 3/4 of a good recorded walk would be skating. The height is that over what is under the
  /// ball in the world, free bodies aside. NaN for motions of less than two frames, and in a world with moving boxes.
  double skate_ratio = 0;
  double reference_skate_ratio = 0;
  Penetration penetration;
  Penetration reference_penetration;
  std::vector<double> torque_rms;  ///< (joints) [N m]
  double torque_peak = 0;          ///< largest of a joint [N m]
  /// Root of the mean square of what the vertical force of the ground and of objects on the character differs from what
  /// the reference's center of mass requires (Newton), as a share of the weight. Both pass the low-pass of
  /// kForceCutoff; accelerations of the reference are second differences over 1/kJerkRate. A motion that is right to
  /// the millimeter can have forces that jump: this is what a force plate would show. NaN for motions of less than four
  /// frames at kJerkRate.
  double force_error = 0;
  double force_peak = 0;  ///< largest vertical force of a single step, as a multiple of the weight
  /// F1 of contact labels, over end effectors: a foot or hand is in contact when the ground or an object pushes it
  /// (simulation) and by Touches on what is fixed in the world (reference); labels within 0.05 s of one another agree.
  /// NaN without contacts, and in a world with moving boxes.
  double contact_agreement = 0;
  double com_height_error = 0;  ///< largest, of the center of mass [m] (PKU's tolerance)
  /// Largest horizontal error of the center of mass relative to the root, after the headings were brought together [m].
  /// (PKU's tolerance is on the center of mass in the facing frame.)
  double com_facing_error = 0;
  /// Largest angle between the trunks' orientations, heading removed, at 1/4, 1/2, 3/4 and the end of the reference, as
  /// far as simulated [rad]. The trunk is the body of the segment "trunk", else the root.
  double quarter_trunk_error = 0;

  io::Json ToJson(const character::Character& character) const;
};

/// Compares a trajectory of at least one state with its reference. `world` is what both are in: skating and sinking
/// are over and into it. `gravity` points down [m/s^2].
MotionMetrics MeasureMotion(const character::Character& character, const control::Trajectory& trajectory,
                            const character::ReferenceMotion& reference, const simulation::Environment& world = {},
                            double gravity = kStandardGravity);

/// Limits of the loose and of the strict level. The main level has GateLimits.
struct LevelLimits {
  // Loose. Shares of the body height (PKU: 0.07 and 0.2 for locomotion; 0.15 for motions on the ground is ours).
  double com_height_on_feet = 0.07;
  double com_height_on_ground = 0.15;
  double com_facing = 0.2;
  double quarter_trunk = 60 * (3.14159265358979323846 / 180);  ///< [rad]
  // Strict, besides the tolerances.
  double body_position = 0.5;          ///< largest_body_error [m] (UHC's number, PHC's stricter reading of it)
  double skate_over_reference = 0.05;  ///< how much the skate ratio may exceed the reference's
  double penetration_share = 0.05;
  double penetration_depth = 0.04;  ///< [m]
};

/// Three notions of success.
///
/// Loose: did it fall over or fail to turn over (what Liu et al. 2010 count): completed, center of mass at the right
/// height and over the right part of the body, trunk turned as it should be at each quarter. Its numbers are published
/// ones and not weaker than the tolerances in every respect: the center of mass of a walker must keep its height within
/// 7 % of the body height, where the tolerances allow the root 0.25 m. A run can thus be a success without being a
/// loose one. Main: the tolerances (Evaluation::success). Strict: the tolerances, and no body far off, no skating and
/// no sinking in.
struct SuccessLevels {
  bool loose = false;
  bool main = false;
  bool strict = false;
  bool world = false;  ///< Evaluation::near_in_world, the success criterion of PHC and others
};

/// A figure that is not a number fails no limit: nothing was there to measure.
SuccessLevels JudgeLevels(const Evaluation& evaluation, const MotionMetrics& metrics, MotionClass motion_class,
                          double body_height, const LevelLimits& limits = {});

}  // namespace retrace::metrics
