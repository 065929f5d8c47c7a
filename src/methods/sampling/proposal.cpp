#include "retrace/methods/sampling/proposal.h"

#include <cmath>
#include <cstdint>

#include "retrace/character/kinematics.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"

namespace retrace::sampling {
namespace {

using character::Joint;

/// The rotation that is missing from a joint's rotation at the end of a fragment to a target, in the parent's axes
/// [rad]; only about the axis of a hinge.
Vec3 Missed(const Joint& joint, const Quat& target, const character::State& end) {
  const Vec3 missed = RotationVector(target * character::JointRotation(joint, end).conjugate());
  return joint.type == character::JointType::kHinge ? Vec3(joint.direction() * joint.Along(missed)) : missed;
}

/// How a random displacement is mixed with the one that is kept: `fresh` keeps the variance.
struct Mixture {
  double fresh;
  double rho;
  const std::vector<Vec3>* kept;  // null: none is kept

  Mixture(double correlation, const std::optional<std::vector<Vec3>>& displacement)
      : fresh(displacement ? std::sqrt(1 - correlation * correlation) : 1),
        rho(correlation),
        kept(displacement ? &*displacement : nullptr) {}
};

Offsets DrawUniform(const Problem& problem, const Offsets& center, const Mixture& mixture, RandomStream& random) {
  Offsets offsets = center;
  for (size_t j = 0; j < offsets.size(); ++j) {
    const Joint& joint = problem.task.character->joints[j];
    Vec3 displacement = Vec3::Zero();
    bool displaced = false;
    for (int a = 0; a < 3; ++a) {
      if (joint.window[a] == 0) continue;
      displacement[a] = mixture.fresh * problem.options.window_scale * joint.window[a] * random.Uniform(-1, 1);
      if (mixture.kept != nullptr) displacement[a] += mixture.rho * joint.PerAxis((*mixture.kept)[j])[a];
      displaced = true;
    }
    if (displaced) offsets[j] = FromRotationVector(joint.FromAxes(displacement)) * offsets[j];
  }
  return offsets;
}

/// @param center instead of the means; null: around the means themselves, without their rounding as a rotation
Offsets DrawNormal(const NormalOffsets& normal, const Offsets* center, const Mixture& mixture,
                   const character::Character& character, RandomStream& random) {
  Offsets offsets;
  for (size_t j = 0; j < normal.mean.size(); ++j) {
    const Joint& joint = character.joints[j];
    Vec3 turn = center != nullptr ? joint.PerAxis(RotationVector((*center)[j])) : normal.mean[j];
    for (int a = 0; a < 3; ++a) {
      if (normal.deviation[j][a] > 0) turn[a] += mixture.fresh * normal.deviation[j][a] * random.Normal();
      if (mixture.kept != nullptr) turn[a] += mixture.rho * joint.PerAxis((*mixture.kept)[j])[a];
    }
    offsets.push_back(FromRotationVector(joint.FromAxes(turn)));
  }
  return offsets;
}

/// The offsets of the path, turned by the feedback and a share of the correction, and at random.
Offsets DrawGuided(const GuidedOffsets& guided, double share, double noise, const character::Character& character,
                   RandomStream* random) {
  Offsets offsets = guided.path;
  for (size_t j = 0; j < offsets.size(); ++j) {
    const Joint& joint = character.joints[j];
    Vec3 turn = joint.PerAxis(guided.feedback[j] + share * guided.correction[j]);
    for (int a = 0; random != nullptr && a < 3; ++a) {
      if (joint.UsesAxis(a)) turn[a] += noise * random->Normal();
    }
    turn = joint.FromAxes(turn);
    if (turn != Vec3::Zero()) offsets[j] = FromRotationVector(turn) * offsets[j];
  }
  return offsets;
}

constexpr double kPart = 0.4;           // of the correction, of the second sample of a start state
constexpr double kShareOfLittle = 0.3;  // of the noise, of a third of the samples

}  // namespace

Offsets NoOffsets(const Problem& problem) {
  return Offsets(problem.task.character->joints.size(), Quat::Identity());
}

Offsets Proposal::Undisplaced(const Problem& problem) const {
  if (guided() != nullptr) return DrawGuided(*guided(), 1, 0, *problem.task.character, nullptr);
  const auto* normal = std::get_if<NormalOffsets>(&distribution);
  if (normal == nullptr) return NoOffsets(problem);
  Offsets offsets;
  for (size_t j = 0; j < normal->mean.size(); ++j) {
    offsets.push_back(FromRotationVector(problem.task.character->joints[j].FromAxes(normal->mean[j])));
  }
  return offsets;
}

bool Proposal::CenterNeedsSimulation(const Options& options) const {
  if (guided() != nullptr) return false;
  const auto* normal = std::get_if<NormalOffsets>(&distribution);
  return normal != nullptr ? normal->goal.has_value() : options.feedforward;
}

Offsets Proposal::FindCenter(const Problem& problem, const control::Fragment& fragment,
                             const character::State& end) const {
  Offsets found = Undisplaced(problem);
  if (!CenterNeedsSimulation(problem.options)) return found;
  const auto* normal = std::get_if<NormalOffsets>(&distribution);
  // Targets of a baseline already hold what servos miss; then the reference itself is what is missed.
  character::Pose wanted;
  wanted.joint_rotations = fragment.targets.back();
  if (problem.baseline != nullptr) problem.task.reference->PoseAt(fragment.end_step() * problem.time_step(), wanted);
  for (size_t j = 0; j < found.size(); ++j) {
    const Joint& joint = problem.task.character->joints[j];
    if (normal != nullptr) {
      const Vec3 missed = Missed(joint, (*normal->goal)[j], end);
      found[j] = FromRotationVector(problem.options.correction * missed) * found[j];
      continue;
    }
    // "Approximating Feedforward Torques": the rotation that the servos miss when they drive at the reference is put on
    // top of it.
    Vec3 missed = Missed(joint, wanted.joint_rotations[j], end);
    missed *= problem.options.feedforward_gain;
    const double angle = missed.norm();
    if (angle > problem.options.feedforward_limit) missed *= problem.options.feedforward_limit / angle;
    found[j] = FromRotationVector(missed);
  }
  return found;
}

Offsets Proposal::Draw(const Problem& problem, int iteration, int sample) const {
  if (sample == undisplaced) return Undisplaced(problem);
  RandomStream random(problem.options.seed, RandomStage::kSampling, static_cast<uint32_t>(iteration),
                      static_cast<uint32_t>(sample));
  if (const GuidedOffsets* const around_path = guided()) {
    const character::Character& character = *problem.task.character;
    if (sample == undisplaced + 1) return DrawGuided(*around_path, kPart, 0, character, nullptr);
    const double share = random.Uniform();
    const double noise = around_path->noise * (random.Uniform() < 1.0 / 3 ? kShareOfLittle : 1);
    return DrawGuided(*around_path, share, noise, character, &random);
  }
  const Mixture mixture(problem.options.correlation, kept);
  const Offsets& around = center.value();
  const auto* normal = std::get_if<NormalOffsets>(&distribution);
  if (normal == nullptr) return DrawUniform(problem, around, mixture, random);
  return DrawNormal(*normal, normal->goal ? &around : nullptr, mixture, *problem.task.character, random);
}

std::vector<Vec3> Proposal::Displacement(const Offsets& offsets) const {
  const Offsets& around = center.value();
  std::vector<Vec3> displacement;
  for (size_t j = 0; j < offsets.size(); ++j) {
    displacement.push_back(fitted() ? Vec3(RotationVector(offsets[j]) - RotationVector(around[j]))
                                    : RotationVector(offsets[j] * around[j].conjugate()));
  }
  return displacement;
}

}  // namespace retrace::sampling
