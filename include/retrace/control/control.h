/// Open-loop control: target poses over time that drive the servos of a character from a start state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/io/json.h"
#include "retrace/simulation/world.h"

namespace retrace::control {

/// Joint rotations that the servos drive at (joints).
using TargetPose = std::vector<Quat>;

/// Control over one interval between two sampling instants (Liu et al. 2010, section 3.2.1).
struct Fragment {
  int first_step = 0;  ///< simulation step at which it begins
  int num_steps = 0;
  /// Target poses at evenly spaced instants from the fragment's start to its end, interpolated between; a single one
  /// holds throughout.
  std::vector<TargetPose> targets;
};

/// Targets for the simulation step that ends `step + 1` steps after the fragment's start. `pose` must have as many
/// entries as there are joints.
void TargetsAt(const Fragment& fragment, int step, std::span<Quat> pose);

/// Everything that a replay needs besides the character.
struct OpenLoopControl {
  simulation::WorldOptions world;
  character::State start;
  std::vector<Fragment> fragments;

  int num_steps() const { return fragments.empty() ? 0 : fragments.back().first_step + fragments.back().num_steps; }
  double duration() const { return num_steps() * world.time_step; }
};

/// Simulates one fragment from `start`. The state is always set at the start of a fragment and read at its end, also
/// where the simulation simply goes on: continuing and restoring are then the same to the bit.
/// `targets` is scratch of (joints). Returns false when the simulation diverged (`end` is then undefined).
/// `observe(step)` is called after each step, when the world can be read.
template <typename Observe>
bool SimulateFragment(simulation::World& world, const character::State& start, const Fragment& fragment,
                      std::span<Quat> targets, character::State& end, const Observe& observe) {
  world.SetState(start, fragment.first_step);
  for (int step = 0; step < fragment.num_steps; ++step) {
    TargetsAt(fragment, step, targets);
    if (!world.Step(targets)) return false;
    observe(step);
  }
  world.GetState(end);
  return true;
}
inline bool SimulateFragment(simulation::World& world, const character::State& start, const Fragment& fragment,
                             std::span<Quat> targets, character::State& end) {
  return SimulateFragment(world, start, fragment, targets, end, [](int) {});
}

/// A simulated motion, step by step.
struct Trajectory {
  double time_step = 0;                                    ///< [s]
  std::vector<character::State> states;                    ///< (steps + 1), the start state first
  std::vector<std::vector<simulation::Contact>> contacts;  ///< (steps) of the step that led to states[i + 1]
  std::vector<std::vector<Vec3>> torques;                  ///< (steps x joints) of the same step [N m]
  std::vector<std::string> objects;                        ///< names of what Contact::object counts
  bool diverged = false;                                   ///< the last state is the last sane one

  size_t num_steps() const { return states.empty() ? 0 : states.size() - 1; }
};

/// A push from outside: a constant force on a body's centre of mass.
struct Push {
  int body = -1;
  Vec3 force = Vec3::Zero();  ///< in world axes [N]
  double start = 0;           ///< [s]
  double duration = 0;        ///< [s]; what falls on a part of a step acts in it by that part: the impulse is exact

  double end() const { return start + duration; }
};

/// Simulates a whole control in a new world and records everything. With pushes the motion is another one: the control
/// knows nothing of them and answers only through its servos.
Trajectory Replay(const character::Character& character, const OpenLoopControl& control,
                  std::span<const Push> pushes = {});

/// 64-bit fingerprint of all bits of a state (FNV-1a).
uint64_t Fingerprint(const character::State& state);

}  // namespace retrace::control
