/// Forces of a motion as tables, with the band of several controls of one recording: CSV as of tables.h, a row per
/// state. Each quantity has three columns: NAME of the motion itself, NAME_min and NAME_max over all controls. What is
/// low-passed has the cut-off in its name, NAME_20Hz, NAME_20Hz_min, NAME_20Hz_max, and in the name of its table; all
/// else is as it was simulated.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "retrace/metrics/force_comparison.h"
#include "retrace/metrics/ground_forces.h"

namespace retrace::results {

/// Cut-off of the low-passed tables [Hz].
inline constexpr double kTableCutoff = 20;

/// Quantities over the states of a motion.
struct Channels {
  std::vector<std::string> names;
  Eigen::MatrixXd values;  ///< (states x names); NaN: there is none
};

/// Channels of each control; those of the motion itself are `controls[motion]`.
struct BandedChannels {
  std::vector<Channels> controls;  ///< with the same names; a control that ends early has fewer states
  size_t motion = 0;
};

/// total_force_x .. total_force_z; for each foot and each other body that anything touches BODY_force_x .. BODY_force_z
/// [N], BODY_center_x .. BODY_center_z: center of pressure [m], BODY_free_moment: about the vertical through it [N m].
/// @param cutoff of a low-pass [Hz]; 0: none. A low-passed center of pressure is that of the low-passed forces, where
/// the vertical force is more than 5 % of body weight.
Channels GroundForceChannels(const character::Character& character, const metrics::GroundForces& ground,
                             double time_step, double cutoff);

/// PART_vertical, PART_fore_aft, PART_lateral [N] of the parts total, left and right, in the directions of
/// metrics::CompareForces.
/// @param heading metrics::MeasurementPlace::heading
Channels FootForceChannels(const metrics::FootForces& forces, const character::ReferenceMotion& reference,
                           double heading, double time_step, double cutoff);

/// Columns of each joint: JOINT_x, JOINT_y, JOINT_z: the servo's torque on the child, in the parent's axes [N m] (a
/// hinge has its axis only), and JOINT_power: what it does to the two bodies, with the mean rate of the step [W].
Channels JointLoadChannels(const character::Character& character, const control::Trajectory& trajectory);

/// The same through a low-pass [Hz]; 0: as they are.
Channels LowPassed(const Channels& channels, double time_step, double cutoff);

/// The table. @param measured columns NAME_measured of the same names, empty where they are NaN; null: none
std::string FormatBands(const BandedChannels& bands, double time_step, double cutoff,
                        const Channels* measured = nullptr);

/// force_comparison.csv: source, low_pass (raw, 20Hz, ...), part, component, rmse_percent, rrmse_percent, r,
/// peak_percent, impulse_percent (metrics::ForceFigures); empty where there is none.
std::string FormatForceComparison(const metrics::ForceComparison& comparison);

}  // namespace retrace::results
