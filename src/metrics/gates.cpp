#include "retrace/metrics/gates.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::metrics {

using character::Character;
using character::State;

GateLimits GateLimits::Of(const Character& character) const {
  const double size = character.height / kHumanHeight;
  return {root_height * size, root_orientation, joint_position * size, world_position * size, judge_world};
}

io::Json GateLimits::ToJson() const {
  return {{"root_height", root_height},
          {"root_orientation_degrees", Degrees(root_orientation)},
          {"joint_position", joint_position},
          {"world_position", world_position},
          {"judge_world", judge_world}};
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
  const auto entry = [](const Gate& gate) {
    io::Json figures = {{"passed", gate.passed()}, {"worst", gate.worst}, {"limit", gate.limit}};
    if (!gate.passed()) figures["first_violation"] = gate.first_violation;
    return figures;
  };
  for (const Gate& gate : gates) json["gates"][gate.name] = entry(gate);
  json["world"] = entry(world);
  json["mean_joint_error"] = mean_joint_error;
  json["mean_world_error"] = mean_world_error;
  json["drift"] = drift;
  return json;
}

namespace {

/// The position of a joint from the root.
Vec3 FromRoot(const Character& character, size_t joint, const State& state) {
  return character::JointPosition(character, character.joints[joint], state) -
         state[static_cast<size_t>(character.root)].position;
}

/// @param reference gives where a joint of it is, from its root
template <class Reference>
double MeanJointDistance(const Character& character, const State& simulated, const Quat& reference_root,
                         const Reference& reference) {
  const Quat heading = Heading(simulated[static_cast<size_t>(character.root)].orientation * reference_root.conjugate());
  double sum = 0;
  for (size_t j = 0; j < character.joints.size(); ++j) {
    sum += (FromRoot(character, j, simulated) - heading * reference(j)).norm();
  }
  return sum / static_cast<double>(character.joints.size());
}

}  // namespace

void Describe(GateLimits& l, io::FieldVisitor& v) {
  v.Field({"root_height", "Largest distance of the root from the reference's in height", "m"}, l.root_height,
          io::Real{{1e-6, 100}});
  v.Field({"root_orientation", "Largest angle between the orientations of the roots", "degrees"}, l.root_orientation,
          io::Angle{{0.1, 180}});
  v.Field({"joint_position", "Largest mean distance of joints, after root translation and heading are removed", "m"},
          l.joint_position, io::Real{{1e-6, 100}});
  v.Field({"world_position",
           "Largest mean distance of joints in the world, drift and heading included; reported, and a tolerance where "
           "judge_world is true",
           "m"},
          l.world_position, io::Real{{1e-6, 100}});
  v.Field({"judge_world", "Whether the distance in the world decides about success, too"}, l.judge_world, io::Flag{});
}

double JointPositionError(const Character& character, const State& simulated, const State& reference) {
  return MeanJointDistance(character, simulated, reference[static_cast<size_t>(character.root)].orientation,
                           [&](size_t j) { return FromRoot(character, j, reference); });
}

double WorldPositionError(const Character& character, const State& simulated, const State& reference) {
  double sum = 0;
  for (const character::Joint& joint : character.joints) {
    sum +=
        (character::JointPosition(character, joint, simulated) - character::JointPosition(character, joint, reference))
            .norm();
  }
  return sum / static_cast<double>(character.joints.size());
}

namespace {

/// @param apart mean distance of joints
GateRatios RatiosOf(const character::BodyState& simulated_root, const character::BodyState& reference_root,
                    double apart, const GateLimits& limits) {
  return {std::abs(simulated_root.position.y() - reference_root.position.y()) / limits.root_height,
          AngleBetween(simulated_root.orientation, reference_root.orientation) / limits.root_orientation,
          apart / limits.joint_position};
}

}  // namespace

GateRatios ComputeGateRatios(const Character& character, const State& simulated, const State& reference,
                             const GateLimits& limits_of_human) {
  const auto root = static_cast<size_t>(character.root);
  return RatiosOf(simulated[root], reference[root], JointPositionError(character, simulated, reference),
                  limits_of_human.Of(character));
}

