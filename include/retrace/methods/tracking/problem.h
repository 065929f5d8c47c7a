/// What the tracking method works on: the task, the motion that is tracked, and how it is to be done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/methods/tracking/options.h"
#include "retrace/metrics/intervals.h"
#include "retrace/motion_editing/balancing.h"
#include "retrace/motion_editing/ballistic_flight.h"
#include "retrace/motion_editing/foot_contact.h"
#include "retrace/motion_editing/footskate.h"
#include "retrace/task/task.h"
#include "retrace/task/world_variation.h"

namespace retrace::tracking {

/// The motion that is tracked: the recorded one after footskate clean-up, put into the world, smoothed, made to fall
/// freely in flight, and balanced.
struct PreparedReference {
  character::ReferenceMotion motion;
  task::FootCleaning cleaning;   ///< what was changed at its feet; empty where they are not cleaned
  task::FootSeating seating;     ///< by how much its feet are in soft ground; empty where they are not pressed in
  task::BallisticFlight flight;  ///< how its root was moved in flight; empty where it is not
  task::Balancing balancing;     ///< how its root was moved; empty where it is not

  /// What was changed, as sentences.
  std::vector<std::string> Notes() const;
};
/// @param simulated the world's gravity and the stiffness of its contacts are used
PreparedReference PrepareReference(const character::ReferenceMotion& recorded, const task::WorldVariation& world,
                                   const simulation::WorldOptions& simulated, const Options& options);
/// The same of a motion that is in the simulated world already.
PreparedReference PrepareReference(const character::ReferenceMotion& motion, const simulation::WorldOptions& simulated,
                                   const Options& options);

/// Immutable while the method runs. What it points to must outlive it.
struct Problem {
  task::Task task;  ///< tolerances compare with its reference; its start is not used
  const character::ReferenceMotion* tracked = nullptr;
  Options options;
  std::vector<control::Push> pushes = {};       ///< that the character is to withstand
  std::vector<metrics::Interval> flights = {};  ///< of the tracked motion, in which nothing touches the ground
  std::optional<character::State> start = {};   ///< where the character is, free bodies included; none: in the motion

  double time_step() const { return task.time_step(); }
  int num_steps() const { return task.schedule.steps.back(); }
};

}  // namespace retrace::tracking
