/// What the exports have in common: the motion that they write, and its frames at a rate of their own.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/control.h"

namespace retrace::exports {

/// A simulated motion of one character with all that an export writes of it. What it refers to must outlive it.
struct ExportedMotion {
  const character::Character& character;
  const control::OpenLoopControl& control;  ///< its world is the one that was simulated
  const control::Trajectory& trajectory;    ///< as control::TrajectoryOf has it; at least the start state
  std::string name;                         ///< of the motion, for what has a title

  /// Layout of the trajectory's states.
  simulation::Layout layout() const { return {character, control.world.environment}; }

  double duration() const { return static_cast<double>(trajectory.num_steps()) * trajectory.time_step; }  ///< [s]
};

/// Number of frames k / rate, k = 0, 1, ..., that a motion of that duration has: the last is not after its end.
int NumFrames(double duration, double rate);

/// States at the times k / rate [s], free bodies of the world included. A frame that falls on a simulation step is that
/// state to the bit; between two steps positions and velocities are mixed, and orientations along the shorter arc.
/// @param rate frames per second, > 0
std::vector<character::State> FramesAt(const control::Trajectory& trajectory, double rate);

/// Index of the step whose contacts and torques stand at frame k: that which led to the state at the frame's time, or
/// to the next one where that is between two; -1 at the start, which no step led to.
int StepOfFrame(const control::Trajectory& trajectory, double rate, int frame);

/// World position of each joint, as the parent body has it (joints) [m].
std::vector<Vec3> JointPositions(const character::Character& character, const character::State& state);

/// Where the moving boxes of the world, fixed ones included, have their centers at a time (boxes) [m].
std::vector<Vec3> BoxPositions(const simulation::Environment& environment, double time);

}  // namespace retrace::exports
