#include "kinematic_blend.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "planted_feet.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/legs.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/foot_slide.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {
namespace {

using character::Character;
using character::Pose;
using character::State;

constexpr double kMatching = 0.3;     // in which the differences of a matched blend fade away [s]
constexpr double kShownBefore = 0.1;  // T at most, what is simulated is shown by its poses [s]
// Where a motion is lifted out of the floor: in which the depth is looked at before and after, in which it begins [s],
// and what stays, which a simulation has, too [m].
constexpr double kLiftedAround = 0.1, kLiftBegins = 0.15, kDepthThatStays = 0.003;
constexpr double kUnseen = 0.0004;  // of what joints give way: a tenth of a meter per second in a step [m]

/// What two poses differ by: the root's position, then rotation vectors of the root and of each joint.
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

/// The rotation vector of the same rotation that is nearer to another one: near half a turn it may be the one the other
/// way around.
Vec3 OnTheSideOf(const Vec3& side, const Vec3& turn) {
  const double angle = turn.norm();
  if (angle < 1e-9) return turn;
  const Vec3 other = turn * (1 - 2 * std::numbers::pi / angle);
  return (other - side).squaredNorm() < (turn - side).squaredNorm() ? other : turn;
}

/// Fades from a value and a rate to nothing in a time: the polynomial of fifth degree with no second derivative at
/// either end.
Vec3 Faded(const Vec3& value, const Vec3& rate, double time, double fade) {
  const double s = time / fade, r = 1 - s;
  return r * r * r * ((1 + 3 * s + 6 * s * s) * value + fade * s * (1 + 3 * s) * rate);
}

/// The pose of a state, moved so that the centers of its bodies are in the mean where the state has them: joints give
/// way a little under a hard impact.
void MeanPoseOf(const Character& character, const State& state, Pose& pose) {
  character::PoseOf(character, state, pose);
  State bodies;
  character::ForwardKinematics(character, pose, bodies);
  Vec3 sum = Vec3::Zero();
  for (size_t b = 0; b < character.bodies.size(); ++b) sum += state[b].position - bodies[b].position;
  pose.root_position += sum / static_cast<double>(character.bodies.size());
}

/// Largest over the bodies, or over those that are in no leg.
double LargestDistance(const Character& character, const State& a, const State& b, bool legs = true) {
  std::vector<bool> leg(character.bodies.size(), false);
  for (const character::Leg& one : legs ? std::vector<character::Leg>() : character::LegsOf(character)) {
    for (const int joint : {one.hip, one.knee, one.ankle}) {
      leg[static_cast<size_t>(character.joints[static_cast<size_t>(joint)].child)] = true;
    }
  }
  double largest = 0;
  for (size_t k = 0; k < character.bodies.size(); ++k) {
    if (leg[k]) continue;
    largest = std::max(largest, (a[k].position - b[k].position).norm());
  }
  return largest;
}

/// By how much a body is elsewhere in the pose that stands for a state than in the state itself [m].
double GivesWay(const Character& character, const State& state) {
  Pose pose;
  MeanPoseOf(character, state, pose);
  State bodies;
  character::ForwardKinematics(character, pose, bodies);
  return LargestDistance(character, bodies, state);
}

/// Steps between two poses of an ending; 1 where they do not fall on steps.
int StepsApart(double time_step) {
  const auto steps = static_cast<int>(std::lround(kCompositionFrame / time_step));
  return std::abs(steps * time_step - kCompositionFrame) < 1e-9 ? std::max(1, steps) : 1;
}

/// From when on poses are shown: at T bodies may be torn from one another by the floor, and would jump into the pose.
/// So what is simulated is shown by its poses from the last step on, shortly before T, at which one does not see that.
int FirstStepOf(const BlendProblem& problem) {
  const int apart = StepsApart(problem.time_step);
  if (std::abs(apart * problem.time_step - kCompositionFrame) > 1e-9) return problem.step;
  const int earliest =
      std::max({1, problem.exit_step, problem.step - static_cast<int>(std::lround(kShownBefore / problem.time_step))});
  const auto gives_way = [&](int step) {
    return GivesWay(problem.character, problem.simulated[static_cast<size_t>(step)]);
  };
  int best = problem.step;
  double least = 2 * gives_way(best);  // of the position, and in a step of the velocity, which had what it gave before
  for (int step = problem.step - apart; step >= earliest && least > kUnseen; step -= apart) {
    double largest = gives_way(step);
    for (int next = step + 1; next <= step + apart; ++next) largest = std::max(largest, gives_way(next));
    if (largest >= least) continue;
    least = largest;
    best = step;
  }
  return best;
}

/// The motion begins at T with the pose and the velocity of the simulation. The root does not come back for the
/// distance that it covers along the ground meanwhile: the motion is put where that ends.
std::vector<Pose> Matched(const BlendProblem& problem, int first_step, size_t count) {
  // Velocities are those between the poses that are shown.
  const int apart = first_step < problem.step ? StepsApart(problem.time_step) : 1;
  const double h = apart * problem.time_step;
  Pose simulated, simulated_before, motion, motion_after;
  MeanPoseOf(problem.character, problem.simulated.back(), simulated);
  MeanPoseOf(problem.character, problem.simulated[problem.simulated.size() - 1 - static_cast<size_t>(apart)],
             simulated_before);
  problem.motion(0, motion);
  problem.motion(h, motion_after);
  Pose motion_before = motion;  // as if its velocity after T were that before it
  character::MoveTowards(motion_after, motion, 1, motion_before);
  const Difference at = Of(motion, simulated), before = Of(motion_before, simulated_before);
  Difference rate{(at.place - before.place) / h, {}};
  for (size_t k = 0; k < at.turns.size(); ++k) {
    rate.turns.push_back((at.turns[k] - OnTheSideOf(at.turns[k], before.turns[k])) / h);
  }
  std::vector<Pose> poses;
  for (int step = first_step; step < problem.step; step += apart) {
    MeanPoseOf(problem.character, problem.simulated[static_cast<size_t>(step)], poses.emplace_back());
  }
  // Feet that stand in both stay where they are: the motion is put there.
  const std::vector<EnteringLeg> legs =
      EnteringLegs(problem.character, problem.simulated.back(), problem.motion, problem.duration);
  Vec3 put = Vec3::Zero();
  double held = 0;
  for (const EnteringLeg& leg : legs) {
    if (!leg.held()) continue;
    put += leg.apart;
    ++held;
  }
  if (held > 0) put /= held;
  const Vec3 path = at.place + 0.5 * kMatching * rate.place;
  if (held == 0) put = Vec3(path.x(), 0, path.z());
  std::vector<Pose> motions(count);
  const size_t lead = poses.size();
  poses.resize(lead + count);
  for (size_t f = 0; f < count; ++f) {
    const double time = static_cast<double>(f) * kCompositionFrame;
    Pose& pose = poses[lead + f];
    problem.motion(time, pose);
    motions[f] = pose;
    motions[f].root_position += put;
    const double t = std::min(time, kMatching), s = t / kMatching;
    Difference now{Faded(at.place, rate.place, t, kMatching), {}};
    const Vec3 faded_to_put = Faded(at.place - put, rate.place, t, kMatching);
    const double way = kMatching * (s - s * s * s + s * s * s * s / 2);  // the integral of 1 - SmoothStep
    for (const int axis : {0, 2}) {
      now.place[axis] = held == 0 ? at.place[axis] + way * rate.place[axis] : put[axis] + faded_to_put[axis];
    }
    for (size_t k = 0; k < at.turns.size(); ++k) {
      now.turns.push_back(Faded(at.turns[k], rate.turns[k], t, kMatching));
    }
    Add(now, pose);
  }
  PlantFeet(problem.character, legs, motions, kCompositionFrame, std::span(poses).subspan(lead));
  return poses;
}

/// Largest change of the velocity of a body from one step to the next, less that of another motion there [m/s].
/// @param at the states before, at and after an instant
double VelocityJump(const Character& character, std::span<const State> at, std::span<const State> less, double h) {
  double largest = 0;
  for (size_t k = 0; k < character.bodies.size(); ++k) {
    const auto change = [&](std::span<const State> s) {
      return Vec3((s[2][k].position - 2 * s[1][k].position + s[0][k].position) / h);
    };
    largest = std::max(largest, (change(at) - change(less)).norm());
  }
  return largest;
}

}  // namespace

