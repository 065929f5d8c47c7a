#include "retrace/metrics/gates.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::metrics {

using character::Character;
using character::State;

GateLimits GateLimits::Of(const Character& character) const {
  const double size = character.height / kHumanHeight;
  return {root_height * size, root_orientation, joint_position * size};
}

io::Json GateLimits::ToJson() const {
  return {{"root_height", root_height},
          {"root_orientation_degrees", Degrees(root_orientation)},
          {"joint_position", joint_position}};
}

bool Evaluation::success() const {
  return completed && std::all_of(gates.begin(), gates.end(), [](const Gate& gate) { return gate.passed(); });
}

const Gate* Evaluation::FirstViolated() const {
  const Gate* first = nullptr;
  for (const Gate& gate : gates) {
    if (!gate.passed() && (first == nullptr || gate.first_violation < first->first_violation)) first = &gate;
  }
  return first;
}

io::Json Evaluation::ToJson() const {
  io::Json json;
  json["success"] = success();
  json["completed"] = completed;
  json["simulated_duration"] = simulated_duration;
  for (const Gate& gate : gates) {
    io::Json entry = {{"passed", gate.passed()}, {"worst", gate.worst}, {"limit", gate.limit}};
    if (!gate.passed()) entry["first_violation"] = gate.first_violation;
    json["gates"][gate.name] = entry;
  }
  json["mean_joint_error"] = mean_joint_error;
  json["drift"] = drift;
  return json;
}

double JointPositionError(const Character& character, const State& simulated, const State& reference) {
  const auto& a = simulated[static_cast<size_t>(character.root)];
  const auto& b = reference[static_cast<size_t>(character.root)];
  const Quat heading = Heading(a.orientation * b.orientation.conjugate());
  double sum = 0;
  for (const auto& joint : character.joints) {
    const Vec3 p = character::JointPosition(character, joint, simulated) - a.position;
    const Vec3 q = character::JointPosition(character, joint, reference) - b.position;
    sum += (p - heading * q).norm();
  }
  return sum / static_cast<double>(character.joints.size());
}

GateRatios ComputeGateRatios(const Character& character, const State& simulated, const State& reference,
                             const GateLimits& limits_of_human) {
  const GateLimits limits = limits_of_human.Of(character);
  const auto& a = simulated[static_cast<size_t>(character.root)];
  const auto& b = reference[static_cast<size_t>(character.root)];
  return {std::abs(a.position.y() - b.position.y()) / limits.root_height,
          AngleBetween(a.orientation, b.orientation) / limits.root_orientation,
          JointPositionError(character, simulated, reference) / limits.joint_position};
}

double LargestGateRatio(const Character& character, const State& simulated, const State& reference,
                        const GateLimits& limits) {
  return ComputeGateRatios(character, simulated, reference, limits).largest();
}

Evaluation Evaluate(const Character& character, const control::Trajectory& trajectory,
                    const character::ReferenceMotion& reference, double expected_duration,
                    const GateLimits& limits_of_human) {
  const GateLimits limits = limits_of_human.Of(character);
  Evaluation evaluation;
  const size_t root = static_cast<size_t>(character.root);
  Gate height{"root_height", 0, limits.root_height};
  Gate orientation{"root_orientation", 0, limits.root_orientation};
  Gate joints{"joint_position", 0, limits.joint_position};
  const auto check = [](Gate& gate, double figure, double time) {
    gate.worst = std::max(gate.worst, figure);
    if (!(figure <= gate.limit) && gate.first_violation < 0) gate.first_violation = time;
  };
  State target;
  for (size_t i = 0; i < trajectory.states.size(); ++i) {
    const double time = static_cast<double>(i) * trajectory.time_step;
    const State& state = trajectory.states[i];
    character::Pose pose;
    reference.PoseAt(time, pose);
    character::ForwardKinematics(character, pose, target);
    check(height, std::abs(state[root].position.y() - target[root].position.y()), time);
    check(orientation, AngleBetween(state[root].orientation, target[root].orientation), time);
    const double error = JointPositionError(character, state, target);
    check(joints, error, time);
    evaluation.mean_joint_error += error / static_cast<double>(trajectory.states.size());
    Vec3 away = state[root].position - target[root].position;
    away.y() = 0;
    evaluation.drift = away.norm();
  }
  evaluation.gates = {height, orientation, joints};
  evaluation.simulated_duration = static_cast<double>(trajectory.num_steps()) * trajectory.time_step;
  evaluation.completed =
      !trajectory.diverged && evaluation.simulated_duration > expected_duration - 0.5 * trajectory.time_step;
  return evaluation;
}

std::vector<double> MomentumResidual(const Character& character, const control::Trajectory& trajectory,
                                     double gravity) {
  std::vector<double> residual;
  const double mass = character.total_mass();
  for (size_t i = 0; i < trajectory.num_steps(); ++i) {
    Vec3 force = Vec3::Zero();
    for (const auto& contact : trajectory.contacts[i]) {
      if (contact.other < 0) force += contact.force;
    }
    const Vec3 acceleration = (character::CenterOfMassVelocity(character, trajectory.states[i + 1]) -
                               character::CenterOfMassVelocity(character, trajectory.states[i])) /
                              trajectory.time_step;
    residual.push_back((force - mass * (acceleration + Vec3(0, gravity, 0))).norm());
  }
  return residual;
}

}  // namespace retrace::metrics
