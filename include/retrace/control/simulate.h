/// The loop that simulates characters under their controllers. All simulation of controls goes through it.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/control/controller.h"
#include "retrace/simulation/world.h"
#include "retrace/simulation/world_lanes.h"

namespace retrace::control {

/// A push from outside: a constant force on a body's center of mass.
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

/// One of several fragments that are simulated side by side.
struct FragmentRun {
  const character::State* start = nullptr;
  const Fragment* fragment = nullptr;
  character::State* end = nullptr;  ///< becomes the state at the end; undefined where the simulation diverged
  bool diverged = false;
};

/// Memory of simulations side by side that the next ones can use again.
struct LanesScratch {
  std::vector<OpenLoop> open_loops;                                  // (runs)
  std::vector<std::vector<simulation::JointCommand>> commands;       // (runs) (joints)
  std::vector<std::span<const simulation::JointCommand>> of_worlds;  // (lanes)
  std::unique_ptr<bool[]> moving;                                    // (lanes)
};

/// The same as SimulateFragment for each of the runs, at most as many as the worlds have lanes, whose fragments have
/// the same steps. `observe(run, step)` is called after each step of a run that has not diverged.
template <typename Observe>
void SimulateFragments(simulation::WorldLanes& worlds, std::span<FragmentRun> runs, LanesScratch& scratch,
                       const Observe& observe) {
  const size_t lanes = worlds.num_lanes();
  const simulation::Layout& layout = worlds.world(0).layout();
  const double h = worlds.world(0).options().time_step;
  const int first_step = runs.front().fragment->first_step;
  const int num_steps = runs.front().fragment->num_steps;
  static const character::State no_state;  // an open loop reads none
  scratch.open_loops.clear();
  scratch.commands.resize(lanes);
  scratch.of_worlds.assign(lanes, {});
  if (!scratch.moving) scratch.moving = std::make_unique<bool[]>(lanes);
  const std::span<bool> moving(scratch.moving.get(), lanes);
  std::fill(moving.begin(), moving.end(), false);
  for (size_t r = 0; r < runs.size(); ++r) {
    worlds.world(r).SetState(*runs[r].start, first_step);
    scratch.open_loops.emplace_back(std::span(runs[r].fragment, 1));
    scratch.commands[r].assign(layout.num_joints(), simulation::JointCommand());
    scratch.of_worlds[r] = scratch.commands[r];
    moving[r] = true;
  }
  for (int step = first_step; step < first_step + num_steps; ++step) {
    for (size_t r = 0; r < runs.size(); ++r) {
      if (moving[r]) scratch.open_loops[r].Command({step, step * h, no_state, layout, 0}, scratch.commands[r]);
    }
    worlds.Step(scratch.of_worlds, moving);
    for (size_t r = 0; r < runs.size(); ++r) {
      if (moving[r]) observe(r, step - first_step);
    }
  }
  for (size_t r = 0; r < runs.size(); ++r) {
    runs[r].diverged = !moving[r];
    if (moving[r]) worlds.world(r).GetState(*runs[r].end);
  }
}

}  // namespace retrace::control
