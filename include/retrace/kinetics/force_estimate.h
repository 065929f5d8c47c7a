/// The best estimate of the forces on a person from a recorded motion alone: inverse dynamics, and what is known of how
/// people load their feet where the laws of motion leave it open.
///
/// Newton's and Euler's laws on the whole character give the force and the moment that it needs from outside. Of all
/// forces at the points of support that push, stay within the friction pyramid and come near to that, those are taken
/// that cost least:
///
///  - A point costs the square of its force; more the higher it is over the ground and the faster it moves.
///  - What a force has across the line from its point to a pivot above the center of mass costs more than what it has
///    along that line: forces on the feet of people that walk, stand or squat meet near such a point (the virtual pivot
///    point of Maus et al. 2010). It divides the load between two feet where Newton's law does not.
///  - What is required but not supplied costs in proportion to how well it is known: accelerations of a recording have
///    errors, which are no reason to press on the edge of a foot.
///
/// What is found so is looked at along time and found once more, because errors of accelerations at one instant show
/// beside the others: the center of pressure moves under a foot steadily, and while a walker stands on both feet the
/// load goes over evenly from the one that will leave to the one that has landed.
///
/// Feet bend at the ball: their toes stay on the ground when the heel rises. What is required is smoothed before it is
/// divided, lateral forces and moments more than the others.
///
/// The constants were chosen on the public trials of scripts/experiments/forces; nothing is fitted to a measurement
/// when it is used.
#pragma once

#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/kinetics/foot_model.h"
#include "retrace/metrics/required_forces.h"
#include "retrace/simulation/environment.h"

namespace retrace::kinetics {

struct ForceEstimateOptions {
  double gravity = kStandardGravity;         ///< downwards [m/s^2]
  double friction = 0.8;                     ///< of the ground and of all that stands on it
  simulation::Environment environment = {};  ///< ground, steps, seats; moving boxes as they are at time 0
  /// How well what is required is known; standard deviations, as shares of body weight and of body weight times 1 m.
  Vec3 force_error = {0.02, 0.01, 0.02};
  Vec3 moment_error = {0.014, 0.014, 0.014};
  double pivot_height = 0.4;  ///< of the pivot over the center of mass [m]
  double across = 30;         ///< cost of a force across the line to the pivot, over that of one along it
  double load = 20;           ///< cost of the square of a force at one point, in body weights
};

/// At every pose but the first and the last, in the form of metrics::RequiredForcesOf. What is required and not
/// supplied is in `missing_force` and `missing_moment`. Bodies that are no feet are supported by their own shapes: a
/// pelvis and thighs by a seat. Centers of pressure lie on what bears.
/// Throws std::invalid_argument for options that are not finite or negative.
std::vector<metrics::RequiredForces> EstimateForces(const character::ReferenceMotion& reference,
                                                    const std::vector<FootModel>& feet,
                                                    const ForceEstimateOptions& options = {});

/// Inverse dynamics with measured forces instead of estimated ones, as laboratories do it: the torques of the
/// joints follow from them and from the motion. What motion and forces disagree about is in `missing_force` and
/// `missing_moment`: the residuals.
/// @param measured (poses) of the feet that carry something
std::vector<metrics::RequiredForces> ApplyForces(const character::ReferenceMotion& reference,
                                                 const std::vector<std::vector<metrics::SupportForce>>& measured,
                                                 double gravity = kStandardGravity);

}  // namespace retrace::kinetics
