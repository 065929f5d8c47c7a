/// States of a simulated motion at any time, also between its steps.
#pragma once

#include <cstddef>

#include "retrace/character/state.h"
#include "retrace/control/control.h"

namespace retrace::metrics {

/// Where a time lies among the states of a trajectory.
struct StatePlace {
  size_t before = 0;  ///< index of the last state that is not after the time
  double share = 0;   ///< of the step after it that has passed; 0: the time is that of the state
};
/// @param time [s], clamped to the trajectory, which has at least its start state. A time that misses a step by no more
/// than rounding (a millionth of a step) is that of the step.
StatePlace PlaceOf(const control::Trajectory& trajectory, double time);

/// The state at a time, free bodies of the world included. At a step it is that state to the bit; between two steps
/// positions and velocities are interpolated linearly, and orientations along the shorter arc.
void StateAt(const control::Trajectory& trajectory, double time, character::State& state);

}  // namespace retrace::metrics
