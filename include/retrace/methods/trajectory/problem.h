/// The problem of trajectory optimization: the task and the options.
#pragma once

#include "retrace/methods/trajectory/options.h"
#include "retrace/task/task.h"

namespace retrace::trajectory {

/// Immutable while the method runs; the same on every thread and rank.
struct Problem {
  task::Task task;
  Options options;
  /// Poses that the spline is offset from, at the times of the task's reference; null: those of the reference itself.
  /// Not used with Start::kZero.
  const character::ReferenceMotion* baseline = nullptr;

  double time_step() const { return task.time_step(); }
  int num_steps() const { return task.schedule.steps.back(); }
};

}  // namespace retrace::trajectory
