#include "planted_feet.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "retrace/character/kinematics.h"
#include "retrace/math/smooth_step.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {
namespace {

using character::Character;
using character::Pose;
using character::State;

// A foot stands if it is lower than this [m] and slower, in what is simulated and in a motion [m/s].
constexpr double kStandsBelow = 0.04, kStandsInSimulation = 0.6, kStandsInMotion = 0.3;
constexpr double kForever = 1e6;                            // [s]
constexpr double kLongestLookedAt = 3;                      // of the motion, for when a foot is lifted and put down [s]
constexpr double kLeastStance = 0.1;                        // in the motion, for which a foot is held [s]
constexpr double kFarthestHeld = 0.2;                       // from where the motion has the foot [m]
constexpr double kShortestStep = 0.15, kLongestStep = 0.3;  // in which a foot comes to where the motion has it [s]
constexpr double kStops = 0.1;                              // in which a held foot comes to rest [s]
constexpr double kUnloads = 0.15;                           // share of a step before a foot moves along the ground
constexpr double kAlights = 0.85;                           // share of a step after which it does so no more
constexpr double kMovedVisibly = 0.005;  // by which a foot is moved where its leg is bent in full [m]
constexpr double kLeastTravel = 0.01;    // for which a foot is raised [m]
// Height of a step, and by how much it grows with its length, and at most [m].
constexpr double kRaisedBy = 0.05, kHigherWithLength = 0.2, kHighestStep = 0.1;

Vec3 AlongGround(Vec3 v) {
  v.y() = 0;
  return v;
}

/// Begins at nothing at a rate, and comes to rest at nothing.
Vec3 Stopping(const Vec3& rate, double time, double duration) {
  if (time >= duration) return Vec3::Zero();
  const double s = time / duration, r = 1 - s;
  return r * r * r * (duration * s * (1 + 3 * s)) * rate;
}

Vec3 AnkleOf(const Character& character, const character::Leg& leg, const State& state) {
  return character::JointPosition(character, character.joints[static_cast<size_t>(leg.ankle)], state);
}

}  // namespace

bool EnteringLeg::held() const {
  return stands && stands_until >= kLeastStance && apart.norm() <= kFarthestHeld;
}

std::vector<EnteringLeg> EnteringLegs(const Character& character, const State& simulated,
                                      const std::function<void(double time, Pose& pose)>& motion, double duration) {
  const double h = kCompositionFrame;
  const auto frames = static_cast<size_t>(std::max(2.0, std::min(duration, kLongestLookedAt) / h));
  std::vector<State> states(frames + 1);
  Pose pose;
  for (size_t f = 0; f < states.size(); ++f) {
    motion(static_cast<double>(f) * h, pose);
    character::ForwardKinematics(character, pose, states[f]);
  }
  std::vector<EnteringLeg> legs;
  for (const character::Leg& leg : character::LegsOf(character)) {
    EnteringLeg& entering = legs.emplace_back();
    entering.leg = leg;
    entering.leg.folding = character::FoldingOf(character, leg, states);
    const auto foot = static_cast<size_t>(character.joints[static_cast<size_t>(leg.ankle)].child);
    entering.foot = foot;
    const character::Body& body = character.bodies[foot];
    const auto low = [&](const State& state) { return character::LowestPoint(body, state[foot]) < kStandsBelow; };
    const auto slow = [](const Vec3& velocity, double limit) { return AlongGround(velocity).norm() < limit; };
    entering.stands = low(simulated) && slow(simulated[foot].linear_velocity, kStandsInSimulation);
    const auto stands = [&](size_t f) {
      const Vec3 velocity = (states[f + 1][foot].position - states[f][foot].position) / h;
      return low(states[f]) && slow(velocity, kStandsInMotion);
    };
    size_t f = 0;
    while (f < frames && stands(f)) ++f;
    entering.stands_until = static_cast<double>(f) * h;
    if (f == frames) entering.stands_until = kForever;
    while (f < frames && !stands(f)) ++f;
    entering.lands = std::max(entering.stands_until, static_cast<double>(f) * h);
    entering.apart = AlongGround(AnkleOf(character, leg, simulated) - AnkleOf(character, leg, states[0]));
  }
  return legs;
}

void PlantFeet(const Character& character, std::span<const EnteringLeg> legs, std::span<const Pose> motion,
               double frame_time, std::span<Pose> poses) {
  if (poses.size() < 2) return;
  for (const EnteringLeg& entering : legs) {
    State blended, placed;
    // Where the ankle is in the poses and in the motion, at the beginning and a frame later.
    Vec3 from[2], to[2];
    for (size_t f = 0; f < 2; ++f) {
      character::ForwardKinematics(character, poses[f], blended);
      character::ForwardKinematics(character, motion[f], placed);
      from[f] = AnkleOf(character, entering.leg, blended);
      to[f] = AnkleOf(character, entering.leg, placed);
    }
    const Vec3 rate = AlongGround(from[1] - from[0]) / frame_time;
    const Vec3 apart = AlongGround(from[0] - to[0]);
    const bool held = entering.held();
    // When a step begins and when it ends [s].
    const double begins = held ? entering.stands_until : 0;
    const double until = held || entering.stands_until == 0 ? entering.lands - begins : kLongestStep;
    const double step = std::clamp(until, kShortestStep, kLongestStep);
    const double height = apart.norm() < kLeastTravel || (held && entering.lands > begins)
                              ? 0
                              : std::min(kHighestStep, kRaisedBy + kHigherWithLength * apart.norm());
    for (size_t f = 1; f < poses.size(); ++f) {
      const double time = static_cast<double>(f) * frame_time;
      if (time >= begins + step) break;
      character::ForwardKinematics(character, poses[f], blended);
      character::ForwardKinematics(character, motion[f], placed);
      const Vec3 there = AnkleOf(character, entering.leg, placed);
      Vec3 ankle = AnkleOf(character, entering.leg, blended);
      const double s = std::max(0.0, time - begins) / step;
      const double left = 1 - SmoothStep(std::clamp((s - kUnloads) / (kAlights - kUnloads), 0.0, 1.0));
      // A foot that stands stays where it is on the ground; one that swings is carried along.
      const Vec3 stays = held || !entering.stands ? Vec3(there + apart) : from[0];
      const Vec3 begun = held || !entering.stands ? Vec3(rate - AlongGround(to[1] - to[0]) / frame_time) : rate;
      const Vec3 along = left * stays + (1 - left) * there + Stopping(begun, time, held ? kStops : step);
      const double raised = height * std::pow(std::sin(std::numbers::pi * s), 2);
      const Vec3 before = ankle;
      ankle = Vec3(along.x(), ankle.y() + raised, along.z());
      // A straight leg is bent a little wherever its foot is put: where nothing is moved it stays straight.
      const double share = std::pow(SmoothStep(std::min(1.0, (ankle - before).norm() / kMovedVisibly)), 2);
      Pose bent = poses[f];
      character::BendLeg(character, entering.leg, blended, {ankle, Quat::Identity()}, bent);
      for (const int joint : {entering.leg.hip, entering.leg.knee, entering.leg.ankle}) {
        const auto j = static_cast<size_t>(joint);
        poses[f].joint_rotations[j] = poses[f].joint_rotations[j].slerp(share, bent.joint_rotations[j]);
      }
    }
  }
}

}  // namespace retrace::runs