control::KinematicEnding BlendIn(const BlendProblem& problem) {
  control::KinematicEnding ending;
  const bool linear = problem.blend == Blend::kLinear;
  ending.frame_time = kCompositionFrame;
  if (!linear) {
    ending.first_step = ending.step = FirstStepOf(problem);
    ending.poses = Matched(problem, ending.first_step, NumCompositionFrames(problem.duration));
    return ending;
  }
  ending.first_step = problem.blow_step;
  ending.step = problem.step;
  const double lead = (ending.step - ending.first_step) * problem.time_step;
  ending.poses.resize(NumCompositionFrames(lead + problem.duration));
  for (size_t f = 0; f < ending.poses.size(); ++f) {
    problem.motion(static_cast<double>(f) * kCompositionFrame - lead, ending.poses[f]);
  }
  return ending;
}

double LiftOutOfFloor(const Character& character, control::KinematicEnding& ending) {
  const auto frames = static_cast<std::ptrdiff_t>(ending.poses.size());
  const auto around = static_cast<std::ptrdiff_t>(std::lround(kLiftedAround / ending.frame_time));
  std::vector<double> depths;
  State state;
  for (const Pose& pose : ending.poses) {
    character::ForwardKinematics(character, pose, state);
    depths.push_back(std::max(0.0, metrics::DeepestPoint(character, std::span(&state, 1)) - kDepthThatStays));
  }
  // The greatest nearby, then the mean of these: nowhere less than the depth.
  std::vector<double> greatest(depths.size());
  for (std::ptrdiff_t f = 0; f < frames; ++f) {
    for (std::ptrdiff_t k = std::max<std::ptrdiff_t>(0, f - around); k <= std::min(frames - 1, f + around); ++k) {
      greatest[static_cast<size_t>(f)] = std::max(greatest[static_cast<size_t>(f)], depths[static_cast<size_t>(k)]);
    }
  }
  double most = 0;
  for (std::ptrdiff_t f = 0; f < frames; ++f) {
    double sum = 0, count = 0;
    for (std::ptrdiff_t k = std::max<std::ptrdiff_t>(0, f - around); k <= std::min(frames - 1, f + around); ++k) {
      const double weight =
          1 + std::cos(std::numbers::pi * static_cast<double>(k - f) / static_cast<double>(around + 1));
      sum += weight * greatest[static_cast<size_t>(k)];
      count += weight;
    }
    const double begins = SmoothStep(std::min(1.0, static_cast<double>(f) * ending.frame_time / kLiftBegins));
    const double lift = begins * sum / count;
    ending.poses[static_cast<size_t>(f)].root_position.y() += lift;
    most = std::max(most, lift);
  }
  return most;
}

