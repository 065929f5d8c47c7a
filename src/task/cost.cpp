#include "retrace/task/cost.h"

#include <cmath>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::task {
namespace {

using character::BodyState;
using character::Character;
using character::Joint;
using character::State;

constexpr double kVelocityWeight = 0.1;  // of rates beside angles in eqs. 2 and 3 [s]

Vec3 ToCenter(const Vec3& com, const BodyState& effector) {
  return {com.x() - effector.position.x(), 0, com.z() - effector.position.z()};
}

}  // namespace

void Describe(CostWeights& w, io::FieldVisitor& v) {
  const io::Real weight{kWeights};
  v.Field({"pose", "Weight wp of the pose term in the preset custom"}, w.pose, weight);
  v.Field({"root", "Weight wr of the root term in the preset custom"}, w.root, weight);
  v.Field({"end_effector", "Weight we of the end effector term in the preset custom"}, w.end_effector, weight);
  v.Field({"balance", "Weight wb of the balance term in the preset custom"}, w.balance, weight);
}

void Describe(CostOptions& o, io::FieldVisitor& v) {
  const io::Real weight{{0, 1000}};
  v.Field(
      {"balance_velocity", "Weight of the velocity of the center of mass in the balance term; the paper's is 0.1", "s"},
      o.balance_velocity, weight);
  v.Field({"effector_position",
           "Weight of the positions of hands and feet about the center of mass in the balance term; the paper's is 0"},
          o.effector_position, weight);
}

CostReference::CostReference(const Character& character, const State& state, const CostOptions& options,
                             std::vector<double> joint_weights)
    : character_(&character), options_(options), joint_weights_(std::move(joint_weights)) {
  if (joint_weights_.empty()) {
    for (const Joint& joint : character.joints) joint_weights_.push_back(joint.cost_weight);
  }
  for (const Joint& joint : character.joints) {
    joint_rotations_.push_back(character::JointRotation(joint, state));
    joint_rates_.push_back(character::RelativeRate(joint, state));
  }
  const BodyState& root = state[static_cast<size_t>(character.root)];
  root_orientation_ = root.orientation;
  root_rate_ = root.angular_velocity;
  const Vec3 com = character::CenterOfMass(character, state);
  for (const int effector : character.end_effectors) {
    effector_heights_.push_back(state[static_cast<size_t>(effector)].position.y());
    effector_to_com_.push_back(ToCenter(com, state[static_cast<size_t>(effector)]));
    effector_positions_.push_back(state[static_cast<size_t>(effector)].position - com);
  }
  com_ = com;
  com_velocity_ = character::CenterOfMassVelocity(character, state);
}

CostTerms CostReference::Evaluate(const State& state) const {
  const Character& character = *character_;
  CostTerms terms;
  for (size_t j = 0; j < character.joints.size(); ++j) {
    const Joint& joint = character.joints[j];
    terms.pose +=
        joint_weights_[j] * (AngleBetween(character::JointRotation(joint, state), joint_rotations_[j]) +
                             kVelocityWeight * (character::RelativeRate(joint, state) - joint_rates_[j]).norm());
  }
  terms.pose /= static_cast<double>(character.joints.size());
  const BodyState& root = state[static_cast<size_t>(character.root)];
  terms.root =
      AngleBetween(root.orientation, root_orientation_) + kVelocityWeight * (root.angular_velocity - root_rate_).norm();
  const Vec3 com = character::CenterOfMass(character, state);
  const double count = static_cast<double>(character.end_effectors.size());
  const Quat heading = Heading(root.orientation * root_orientation_.conjugate());
  for (size_t i = 0; i < character.end_effectors.size(); ++i) {
    const BodyState& effector = state[static_cast<size_t>(character.end_effectors[i])];
    terms.end_effector += std::abs(effector.position.y() - effector_heights_[i]) / count;
    double away = (ToCenter(com, effector) - effector_to_com_[i]).norm();
    if (options_.effector_position > 0) {
      away += options_.effector_position * (effector.position - com - heading * effector_positions_[i]).norm();
    }
    terms.balance += away / (character.height * count);
  }
  terms.drift = Vec3(com.x() - com_.x(), 0, com.z() - com_.z()).norm() / character.height;
  terms.balance +=
      options_.balance_velocity * (character::CenterOfMassVelocity(character, state) - com_velocity_).norm();
  return terms;
}

}  // namespace retrace::task
