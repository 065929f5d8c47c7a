#include "blended_way.h"

#include <algorithm>
#include <cmath>

#include "composition_frames.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/foot_slide.h"
#include "retrace/runs/composed_motion.h"

namespace retrace::runs {
namespace {

using character::Character;
using character::Pose;
using character::State;

constexpr double kMatching = 0.3;  // in which the differences of a matched blend fade away [s]
constexpr double kLargestRate =
    20;  // of such a difference [rad/s]: beyond it the rotation vector has jumped to the other side

/// What two poses differ by: the root's place, then rotation vectors of the root and of each joint.
struct Difference {
  Vec3 place;
  std::vector<Vec3> turns;
};

Difference Of(const Pose& from, const Pose& to) {
  Difference difference{to.root_position - from.root_position, {}};
  difference.turns.push_back(RotationVector(to.root_orientation * from.root_orientation.conjugate()));
  for (size_t j = 0; j < from.joint_rotations.size(); ++j) {
    difference.turns.push_back(RotationVector(to.joint_rotations[j] * from.joint_rotations[j].conjugate()));
  }
  return difference;
}

void Add(const Difference& difference, Pose& pose) {
  const auto turn = [](const Vec3& by, Quat& q) { q = (FromRotationVector(by) * q).normalized(); };
  pose.root_position += difference.place;
  turn(difference.turns[0], pose.root_orientation);
  for (size_t j = 0; j < pose.joint_rotations.size(); ++j) turn(difference.turns[j + 1], pose.joint_rotations[j]);
}

/// Fades from a value and a rate to nothing in a time: the polynomial of fifth degree with no second derivative at
/// either end.
Vec3 Faded(const Vec3& value, const Vec3& rate, double time, double fade) {
  const double s = time / fade, r = 1 - s;
  return r * r * r * ((1 + 3 * s + 6 * s * s) * value + fade * s * (1 + 3 * s) * rate);
}

/// The pose of a state, moved so that the centres of its bodies are in the mean where the state has them: joints give
/// way a little under a hard blow.
void MeanPoseOf(const Character& character, const State& state, Pose& pose) {
  character::PoseOf(character, state, pose);
  State bodies;
  character::ForwardKinematics(character, pose, bodies);
  Vec3 sum = Vec3::Zero();
  for (size_t b = 0; b < character.bodies.size(); ++b) sum += state[b].position - bodies[b].position;
  pose.root_position += sum / static_cast<double>(character.bodies.size());
}

/// The motion begins at T with the pose and the velocity of the simulation. The root does not come back for the way
/// that it goes along the ground meanwhile: the motion is put where that ends.
std::vector<Pose> Matched(const BlendProblem& problem, size_t count) {
  const double h = problem.time_step;
  Pose simulated, simulated_before, motion, motion_after;
  MeanPoseOf(problem.character, problem.simulated.back(), simulated);
  MeanPoseOf(problem.character, problem.simulated[problem.simulated.size() - 2], simulated_before);
  problem.motion(0, motion);
  problem.motion(h, motion_after);
  Pose motion_before = motion;  // as if its velocity after T were that before it
  character::MoveTowards(motion_after, motion, 1, motion_before);
  const Difference at = Of(motion, simulated), before = Of(motion_before, simulated_before);
  Difference rate{(at.place - before.place) / h, {}};
  for (size_t k = 0; k < at.turns.size(); ++k) {
    Vec3 turn = (at.turns[k] - before.turns[k]) / h;
    if (turn.norm() > kLargestRate) turn.setZero();
    rate.turns.push_back(turn);
  }
  std::vector<Pose> poses(count);
  for (size_t f = 0; f < count; ++f) {
    const double time = static_cast<double>(f) * kCompositionFrame;
    problem.motion(time, poses[f]);
    const double t = std::min(time, kMatching), s = t / kMatching;
    Difference now{Faded(at.place, rate.place, t, kMatching), {}};
    const double way = kMatching * (s - s * s * s + s * s * s * s / 2);  // the integral of 1 - SmoothStep
    for (const int axis : {0, 2}) now.place[axis] = at.place[axis] + way * rate.place[axis];
    for (size_t k = 0; k < at.turns.size(); ++k) {
      now.turns.push_back(Faded(at.turns[k], rate.turns[k], t, kMatching));
    }
    Add(now, poses[f]);
  }
  return poses;
}

/// Largest over the bodies.
double LargestDistance(const Character& character, const State& a, const State& b) {
  double largest = 0;
  for (size_t k = 0; k < character.bodies.size(); ++k) {
    largest = std::max(largest, (a[k].position - b[k].position).norm());
  }
  return largest;
}

/// Largest change of the velocity of a body from one step to the next, less that of another motion there [m/s].
/// @param at the states before, at and after an instant
double VelocityJump(const Character& character, std::span<const State> at, std::span<const State> less, double h) {
  double largest = 0;
  for (size_t k = 0; k < character.bodies.size(); ++k) {
    const auto change = [&](std::span<const State> s) {
      return Vec3((s[2][k].position - 2 * s[1][k].position + s[0][k].position) / h);
    };
    largest = std::max(largest, (less.empty() ? change(at) : Vec3(change(at) - change(less))).norm());
  }
  return largest;
}

}  // namespace

control::KinematicEnding BlendIn(const BlendProblem& problem) {
  control::KinematicEnding ending;
  const bool linear = problem.blend == Blend::kLinear;
  ending.first_step = linear ? problem.blow_step : problem.step;
  ending.step = problem.step;
  ending.frame_time = kCompositionFrame;
  const double lead = (ending.step - ending.first_step) * problem.time_step;
  const size_t count = NumCompositionFrames(lead + problem.duration);
  if (!linear) {
    ending.poses = Matched(problem, count);
    return ending;
  }
  ending.poses.resize(count);
  for (size_t f = 0; f < count; ++f) {
    problem.motion(static_cast<double>(f) * kCompositionFrame - lead, ending.poses[f]);
  }
  return ending;
}

ResponseBlend MeasureBlend(const BlendProblem& problem, const control::KinematicEnding& ending,
                           std::span<const State> shown, std::span<const State> simulated) {
  const Character& character = problem.character;
  const double h = problem.time_step;
  const bool linear = problem.blend == Blend::kLinear;
  const auto begin = static_cast<size_t>(ending.first_step);
  const auto end = linear ? static_cast<size_t>(ending.step)
                          : std::min(begin + static_cast<size_t>(std::lround(kMatching / h)), shown.size() - 2);
  ResponseBlend blend;
  blend.from = static_cast<double>(begin) * h;
  blend.to = static_cast<double>(end) * h;

  // The motion itself, put where the end of the blend is.
  std::vector<State> motion;
  Pose pose, last;
  for (size_t step = begin; step <= end + 1; ++step) {
    problem.motion((static_cast<double>(step) - problem.step) * h, pose);
    character::ForwardKinematics(character, pose, motion.emplace_back());
  }
  if (!linear) {
    const auto root = static_cast<size_t>(character.root);
    Vec3 moved = shown[end][root].position - motion[end - begin][root].position;
    moved.y() = 0;
    for (State& state : motion) character::Translate(state, moved);
  }
  State first;
  character::ForwardKinematics(character, ending.poses.front(), first);
  const double at_begin = linear ? LargestDistance(character, shown[begin], simulated[begin])
                                 : LargestDistance(character, first, simulated[begin]);
  blend.position_jump = std::max(at_begin, LargestDistance(character, shown[end], motion[end - begin]));
  const auto around = [](std::span<const State> states, size_t at) { return states.subspan(at - 1, 3); };
  const std::span<const State> no_other;
  blend.begin_velocity_jump =
      begin == 0 ? 0 : VelocityJump(character, around(shown, begin), linear ? around(simulated, begin) : no_other, h);
  blend.end_velocity_jump = VelocityJump(character, around(shown, end), around(motion, end - begin), h);
  const std::span<const State> blended = shown.subspan(begin, end - begin + 1);
  blend.foot_slide = metrics::FootSlide(character, blended, h);
  blend.motion_foot_slide = metrics::FootSlide(character, motion, h);
  blend.penetration = metrics::DeepestPoint(character, blended);
  blend.motion_penetration = metrics::DeepestPoint(character, motion);
  return blend;
}

}  // namespace retrace::runs