ResponseBlend MeasureBlend(const BlendProblem& problem, const control::KinematicEnding& ending,
                           std::span<const State> shown, std::span<const State> simulated) {
  const Character& character = problem.character;
  const double h = problem.time_step;
  const bool linear = problem.blend == Blend::kLinear;
  const auto begin = static_cast<size_t>(ending.first_step), enters = static_cast<size_t>(problem.step);
  const size_t end =
      linear ? enters : std::min(enters + static_cast<size_t>(std::lround(kMatching / h)), shown.size() - 2);
  ResponseBlend blend;
  blend.from = static_cast<double>(begin) * h;
  blend.to = static_cast<double>(end) * h;

  // The motion itself as it is shown without a blend, put where the end of the blend is.
  const size_t first_of_motion = linear ? begin : enters;
  std::vector<State> motion;
  {
    const double from = (static_cast<double>(first_of_motion) - problem.step) * h;
    const double frames = std::ceil(static_cast<double>(end + 2 - first_of_motion) * h / ending.frame_time);
    std::vector<Pose> poses(static_cast<size_t>(frames) + 1);
    for (size_t f = 0; f < poses.size(); ++f) {
      problem.motion(from + static_cast<double>(f) * ending.frame_time, poses[f]);
    }
    const character::ReferenceMotion alone(character, ending.frame_time, poses, ending.frame_time);
    Pose pose;
    for (size_t step = first_of_motion; step <= end + 1; ++step) {
      alone.PoseAt(static_cast<double>(step - first_of_motion) * h, pose);
      character::ForwardKinematics(character, pose, motion.emplace_back());
    }
  }
  const size_t end_of_motion = end - first_of_motion;
  if (!linear) {
    const auto root = static_cast<size_t>(character.root);
    Vec3 moved = shown[end][root].position - motion[end_of_motion][root].position;
    moved.y() = 0;
    for (State& state : motion) character::Translate(state, moved);
  }
  State first;
  character::ForwardKinematics(character, ending.poses.front(), first);
  const double at_begin = linear ? LargestDistance(character, shown[begin], simulated[begin])
                                 : LargestDistance(character, first, simulated[begin]);
  // Feet that are held where they stand are elsewhere than in the motion; a jump of theirs is one of the velocity.
  blend.position_jump = std::max(at_begin, LargestDistance(character, shown[end], motion[end_of_motion], linear));
  const auto around = [](std::span<const State> states, size_t at) { return states.subspan(at - 1, 3); };
  // Where what is simulated is shown by its poses, it goes on; at T the motion takes its place, at the same velocity.
  if (begin > 0 && begin < enters) {
    blend.begin_velocity_jump = VelocityJump(character, around(shown, begin), around(simulated, begin), h);
  }
  if (!linear && enters > 0) {
    const std::vector<State> still(3, shown[enters]);
    blend.begin_velocity_jump =
        std::max(blend.begin_velocity_jump, VelocityJump(character, around(shown, enters), still, h));
  }
  blend.end_velocity_jump = VelocityJump(character, around(shown, end), around(motion, end_of_motion), h);
  const std::span<const State> blended = shown.subspan(begin, end - begin + 1);
  blend.foot_slide = metrics::FootSlide(character, blended, h);
  blend.motion_foot_slide = metrics::FootSlide(character, motion, h);
  blend.penetration = metrics::DeepestPoint(character, blended);
  blend.motion_penetration = metrics::DeepestPoint(character, motion);
  return blend;
}

}  // namespace retrace::runs
