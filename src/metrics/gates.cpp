#include "retrace/metrics/gates.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::metrics {

using character::Character;
using character::State;

GateLimits GateLimits::Of(const Character& character) const {
  const double size = character.height / kHumanHeight;
  return {root_height * size, root_orientation, joint_position * size, world_position * size, judge_world, saturation};
}

io::Json GateLimits::ToJson() const {
  return {{"root_height", root_height},       {"root_orientation_degrees", Degrees(root_orientation)},
          {"joint_position", joint_position}, {"world_position", world_position},
          {"judge_world", judge_world},       {"saturation", saturation}};
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
  json["contact_force"] = entry(contact_force);
  json["joint_gap"] = entry(joint_gap);
  for (const auto& [joint, share] : saturation) json["saturation"][joint] = share;
  for (const auto& [joint, share] : speed) json["speed"][joint] = share;
  json["doubts"] = Doubts();
  json["mean_joint_error"] = mean_joint_error;
  json["mean_world_error"] = mean_world_error;
  json["drift"] = drift;
  return json;
}

const Gate* Evaluation::Find(std::string_view name) const {
  const auto found = std::find_if(gates.begin(), gates.end(), [&](const Gate& gate) { return gate.name == name; });
  return found == gates.end() ? nullptr : &*found;
}

bool Evaluation::near_in_posture() const {
  const Gate* const joints = Find("joint_position");
  return joints == nullptr || mean_joint_error <= kNearPosture * joints->limit;
}

std::vector<std::string> Evaluation::Doubts() const {
  std::vector<std::string> doubts;
  const auto at = [](const Gate& gate) { return " at " + io::Fixed(gate.first_violation, 2) + " s"; };
  if (!world.passed()) {
    doubts.push_back("the joints are more than " + io::Fixed(world.limit, 2) + " m from the reference in the world, " +
                     io::Fixed(world.worst, 2) + " m at most, first" + at(world));
  }
  const Gate* const joints = Find("joint_position");
  if (joints != nullptr && mean_joint_error > DoubtLimits::kMeanPosture * joints->limit) {
    doubts.push_back("the posture is not the recorded one: the joints are " + io::Fixed(mean_joint_error, 3) +
                     " m from the reference on average, more than half of the tolerance of " +
                     io::Fixed(joints->limit, 3) + " m");
  }
  if (!contact_force.passed()) {
    doubts.push_back("contacts press with " + io::Fixed(contact_force.worst, 1) + " body weights, more than " +
                     io::Fixed(contact_force.limit, 1) + ", which is " + io::Fixed(DoubtLimits::kForceFactor, 0) +
                     " times what the recording requires, first" + at(contact_force));
  }
  if (!joint_gap.passed()) {
    doubts.push_back("a joint gives way by " + io::Fixed(joint_gap.worst, 3) + " m, more than " +
                     io::Fixed(joint_gap.limit, 3) + " m, first" + at(joint_gap));
  }
  return doubts;
}