GateComparison::GateComparison(const Character& character, const State& reference, const GateLimits& limits_of_human)
    : character_(&character),
      limits_(limits_of_human.Of(character)),
      root_(reference[static_cast<size_t>(character.root)]) {
  for (size_t j = 0; j < character.joints.size(); ++j) joints_.push_back(FromRoot(character, j, reference));
}

GateRatios GateComparison::Ratios(const State& simulated) const {
  const double apart =
      MeanJointDistance(*character_, simulated, root_.orientation, [&](size_t j) -> const Vec3& { return joints_[j]; });
  return RatiosOf(simulated[static_cast<size_t>(character_->root)], root_, apart, limits_);
}

double LargestGateRatio(const Character& character, const State& simulated, const State& reference,
                        const GateLimits& limits) {
  return ComputeGateRatios(character, simulated, reference, limits).largest();
}

Evaluator::Evaluator(const Character& character, const character::ReferenceMotion& reference,
                     const GateLimits& limits_of_human, size_t most_steps)
    : character_(character), reference_(reference), most_steps_(most_steps) {
  const GateLimits limits = limits_of_human.Of(character);
  height_ = {"root_height", 0, limits.root_height};
  orientation_ = {"root_orientation", 0, limits.root_orientation};
  joints_ = {"joint_position", 0, limits.joint_position};
  world_ = {"world_position", 0, limits.world_position};
  judges_world_ = limits.judge_world;
}

void Evaluator::Add(const control::Trajectory& part) {
  const size_t root = static_cast<size_t>(character_.root);
  const auto check = [](Gate& gate, double figure, double time) {
    gate.worst = std::max(gate.worst, figure);
    if (!(figure <= gate.limit) && gate.first_violation < 0) gate.first_violation = time;
    return figure / gate.limit;
  };
  time_step_ = part.time_step;
  State target;
  character::Pose pose;
  for (size_t i = part.first_new_state(); i < part.states.size(); ++i) {
    if (part.first_step + i > most_steps_) return;
    const double time = part.TimeOf(i);
    const State& state = part.states[i];
    reference_.PoseAt(time, pose);
    character::ForwardKinematics(character_, pose, target);
    const double height = check(height_, std::abs(state[root].position.y() - target[root].position.y()), time);
    const double turn = check(orientation_, AngleBetween(state[root].orientation, target[root].orientation), time);
    joint_errors_.push_back(JointPositionError(character_, state, target));
    world_errors_.push_back(WorldPositionError(character_, state, target));
    check(world_, world_errors_.back(), time);
    at_end_ = std::max({height, turn, check(joints_, joint_errors_.back(), time)});
    Vec3 away = state[root].position - target[root].position;
    away.y() = 0;
    drift_ = away.norm();
  }
  diverged_ = part.diverged && part.first_step + part.num_steps() <= most_steps_;
}

Evaluation Evaluator::Finish(double expected_duration) const {
  Evaluation evaluation;
  evaluation.gates = {height_, orientation_, joints_};
  evaluation.world = world_;
  if (judges_world_) evaluation.gates.push_back(world_);
  evaluation.at_end = at_end_;
  for (size_t i = 0; i < joint_errors_.size(); ++i) {
    evaluation.mean_joint_error += joint_errors_[i] / static_cast<double>(joint_errors_.size());
    evaluation.mean_world_error += world_errors_[i] / static_cast<double>(joint_errors_.size());
  }
  evaluation.drift = drift_;
  const size_t steps = joint_errors_.empty() ? 0 : joint_errors_.size() - 1;
  evaluation.simulated_duration = static_cast<double>(steps) * time_step_;
  evaluation.completed = !diverged_ && evaluation.simulated_duration > expected_duration - 0.5 * time_step_;
  return evaluation;
}

Evaluation Evaluate(const Character& character, const control::Trajectory& trajectory,
                    const character::ReferenceMotion& reference, double expected_duration,
                    const GateLimits& limits_of_human) {
  Evaluator evaluator(character, reference, limits_of_human);
  evaluator.Add(trajectory);
  return evaluator.Finish(expected_duration);
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
