#include "retrace/control/control.h"

#include <algorithm>
#include <cstring>

#include "retrace/math/rotation.h"

namespace retrace::control {

void TargetsAt(const Fragment& fragment, int step, std::span<Quat> pose) {
  const size_t last = fragment.targets.size() - 1;
  if (last == 0) {
    std::copy(fragment.targets[0].begin(), fragment.targets[0].end(), pose.begin());
    return;
  }
  const double x = static_cast<double>(step + 1) / fragment.num_steps * static_cast<double>(last);
  const size_t knot = std::min(static_cast<size_t>(x), last - 1);
  const double t = x - static_cast<double>(knot);
  const TargetPose& a = fragment.targets[knot];
  const TargetPose& b = fragment.targets[knot + 1];
  for (size_t j = 0; j < pose.size(); ++j) pose[j] = Nlerp(a[j], b[j], t);
}

namespace {

/// Forces of the pushes in the step from `time` to `time + h` (bodies).
void ForcesOf(std::span<const Push> pushes, double time, double h, std::span<Vec3> forces) {
  std::fill(forces.begin(), forces.end(), Vec3::Zero());
  for (const Push& push : pushes) {
    const double shared = std::min(time + h, push.end()) - std::max(time, push.start);
    if (shared > 0) forces[static_cast<size_t>(push.body)] += push.force * std::min(1.0, shared / h);
  }
}

}  // namespace

Trajectory Replay(const character::Character& character, const OpenLoopControl& control, std::span<const Push> pushes) {
  simulation::World world(character, control.world);
  world.set_recording(true);
  Trajectory trajectory;
  trajectory.time_step = control.world.time_step;
  const simulation::Environment& environment = control.world.environment;
  for (size_t i = 0; i < environment.num_objects(); ++i) trajectory.objects.push_back(environment.ObjectName(i));
  trajectory.states.push_back(control.start);
  std::vector<Quat> targets(character.joints.size());
  std::vector<Vec3> forces(character.bodies.size());
  character::State state = control.start;
  for (const Fragment& fragment : control.fragments) {
    world.SetState(state, fragment.first_step);
    for (int step = 0; step < fragment.num_steps; ++step) {
      TargetsAt(fragment, step, targets);
      if (!pushes.empty()) {
        ForcesOf(pushes, static_cast<double>(trajectory.num_steps()) * trajectory.time_step, trajectory.time_step,
                 forces);
        world.SetForces(forces);
      }
      if (!world.Step(targets)) {
        trajectory.diverged = true;
        return trajectory;
      }
      world.GetState(state);
      trajectory.states.push_back(state);
      trajectory.contacts.push_back(world.contacts());
      trajectory.torques.push_back(world.torques());
    }
  }
  return trajectory;
}

uint64_t Fingerprint(const character::State& state) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(state.data());
  for (size_t i = 0; i < state.size() * sizeof(character::BodyState); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace retrace::control
