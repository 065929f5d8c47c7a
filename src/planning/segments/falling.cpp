#include "retrace/planning/segments/falling.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"

namespace retrace::runs {
namespace {

constexpr double kArmGain = 0.6;       // of the servos of arms that are stretched out
constexpr double kDriveGain = 0.2;     // of servos that begin to go to a pose
constexpr double kFallSpeed = 0.4;     // of the center of mass, above which the arms are stretched out [m/s]
constexpr double kStillRate = 0.25;    // [rad/s]
constexpr double kStillSpeed = 0.05;   // [m/s]
constexpr double kLeanTime = 0.3;      // by which the lean of the body counts as a velocity [s]
constexpr double kFallStep = 0.1;      // in which the reflexes are what they are [s]
constexpr double kShortestFall = 0.5;  // before a body may be said to lie [s]
constexpr double kLongestFall = 4;     // after which it gets up, still or not [s]
constexpr double kReach = 0.8;         // sine of the arms' angle from hanging down
constexpr double kHang = 0.6;

/// The joints at which arms begin: the last ones before a body of which nothing but an arm hangs, with the next joint
/// of the arm.
struct Arm {
  size_t shoulder = 0;
  size_t elbow = 0;
};

std::vector<Arm> ArmsOf(const character::Character& character) {
  std::vector<Arm> arms;
  for (size_t e = 0; e < character.joints.size(); ++e) {
    const character::Joint& elbow = character.joints[e];
    if (character.bodies[static_cast<size_t>(elbow.child)].part != character::Part::kLowerArm) continue;
    const int shoulder = character.JointOf(elbow.parent);
    if (shoulder >= 0) arms.push_back({static_cast<size_t>(shoulder), e});
  }
  return arms;
}

/// Where the body falls, along the ground and of length one; nothing where it falls straight down.
Vec3 DirectionOf(const character::Character& character, const character::State& state) {
  double lowest = state[0].position.y();
  Vec3 support = Vec3::Zero();
  for (const character::BodyState& body : state) {
    if (body.position.y() > lowest) continue;
    lowest = body.position.y();
    support = body.position;
  }
  Vec3 way = character::CenterOfMassVelocity(character, state) +
             (character::CenterOfMass(character, state) - support) / kLeanTime;
  way.y() = 0;
  const double length = way.norm();
  return length < 1e-3 ? Vec3(Vec3::Zero()) : Vec3(way / length);
}

class FallingReflexes {
 public:
  /// @param state with which the fall begins. The character must outlive the reflexes.
  FallingReflexes(const character::Character& character, const character::State& state, double gain)
      : character_(character), gain_(gain), commands_(HoldingWith(gain, character, state)) {}

  /// What the reflexes do from a state on.
  control::Fragment From(const character::State& state, int first_step, int num_steps) {
    const bool falls = character::CenterOfMassVelocity(character_, state).norm() > kFallSpeed;
    const Vec3 wanted = (kReach * DirectionOf(character_, state) - kHang * Vec3::UnitY()).normalized();
    for (const Arm& arm : ArmsOf(character_)) {
      const character::Joint &shoulder = character_.joints[arm.shoulder], &elbow = character_.joints[arm.elbow];
      if (shoulder.type != character::JointType::kBall) continue;
      simulation::JointCommand &upper = commands_[arm.shoulder], &lower = commands_[arm.elbow];
      upper.gain = lower.gain = falls ? kArmGain : gain_;
      if (!falls) continue;  // they stay where they were stretched to
      const Quat& parent = state[static_cast<size_t>(shoulder.parent)].orientation;
      upper.target = ShortestArc(elbow.anchor - shoulder.anchor, parent.conjugate() * wanted).normalized();
      lower.target = Quat::Identity();
    }
    control::Fragment fragment;
    fragment.first_step = first_step;
    fragment.num_steps = num_steps;
    fragment.commands.assign(static_cast<size_t>(num_steps), commands_);
    return fragment;
  }

 private:
  const character::Character& character_;
  double gain_;
  std::vector<simulation::JointCommand> commands_;  // (joints)
};

bool LiesStill(const character::Character& character, const character::State& state) {
  if (character::CenterOfMassVelocity(character, state).norm() > kStillSpeed) return false;
  double sum = 0;
  for (const character::Joint& joint : character.joints) sum += character::RelativeRate(joint, state).squaredNorm();
  return std::sqrt(sum / static_cast<double>(std::max<size_t>(1, character.joints.size()))) < kStillRate;
}

}  // namespace

std::vector<simulation::JointCommand> HoldingWith(double gain, const character::Character& character,
                                                  const character::State& state) {
  std::vector<simulation::JointCommand> commands;
  for (const character::Joint& joint : character.joints) {
    commands.push_back({.target = character::JointRotation(joint, state), .gain = gain});
  }
  return commands;
}

bool FallUntilStill(const character::Character& character, double gain, int first_step, double time_step,
                    const std::function<character::State()>& state,
                    const std::function<bool(control::Fragment fragment)>& play) {
  const auto steps_in = [&](double seconds) { return static_cast<int>(std::lround(seconds / time_step)); };
  FallingReflexes reflexes(character, state(), gain);
  const int most = steps_in(kLongestFall), least = steps_in(kShortestFall), steps = steps_in(kFallStep);
  for (int fallen = 0; fallen < most; fallen += steps) {
    const character::State now = state();
    if (fallen >= least && LiesStill(character, now)) break;
    if (!play(reflexes.From(now, first_step + fallen, steps))) return false;
  }
  return true;
}

control::Fragment DriveTo(const character::Character& character, const character::State& state,
                          const character::State& goal, int first_step, int num_steps) {
  control::Fragment fragment;
  fragment.first_step = first_step;
  fragment.num_steps = num_steps;
  constexpr double kWay = 0.7;  // share of the time after which the goal is what is driven at
  std::vector<simulation::JointCommand> commands(character.joints.size());
  for (int step = 0; step < num_steps; ++step) {
    const double share = SmoothStep(std::min(1.0, (step + 1) / (kWay * num_steps)));
    for (size_t j = 0; j < commands.size(); ++j) {
      const Quat from = character::JointRotation(character.joints[j], state);
      const Quat to = character::JointRotation(character.joints[j], goal);
      commands[j].target = (FromRotationVector(share * RotationVector(to * from.conjugate())) * from).normalized();
      commands[j].gain = kDriveGain + (1 - kDriveGain) * share;
    }
    fragment.commands.push_back(commands);
  }
  return fragment;
}

}  // namespace retrace::runs
