/// What the sampling method works on: the task, and how it is to be done.
#pragma once

#include <vector>

#include "retrace/control/fragment.h"
#include "retrace/methods/sampling/options.h"
#include "retrace/task/task.h"

namespace retrace::sampling {

/// Another character that is in the world, whose control is given.
struct CoSimulated {
  const character::Character* character = nullptr;
  std::vector<control::Fragment> fragments = {};  ///< by the steps of the task
};

/// Immutable while the search runs; the same on every thread and rank.
struct Problem {
  task::Task task;
  Options options;
  /// Poses that target poses are offset from, at the times of the task's reference; null: those of the reference
  /// itself. A better guess of what servos must be driven at leaves less for random displacements to find.
  const character::ReferenceMotion* baseline = nullptr;

  /// Their bodies come after those of the task's character in its start state, and their joints in the contact scale of
  /// its world. Each is restored like that character at the beginning of a fragment. Where they are to move with the
  /// same bytes in a replay, their controls last as long as the task, and are cut there (control::SplitAt).
  std::vector<CoSimulated> companions = {};

  double time_step() const { return task.time_step(); }
};

}  // namespace retrace::sampling