namespace {

/// The position of a joint from the root.
Vec3 FromRoot(const Character& character, size_t joint, const State& state) {
  return character::JointPosition(character, character.joints[joint], state) -
         state[static_cast<size_t>(character.root)].position;
}

/// The largest distance between the two ends of a joint.
double LargestGap(const Character& character, const State& state) {
  double largest = 0;
  for (const character::Joint& joint : character.joints) {
    const auto end = [&](int body) {
      const auto b = static_cast<size_t>(body);
      return Vec3(state[b].position + state[b].orientation * Vec3(joint.anchor - character.bodies[b].rest_position));
    };
    largest = std::max(largest, (end(joint.parent) - end(joint.child)).norm());
  }
  return largest;
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
  v.Field(
      {"saturation",
       "Largest share of the time that a servo is at its largest torque, where the character's torques are limited"},
      l.saturation, io::Real{{0, 1}});
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
/// @param in_world the same in the world; 0 where it is not judged
GateRatios RatiosOf(const character::BodyState& simulated_root, const character::BodyState& reference_root,
                    double apart, double in_world, const GateLimits& limits) {
  return {std::abs(simulated_root.position.y() - reference_root.position.y()) / limits.root_height,
          AngleBetween(simulated_root.orientation, reference_root.orientation) / limits.root_orientation,
          apart / limits.joint_position, in_world / limits.world_position};
}

}  // namespace

GateRatios ComputeGateRatios(const Character& character, const State& simulated, const State& reference,
                             const GateLimits& limits_of_human) {
  const auto root = static_cast<size_t>(character.root);
  const double in_world = limits_of_human.judge_world ? WorldPositionError(character, simulated, reference) : 0;
  return RatiosOf(simulated[root], reference[root], JointPositionError(character, simulated, reference), in_world,
                  limits_of_human.Of(character));
}

GateComparison::GateComparison(const Character& character, const State& reference, const GateLimits& limits_of_human)
    : character_(&character),
      limits_(limits_of_human.Of(character)),
      root_(reference[static_cast<size_t>(character.root)]) {
  for (size_t j = 0; j < character.joints.size(); ++j) {
    joints_.push_back(FromRoot(character, j, reference));
    if (limits_.judge_world) in_world_.push_back(character::JointPosition(character, character.joints[j], reference));
  }
}

GateRatios GateComparison::Ratios(const State& simulated) const {
  const double apart =
      MeanJointDistance(*character_, simulated, root_.orientation, [&](size_t j) -> const Vec3& { return joints_[j]; });
  double in_world = 0;
  for (size_t j = 0; j < in_world_.size(); ++j) {
    in_world += (character::JointPosition(*character_, character_->joints[j], simulated) - in_world_[j]).norm();
  }
  if (!in_world_.empty()) in_world /= static_cast<double>(in_world_.size());
  return RatiosOf(simulated[static_cast<size_t>(character_->root)], root_, apart, in_world, limits_);
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
  most_saturation_ = limits.saturation;
  at_limit_.resize(character_.joints.size());
  too_fast_.resize(character_.joints.size());
  fastest_.resize(character_.joints.size());
  force_ = {"contact_force", 0, DoubtLimits::kForceFactor * std::max(DoubtLimits::kLeastForce, RequiredForce())};
  gap_ = {"joint_gap", 0, DoubtLimits::kJointGap * character_.height / kHumanHeight};
  weight_ = character_.total_mass() * kStandardGravity;
}

double Evaluator::RequiredForce() const {
  const double h = DoubtLimits::kForceWindow;
  State state;
  const auto center = [&](double time) {
    character::Pose pose;
    reference_.PoseAt(time, pose);
    character::ForwardKinematics(character_, pose, state);
    return character::CenterOfMass(character_, state);
  };
  double most = 1;
  for (double time = h; time + h <= reference_.duration(); time += 0.5 * h) {
    const Vec3 acceleration = (center(time + h) - 2 * center(time) + center(time - h)) / (h * h);
    most = std::max(most, (acceleration + Vec3(0, kStandardGravity, 0)).norm() / kStandardGravity);
  }
  return most;
}

void Evaluator::AddForce(const control::Trajectory& part, size_t step) {
  double force = 0;
  for (const simulation::Contact& contact : part.contacts[step]) {
    if (contact.body >= 0 && static_cast<size_t>(contact.body) < character_.bodies.size() && contact.other < 0) {
      force += contact.force.norm();
    }
  }
  if (forces_.empty()) {
    forces_.resize(static_cast<size_t>(std::max(1L, std::lround(DoubtLimits::kForceWindow / part.time_step))));
  }
  double& oldest = forces_[num_forces_ % forces_.size()];
  force_sum_ += force - oldest;
  oldest = force;
  ++num_forces_;
}

void Evaluator::AddTorques(const control::Trajectory& part, size_t step) {
  const std::vector<Vec3>& torques = part.torques[step];
  ++torque_steps_;
  for (size_t j = 0; j < at_limit_.size() && j < torques.size(); ++j) {
    if (!character_.joints[j].IsAtLimit(torques[j])) continue;
    if (at_limit_[j].first < 0) at_limit_[j].first = part.TimeOf(step + 1);
    ++at_limit_[j].steps;
  }
}

void Evaluator::AddSpeeds(const State& state, double time) {
  for (size_t j = 0; j < fastest_.size(); ++j) {
    const character::Joint& joint = character_.joints[j];
    if (!(joint.speed > 0)) continue;
    const double share = character::RelativeRate(joint, state).norm() / joint.speed;
    fastest_[j] = std::max(fastest_[j], share);
    if (share <= 1) continue;
    if (too_fast_[j].first < 0) too_fast_[j].first = time;
    ++too_fast_[j].steps;
  }
}

namespace {

/// Takes note of a joint that is at its limit for this share of the time, at `first` for the first time [s].
void KeepWorst(double share, double first, Gate& gate) {
  if (share <= gate.worst) return;
  gate.worst = share;
  if (share > gate.limit) gate.first_violation = first;
}

}  // namespace

void Evaluator::FinishSpeeds(Evaluation& evaluation) const {
  Gate gate = {"motor_speed", 0, kMostTooFast};
  for (size_t j = 0; j < fastest_.size(); ++j) {
    if (!(character_.joints[j].speed > 0)) continue;
    evaluation.speed.emplace_back(character_.joints[j].name, fastest_[j]);
    const double share =
        joint_errors_.empty() ? 0 : static_cast<double>(too_fast_[j].steps) / static_cast<double>(joint_errors_.size());
    KeepWorst(share, too_fast_[j].first, gate);
  }
  if (!evaluation.speed.empty()) evaluation.gates.push_back(gate);
}

void Evaluator::FinishSaturation(Evaluation& evaluation) const {
  Gate gate = {"saturation", 0, most_saturation_};
  for (size_t j = 0; j < at_limit_.size(); ++j) {
    const character::Joint& joint = character_.joints[j];
    if (!joint.limited()) continue;
    const double share =
        torque_steps_ == 0 ? 0 : static_cast<double>(at_limit_[j].steps) / static_cast<double>(torque_steps_);
    evaluation.saturation.emplace_back(joint.name, share);
    KeepWorst(share, at_limit_[j].first, gate);
  }
  if (!evaluation.saturation.empty()) evaluation.gates.push_back(gate);
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
    if (i > 0 && i - 1 < part.torques.size()) AddTorques(part, i - 1);
    AddSpeeds(state, time);
    if (i > 0 && i - 1 < part.contacts.size()) {
      AddForce(part, i - 1);
      check(force_, force_sum_ / (static_cast<double>(forces_.size()) * weight_), time);
    }
    check(gap_, LargestGap(character_, state), time);
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
  evaluation.contact_force = force_;
  evaluation.joint_gap = gap_;
  if (judges_world_) evaluation.gates.push_back(world_);
  FinishSaturation(evaluation);
  FinishSpeeds(evaluation);
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
