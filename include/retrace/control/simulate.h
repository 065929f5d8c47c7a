/// The loop that simulates characters under their controllers. All simulation of controls goes through it.
#pragma once

#include <span>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/control/controller.h"
#include "retrace/simulation/world.h"

namespace retrace::control {

/// A push from outside: a constant force on a body's centre of mass.
struct Push {
  int body = -1;              ///< of the world (simulation::Layout); free bodies can be pushed, too
  Vec3 force = Vec3::Zero();  ///< in world axes [N]
  double start = 0;           ///< [s]
  double duration = 0;        ///< [s]; what falls on a part of a step acts in it by that part: the impulse is exact

  double end() const { return start + duration; }
};

/// Gives the world the forces of the step from `time` to `time + h`.
void ApplyPushes(std::span<const Push> pushes, double time, double h, simulation::World& world);

/// Memory of a simulation that the next one can use again.
struct SimulationScratch {
  std::vector<simulation::JointCommand> commands;  // (joints)
  character::State state;
};

/// Simulates `num_steps` steps from the state that the world is in, which step number `first_step` takes on. There is
/// one controller for each character of the world. `observe(step)` is called after each step, when the world can be
/// read. Returns false when the simulation diverged.
template <typename Observe>
bool Simulate(simulation::World& world, std::span<Controller* const> controllers, int first_step, int num_steps,
              std::span<const Push> pushes, SimulationScratch& scratch, const Observe& observe) {
  const simulation::Layout& layout = world.layout();
  const double h = world.options().time_step;
  scratch.commands.assign(layout.num_joints(), simulation::JointCommand());
  bool uses_state = false;
  for (const Controller* controller : controllers) uses_state = uses_state || controller->UsesState();
  for (int step = first_step; step < first_step + num_steps; ++step) {
    for (size_t c = 0; c < controllers.size() && step > first_step; ++c) {
      if (controllers[c]->RestartsAt(step)) world.Restart(c);
    }
    if (uses_state) world.GetState(scratch.state);
    for (size_t c = 0; c < controllers.size(); ++c) {
      controllers[c]->Command({step, step * h, scratch.state, layout, c},
                              layout.JointsOf(std::span(scratch.commands), c));
    }
    if (!pushes.empty()) ApplyPushes(pushes, step * h, h, world);
    if (!world.Step(scratch.commands)) return false;
    observe(step);
  }
  return true;
}

/// Simulates one fragment of a world's only character from `start`. Returns false when the simulation diverged (`end`
/// is then undefined). `observe(step)` counts from the start of the fragment.
template <typename Observe>
bool SimulateFragment(simulation::World& world, const character::State& start, const Fragment& fragment,
                      SimulationScratch& scratch, character::State& end, const Observe& observe) {
  world.SetState(start, fragment.first_step);
  OpenLoop open_loop({&fragment, 1});
  Controller* const controller = &open_loop;
  if (!Simulate(world, {&controller, 1}, fragment.first_step, fragment.num_steps, {}, scratch,
                [&](int step) { observe(step - fragment.first_step); })) {
    return false;
  }
  world.GetState(end);
  return true;
}
inline bool SimulateFragment(simulation::World& world, const character::State& start, const Fragment& fragment,
                             SimulationScratch& scratch, character::State& end) {
  return SimulateFragment(world, start, fragment, scratch, end, [](int) {});
}

}  // namespace retrace::control
