#include "cost.h"

#include <algorithm>

#include "retrace/character/kinematics.h"
#include "retrace/control/time_grid.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/gates.h"

namespace retrace::trajectory {
namespace {

using character::Joint;

/// Weights of equations 3 to 8 (section 3.1), with sums over the frames of a recording of 60 Hz.
constexpr double kCom = 15, kComVelocity = 0.5, kPose = 0.5, kVelocity = 0.0005, kRoot = 4, kJerk = 1e-10;
/// Weights of the joints in equations 5 and 6.
constexpr double kHips = 10, kShoulders = 3;
/// Duration that the cost of the task refers to: a fragment of the search [s].
constexpr double kFragment = 0.1;

double BetaOf(const Joint& joint) {
  if (joint.name.find("hip") != std::string::npos) return kHips;
  return joint.name.find("shoulder") != std::string::npos ? kShoulders : 1;
}

}  // namespace

MotionCost::MotionCost(const Problem& problem)
    : problem_(problem), apart_(control::TimeGrid{problem.time_step()}.PartSteps(kCostInterval)) {
  share_ = apart_ * problem.time_step() / kCostInterval;
  for (const Joint& joint : problem.task.character->joints) beta_.push_back(BetaOf(joint));
}

void MotionCost::SetRange(int first_step, int end_step) {
  if (first_step == first_step_ && end_step == end_step_) return;
  first_step_ = first_step;
  end_step_ = end_step;
  instants_.clear();
  const character::Character& character = *problem_.task.character;
  const auto add = [&](int step) {
    Instant& instant = instants_.emplace_back();
    problem_.task.reference->StateAt(step * problem_.time_step(), instant.reference);
    for (const Joint& joint : character.joints) {
      instant.rotations.push_back(character::JointRotation(joint, instant.reference));
      instant.rates.push_back(character::RelativeRate(joint, instant.reference));
    }
    instant.com = character::CenterOfMass(character, instant.reference);
    instant.com_velocity = character::CenterOfMassVelocity(character, instant.reference);
    instant.cost.emplace(character, instant.reference, problem_.task.cost);
  };
  for (int step = end_step; step > first_step; step -= apart_) add(step);
  add(first_step);
}

void MotionCost::Begin(const character::State& start) {
  terms_ = {};
  gate_ratio_ = 0;
  added_ = 0;
  // The reference goes along with the character: it is not to catch up with what it has lost (section 3.2).
  shift_ = character::CenterOfMass(*problem_.task.character, start) - instants_.back().com;
  shift_.y() = 0;
  before_.clear();
  for (const Joint& joint : problem_.task.character->joints) before_.push_back(character::RelativeRate(joint, start));
}

void MotionCost::Add(int step, const character::State& state, std::span<const Vec3> torques) {
  const auto index = static_cast<size_t>((end_step_ - step) / apart_);
  const Instant& instant = instants_[index];
  const character::Character& character = *problem_.task.character;
  rates_.clear();
  for (const Joint& joint : character.joints) rates_.push_back(character::RelativeRate(joint, state));
  if (problem_.options.cost == Cost::kPaper) {
    AddPaper(instant, state);
  } else {
    AddTask(instant, instants_[index + 1], state);
  }
  std::swap(before_that_, before_);
  std::swap(before_, rates_);
  ++added_;
  const Options& o = problem_.options;
  const double seconds = share_ * kCostInterval;
  const double ratio = metrics::LargestGateRatio(character, state, instant.reference, problem_.task.gates);
  if (!(ratio <= gate_ratio_)) gate_ratio_ = ratio;
  const double beyond = std::max(0.0, ratio - o.gate_share);
  terms_[kGateTerm] += o.gate_weight * seconds * beyond * beyond;
  if (o.torque_limit == 0) return;
  for (const Vec3& torque : torques) {
    terms_[kTorqueTerm] +=
        o.torque_weight * seconds * (torque.cwiseAbs().array() - o.torque_limit).cwiseMax(0).square().sum();
  }
}

void MotionCost::AddPaper(const Instant& instant, const character::State& state) {
  const character::Character& character = *problem_.task.character;
  terms_[0] += share_ * kCom * (character::CenterOfMass(character, state) - instant.com - shift_).squaredNorm();
  terms_[1] +=
      share_ * kComVelocity * (character::CenterOfMassVelocity(character, state) - instant.com_velocity).squaredNorm();
  const double interval = share_ * kCostInterval;
  for (size_t j = 0; j < beta_.size(); ++j) {
    const Quat rotation = character::JointRotation(character.joints[j], state);
    terms_[2] += share_ * kPose * beta_[j] * RotationVector(rotation * instant.rotations[j].conjugate()).squaredNorm();
    terms_[3] += share_ * kVelocity * beta_[j] * (rates_[j] - instant.rates[j]).squaredNorm();
    if (added_ == 0) continue;  // a third derivative needs three rates
    const Vec3 jerk = (rates_[j] - 2 * before_[j] + before_that_[j]) / (interval * interval);
    terms_[5] += share_ * kJerk * jerk.squaredNorm();
  }
  const auto root = static_cast<size_t>(character.root);
  // The arc between two quaternions is half of the angle between the rotations.
  terms_[4] += share_ * kRoot * 0.5 * AngleBetween(state[root].orientation, instant.reference[root].orientation);
}

void MotionCost::AddTask(const Instant& instant, const Instant& before, const character::State& state) {
  const Options& o = problem_.options;
  task::CostWeights weights = problem_.task.weights;
  weights.smoothness = o.smoothness;
  weights.drift = std::max(weights.drift, o.drift);
  task::CostTerms terms = instant.cost->Evaluate(state);
  const double seconds = share_ * kCostInterval;
  for (size_t j = 0; j < rates_.size(); ++j) {
    terms.smoothness += (rates_[j] - before_[j] - (instant.rates[j] - before.rates[j])).norm();
  }
  terms.smoothness /= static_cast<double>(rates_.size()) * seconds;
  const task::CostTerms weighted = terms.Weighted(weights);
  for (size_t i = 0; i < task::kCostTerms.size(); ++i) {
    terms_[i] += seconds / kFragment * weighted.*task::kCostTerms[i].value;
  }
}

}  // namespace retrace::trajectory
