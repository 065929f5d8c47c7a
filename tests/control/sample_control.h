/// Controls with random contents, and one that can be simulated.
#pragma once

#include <cstring>

#include "character/sample_human.h"
#include "retrace/control/control.h"

namespace retrace::control {

using character::Human;

inline TargetPose RandomTargets(RandomStream& random) {
  TargetPose pose;
  for (size_t j = 0; j < Human().joints.size(); ++j) pose.push_back(character::RandomRotation(random));
  return pose;
}

inline character::State RandomState(RandomStream& random) {
  character::State state = character::StateOf(Human(), character::RandomPose(Human(), random));
  for (character::BodyState& body : state) {
    body.linear_velocity = character::RandomVector(random, 5);
    body.angular_velocity = character::RandomVector(random, 10);
  }
  return state;
}

/// Fragments of uneven lengths with one, two or more target poses each.
inline OpenLoopControl RandomControl(RandomStream& random, int fragments) {
  OpenLoopControl control;
  control.world.time_step = random.Uniform(1e-4, 0.01);
  control.world.friction = random.Uniform();
  control.start = RandomState(random);
  int step = 0;
  for (int f = 0; f < fragments; ++f) {
    Fragment fragment;
    fragment.first_step = step;
    fragment.num_steps = 1 + static_cast<int>(random.Uniform(0, 40));
    step += fragment.num_steps;
    const int knots = 1 + static_cast<int>(random.Uniform(0, 4));
    for (int k = 0; k < knots; ++k) fragment.targets.push_back(RandomTargets(random));
    control.fragments.push_back(fragment);
  }
  return control;
}

/// Puts commands of each step instead of a fragment's targets.
inline void AddCommands(RandomStream& random, Fragment& fragment) {
  fragment.targets.clear();
  fragment.commands.resize(static_cast<size_t>(fragment.num_steps));
  for (std::vector<simulation::JointCommand>& step : fragment.commands) {
    for (const Quat& target : RandomTargets(random)) {
      step.push_back({target, character::RandomVector(random, 30), random.Uniform(0, 2)});
    }
  }
}

/// Standing in the rest pose on strong ankles for a while, in fragments of a tenth of a second.
inline OpenLoopControl Standing(int fragments) {
  OpenLoopControl control;
  control.world.contact_scale = Human().contact_presets.at("flight");
  control.start = character::StateOf(Human(), character::RestPose(Human()));
  const int steps = static_cast<int>(std::lround(0.1 / control.world.time_step));
  for (int f = 0; f < fragments; ++f) {
    control.fragments.push_back({f * steps, steps, {TargetPose(Human().joints.size(), Quat::Identity())}});
  }
  return control;
}

inline bool SameBits(const character::State& a, const character::State& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(character::BodyState)) == 0;
}

}  // namespace retrace::control
