/// What keeps a slow motion on its feet. Internal to the tracking method.
#pragma once

#include <span>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/methods/tracking/options.h"
#include "retrace/methods/tracking/plan.h"
#include "retrace/methods/tracking/tracked_motion.h"
#include "retrace/metrics/intervals.h"

namespace retrace::tracking {

/// In a brisk walk the body falls from one foot onto the other, and the next step absorbs an error. A body that sneaks
/// or stands on one leg must keep the center of mass over a sole some centimeters wide for as long as the reference
/// does: an error that grows for half a second is beyond what the sole can push. So in slow motions the horizontal
/// acceleration of the center of mass is a goal of its own, with feedback on its distance from the standing feet.
class SlowBalance {
 public:
  /// @param character must outlive the object @param flights of the reference, in the order of time @param gravity
  /// downwards [m/s^2]
  SlowBalance(const character::Character& character, const character::ReferenceMotion& reference,
              std::span<const metrics::Interval> flights, const Options& options, double gravity);

  /// From 0, where the reference is fast, flies or will soon fly, to 1, where it is slow.
  double SlownessAt(double time) const;

  /// Adds the goal of an instant of the reference [s] to a program.
  /// @param distance_error FootPlacement::distance_error @param surface_velocity of what the character stands on [m/s]
  void AddTask(const dynamics::CharacterDynamics& now, const Goal& goal, double time, const Vec3& distance_error,
               const Vec3& surface_velocity, Dynamics& program);

 private:
  const Options& options_;
  double mass_;  // [kg]
  dynamics::CharacterDynamics reference_;
  std::vector<double> slowness_;  // each kBetween
  Eigen::MatrixXd momentum_;      // (6 x n)
};

}  // namespace retrace::tracking
