/// What the sampling method works on: the task, and how it is to be done.
#pragma once

#include "retrace/methods/sampling/options.h"
#include "retrace/task/task.h"

namespace retrace::sampling {

/// Immutable while the search runs; the same on every thread and rank.
struct Problem {
  task::Task task;
  Options options;
  /// Poses that target poses are offset from, at the times of the task's reference; null: those of the reference
  /// itself. A better guess of what servos must be driven at leaves less for random displacements to find.
  const character::ReferenceMotion* baseline = nullptr;

  double time_step() const { return task.time_step(); }
};

}  // namespace retrace::sampling
