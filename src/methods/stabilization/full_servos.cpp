#include "retrace/methods/stabilization/full_servos.h"

#include <algorithm>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::stabilization {
namespace {

constexpr size_t kStepsPerPart = 240;

/// What a joint did in a step, as a command. With the rotation q that its servo drives at and the rate w at the end of
/// the step, both in the axes of the parent at its beginning, the torque of a servo is kp (log q - h w) - kd w.
simulation::JointCommand CommandOf(const character::Joint& joint, const character::State& before,
                                   const character::State& after, const Vec3& torque, double time_step) {
  simulation::JointCommand command;
  command.target = character::JointRotation(joint, after).normalized();
  const Quat rotation = character::JointRotation(joint, before);
  const Vec3 error = joint.PerAxis(RotationVector(command.target * rotation.conjugate()));
  const auto parent = static_cast<size_t>(joint.parent), child = static_cast<size_t>(joint.child);
  const Vec3 rate = joint.PerAxis(before[parent].orientation.conjugate() *
                                  Vec3(after[child].angular_velocity - after[parent].angular_velocity));
  const Vec3 servo = joint.strength_scale.cwiseProduct(joint.kp * (error - time_step * rate) - joint.kd * rate);
  for (int a = 0; a < 3; ++a) {
    if (joint.UsesAxis(a)) command.torque[a] = torque[a] - servo[a];
  }
  return command;
}

}  // namespace

bool MayHaveWeakServos(const control::OpenLoopControl& control) {
  return std::any_of(control.fragments.begin(), control.fragments.end(),
                     [](const control::Fragment& fragment) { return fragment.has_commands(); });
}

std::vector<control::Fragment> WithFullServos(const character::Character& character,
                                              const control::OpenLoopControl& control,
                                              std::span<const control::Push> pushes) {
  std::vector<control::Fragment> fragments;
  for (const control::Fragment& fragment : control.fragments) {
    fragments.push_back({fragment.first_step, fragment.num_steps, {}, {}});
  }
  size_t current = 0;
  control::ReplayInParts(
      control::MakeScene(character, control), pushes, kStepsPerPart, [&](const control::Trajectory& part) {
        for (size_t i = 0; i < part.num_steps(); ++i) {
          while (static_cast<int>(fragments[current].commands.size()) == fragments[current].num_steps) ++current;
          std::vector<simulation::JointCommand>& commands = fragments[current].commands.emplace_back();
          for (size_t j = 0; j < character.joints.size(); ++j) {
            commands.push_back(
                CommandOf(character.joints[j], part.states[i], part.states[i + 1], part.torques[i][j], part.time_step));
          }
        }
      });
  return fragments;
}

}  // namespace retrace::stabilization
