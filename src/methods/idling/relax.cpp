#include "retrace/methods/idling/relax.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/builder.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "simulator.h"

namespace retrace::idling {
namespace {

constexpr double kRestingTime = 0.5;  // at the end of the settling time in which a key must be at rest [s]

/// Repeats the last step of a relaxed key with forces.
Support SupportOf(const Problem& problem, const RelaxedKey& key) {
  simulation::World world(*problem.character, problem.world);
  world.set_recording(true);
  world.SetState(key.settled);
  std::vector<simulation::JointCommand> commands(problem.character->joints.size());
  for (size_t j = 0; j < commands.size(); ++j) commands[j].target = key.targets[j];
  world.Step(commands);
  return Support(*problem.character, world.layout(), problem.world.environment, world.contacts());
}

std::string NameOf(const Problem& problem, int object) {
  return object < 0 ? "the ground" : problem.world.environment.ObjectName(static_cast<size_t>(object));
}

}  // namespace

RelaxedKey Relax(const Problem& problem, const KeyPose& key) {
  const character::Character& character = *problem.character;
  RelaxedKey relaxed;
  relaxed.name = key.name;
  relaxed.targets = key.pose.joint_rotations;
  character::State start;
  character::ForwardKinematics(character, key.pose, start);
  for (character::BodyState& body : start) body.linear_velocity = body.angular_velocity = Vec3::Zero();
  problem.world.environment.AppendStart(start);
  Simulator simulator(problem);
  const int steps = simulator.StepsOf(problem.options.settling_time);
  const int resting = std::min(steps, simulator.StepsOf(kRestingTime));
  int step = 0;
  const bool sane = simulator.Run(start, relaxed.targets, {relaxed.targets, steps}, 0, relaxed.settled,
                                  [&](const character::State& state, std::span<const simulation::Contact>) {
                                    if (++step > steps - resting) {
                                      relaxed.joint_rate = std::max(relaxed.joint_rate, JointRate(character, state));
                                    }
                                    return true;
                                  });
  const std::string place = key.place + " (" + key.name + ")";
  if (!sane) {
    throw InputError(
        place, "a pose from which the simulation diverges after " + io::Fixed(step * problem.world.time_step, 2) + " s",
        "one that the furniture can hold, no body deep inside another");
  }
  const auto root = static_cast<size_t>(character.root);
  const double away = (relaxed.settled[root].position - key.pose.root_position).norm();
  if (away > problem.options.settling_limit) {
    throw InputError(place,
                     "a pose that comes to rest with its root " + io::Fixed(away, 2) + " m away, at a height of " +
                         io::Fixed(relaxed.settled[root].position.y(), 2) + " m",
                     "one that the world holds within " + io::Fixed(problem.options.settling_limit, 2) +
                         " m: is its furniture there?");
  }
  relaxed.at_rest = relaxed.joint_rate < problem.options.rest_rate;
  return relaxed;
}

Support FindSupport(const Problem& problem, const std::vector<RelaxedKey>& keys) {
  Support support = SupportOf(problem, keys.front());
  for (size_t k = 1; k < keys.size(); ++k) {
    const int object = SupportOf(problem, keys[k]).object();
    if (object == support.object()) continue;
    throw InputError(problem.keys[k].place + " (" + keys[k].name + ")",
                     "a pose that rests on " + NameOf(problem, object),
                     "one on " + NameOf(problem, support.object()) + ", as the first key");
  }
  return support;
}

}  // namespace retrace::idling
