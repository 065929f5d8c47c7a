/// What makes a tracked motion take off as its reference does. Internal to the tracking method.
#pragma once

#include <span>
#include <vector>

#include "retrace/dynamics/character_dynamics.h"
#include "retrace/methods/tracking/options.h"
#include "retrace/methods/tracking/plan.h"
#include "retrace/methods/tracking/tracked_motion.h"
#include "retrace/metrics/intervals.h"

namespace retrace::tracking {

/// In the air the center of mass falls and the angular momentum stays, whatever the joints do. So what a program of one
/// instant has to foresee of a flight is with which momenta it begins: in the last moments before it, these
/// are goals of their own, which count the more the nearer the flight is. The angular momentum is that of the flight's
/// mean: filters smear its rise, as that of the velocity, into the air, where it cannot be.
class TakeOff {
 public:
  /// What it refers to must outlive the object. @param flights of the motion, in the order of time @param gravity
  /// downwards [m/s^2]
  TakeOff(const character::Character& character, TrackedMotion& motion, std::span<const metrics::Interval> flights,
          const Options& options, double gravity);

  /// Adds the goals of an instant of the reference [s] to a program as tasks.
  void AddTasks(const dynamics::CharacterDynamics& now, const Goal& goal, double time, Dynamics& program);

 private:
  struct Flight {
    metrics::Interval interval;
    Vec3 missing = Vec3::Zero();  // angular momentum that the reference does not have yet when it begins [kg m^2/s]
  };

  const Options& options_;
  int root_;
  dynamics::CharacterDynamics reference_;
  std::vector<Flight> flights_;
};

}  // namespace retrace::tracking
