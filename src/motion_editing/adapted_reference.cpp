#include "retrace/motion_editing/adapted_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "filters.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/legs.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"

namespace retrace::task {
namespace {

using character::Character;
using character::Footing;
using character::Leg;
using character::Pose;
using character::ReferenceMotion;
using character::State;
using simulation::Environment;

constexpr double kTravel = 0.5;           // [m] a motion that goes less far has no direction
constexpr double kSmoothGround = 0.1;     // standard deviation [s]
constexpr double kSwingClearance = 0.13;  // of a passing ankle from the line [m]
constexpr double kPassing = 0.2;        // along the path, between the ankles: nearer than this one passes the other [m]
constexpr double kApart = 0.42;         // and farther than this the feet do not touch each other on the line [m]
constexpr double kStandingSpeed = 0.3;  // an ankle much faster than this and than the other one swings [m/s]
constexpr double kSmoothSwing = 0.04;   // standard deviation [s]
constexpr double kStepping = 0.4;   // of a leg's length: a foot lower than this over the ground is about to stand on it
constexpr double kInTheAir = 0.7;   // and one higher than this is not
constexpr double kLowered = 0.05;   // of a leg's length: by which the root comes down at most
constexpr double kFootHalf = 0.06;  // half of the length over which the ground under a foot slopes [m]
constexpr double kSteepest = 0.6;   // rise over run: what is steeper is an edge

std::vector<State> StatesOf(const Character& character, const std::vector<Pose>& poses) {
  std::vector<State> states(poses.size());
  for (size_t i = 0; i < poses.size(); ++i) character::ForwardKinematics(character, poses[i], states[i]);
  return states;
}

Vec3 PositionOf(const Character& character, int joint, const State& state) {
  return character::JointPosition(character, character.joints[static_cast<size_t>(joint)], state);
}

/// Courses of an ankle (poses).
struct AnkleCourse {
  std::vector<Vec3> places;    ///< [m]
  std::vector<double> speeds;  ///< by central differences, one-sided at the ends [m/s]
};

std::vector<AnkleCourse> AnkleCourses(const Character& character, const std::vector<Leg>& legs,
                                      const std::vector<State>& states, double frame_time) {
  std::vector<AnkleCourse> courses(legs.size());
  const size_t count = states.size();
  for (size_t l = 0; l < legs.size(); ++l) {
    AnkleCourse& course = courses[l];
    for (const State& state : states) course.places.push_back(PositionOf(character, legs[l].ankle, state));
    for (size_t i = 0; i < count; ++i) {
      const size_t last = std::min(i + 1, count - 1), first = i > 0 ? i - 1 : 0;
      const double time = static_cast<double>(std::max<size_t>(last - first, 1)) * frame_time;
      course.speeds.push_back((course.places[last] - course.places[first]).norm() / time);
    }
  }
  return courses;
}

/// How much a foot swings past another one (poses): from 0, on the line, to 1, beside it. A foot leaves the line only
/// to pass one that stands on it: by where the feet are along the path, not by when they touch the ground, which is
/// sudden.
std::vector<double> SwingOf(size_t leg, const std::vector<AnkleCourse>& courses, const Vec3& forward,
                            double frame_time) {
  const AnkleCourse& own = courses[leg];
  std::vector<double> swing(own.places.size(), 0.0);
  for (size_t i = 0; i < swing.size(); ++i) {
    for (size_t other = 0; other < courses.size(); ++other) {
      if (other == leg) continue;
      const double apart = std::abs((own.places[i] - courses[other].places[i]).dot(forward));
      const double near = std::clamp((kApart - apart) / (kApart - kPassing), 0.0, 1.0);
      const double mine = own.speeds[i] * own.speeds[i], its = courses[other].speeds[i] * courses[other].speeds[i];
      const double share = mine / (mine + its + kStandingSpeed * kStandingSpeed);
      swing[i] = std::max(swing[i], SmoothStep(near) * share);
    }
  }
  return Smoothed(swing, kSmoothSwing / frame_time);
}

/// Turns a leg about its hip until its ankle is so far to the left of the line; the foot keeps its orientation. Returns
/// where the ankle is then.
Vec3 TurnLeg(const Character& character, const Leg& leg, const State& state, const Frame& frame, double wanted,
             Pose& pose) {
  const auto at = [&](int joint) -> const character::Joint& { return character.joints[static_cast<size_t>(joint)]; };
  const auto orientation = [&](int body) { return state[static_cast<size_t>(body)].orientation; };
  const Vec3 left = frame.heading * Vec3::UnitX();
  const Vec3 forward = frame.heading * Vec3::UnitZ();
  const Vec3 hip = PositionOf(character, leg.hip, state);
  const Vec3 arm = PositionOf(character, leg.ankle, state) - hip;
  const double across = arm.dot(left), down = -arm.y();
  const double reach = std::hypot(across, down);
  const double goal = std::clamp((wanted - frame.Local(hip).x()) / reach, -0.9, 0.9);
  const Quat turn = FromRotationVector((std::asin(goal) - std::atan2(across, down)) * forward);
  const Quat thigh = turn * orientation(at(leg.hip).child);
  const Quat shin = turn * orientation(at(leg.ankle).parent);
  auto& rotations = pose.joint_rotations;
  rotations[static_cast<size_t>(leg.hip)] = (orientation(at(leg.hip).parent).conjugate() * thigh).normalized();
  rotations[static_cast<size_t>(leg.ankle)] = (shin.conjugate() * orientation(at(leg.ankle).child)).normalized();
  return hip + turn * arm;
}

/// What is under a foot (poses), smoothed, and how its leg is built.
struct Footprints {
  std::vector<double> height;            ///< of the ground [m]
  std::vector<double> slope_x, slope_z;  ///< rise over run along the world's axes
  double longest = 0;                    ///< distance of the ankle from the hip [m]
  double folding = 0;                    ///< negative: the knee's hinge closes against its axis
};

Footprints FindFootprints(const Character& character, const Leg& leg, const std::vector<State>& states,
                          const Environment& environment, double frame_time) {
  Footprints under;
  for (const State& state : states) {
    const Vec3 ankle = PositionOf(character, leg.ankle, state);
    const double from = state[static_cast<size_t>(character.root)].position.y();
    const auto ground = [&](double x, double z) {
      const double found = environment.HeightAt(ankle.x() + x, ankle.z() + z, from);
      return std::isfinite(found) ? found : under.height.empty() ? 0 : under.height.back();
    };
    const auto slope = [&](double x, double z) {
      const double rise = (ground(x, z) - ground(-x, -z)) / (2 * kFootHalf);
      return std::abs(rise) < kSteepest ? rise : 0;  // an edge is not a slope
    };
    under.slope_x.push_back(slope(kFootHalf, 0));
    under.slope_z.push_back(slope(0, kFootHalf));
    under.height.push_back(ground(0, 0));
    under.folding += character::Folding(character, leg, state);
    under.longest = std::max(under.longest, (ankle - PositionOf(character, leg.hip, state)).norm());
  }
  for (std::vector<double>* values : {&under.height, &under.slope_x, &under.slope_z}) {
    *values = Smoothed(*values, kSmoothSwing / frame_time);
  }
  return under;
}

}  // namespace

std::string Meters(double value) {
  return io::Fixed(value, 2).append(" m");
}

Frame FrameOf(const ReferenceMotion& reference) {
  Frame frame;
  const Pose& first = reference.poses().front();
  frame.origin = Vec3(first.root_position.x(), 0, first.root_position.z());
  Vec3 way = reference.poses().back().root_position - first.root_position;
  way.y() = 0;
  frame.length = way.norm();
  frame.heading =
      frame.length < kTravel ? Heading(first.root_orientation) : AxisRotation(1, std::atan2(way.x(), way.z()));
  return frame;
}

AdaptedReference::AdaptedReference(const ReferenceMotion& recorded)
    : character_(&recorded.character()),
      frame_time_(recorded.frame_time()),
      poses_(recorded.poses()),
      raised_(poses_.size(), 0.0) {}

void AdaptedReference::FollowGround(const Environment& environment, double gravity) {
  std::vector<double> ground;
  for (const Pose& pose : poses_) {
    const Vec3& root = pose.root_position;
    const double height = environment.HeightAt(root.x(), root.z(), root.y());
    // Where there is nothing it goes on as before, with a warning.
    ground.push_back(std::isfinite(height) ? height : ground.empty() ? 0 : ground.back());
  }
  raised_ = Smoothed(ground, kSmoothGround / frame_time_);
  double speed = 0;  // downwards, negative
  for (size_t i = 1; i < raised_.size(); ++i) {
    raised_[i] = std::max(raised_[i], raised_[i - 1] + (speed - gravity * frame_time_) * frame_time_);
    speed = std::min(0.0, (raised_[i] - raised_[i - 1]) / frame_time_);
  }
  for (size_t i = 0; i < poses_.size(); ++i) poses_[i].root_position.y() += raised_[i];
  const auto [low, high] = std::minmax_element(raised_.begin(), raised_.end());
  if (*low == 0 && *high == 0) return;
  std::string note = "the reference's heights follow the ground under its root: from ";
  note.append(Meters(*low)).append(" to ").append(Meters(*high)).append(", ").append(Meters(raised_.back()));
  notes_.push_back(note.append(" at the end"));
}

void AdaptedReference::PutLegsOnLine(const Frame& frame, const std::string& world) {
  const Character& character = *character_;
  const std::vector<Leg> legs = character::LegsOf(character);
  if (legs.empty()) {
    throw InputError("world " + world + ": /reference/legs_on_line",
                     "a character without legs that ball joints hold at hip and ankle", "one with legs");
  }
  if (character.planar) {
    throw InputError("world " + world + ": /reference/legs_on_line",
                     "a planar character, whose feet stay beside one another", "one that can put them on a line");
  }
  std::vector<State> states = StatesOf(character, poses_);
  const double largest_sway = CenterOverLine(frame, states);
  const std::vector<AnkleCourse> courses = AnkleCourses(character, legs, states, frame_time_);
  const Vec3 forward = frame.heading * Vec3::UnitZ();
  const size_t count = poses_.size();
  std::vector<double> before(count, std::numeric_limits<double>::infinity());  // of the lower ankle
  std::vector<double> after = before;
  double largest = 0;
  for (size_t l = 0; l < legs.size(); ++l) {
    const std::vector<double> swing = SwingOf(l, courses, forward, frame_time_);
    for (size_t i = 0; i < count; ++i) {
      const double wanted = swing[i] * legs[l].side * kSwingClearance;
      const Vec3 moved = TurnLeg(character, legs[l], states[i], frame, wanted, poses_[i]);
      const Vec3& ankle = courses[l].places[i];
      largest = std::max(largest, (moved - ankle).norm());
      before[i] = std::min(before[i], ankle.y());
      after[i] = std::min(after[i], moved.y());
    }
  }
  std::vector<double> lift;
  for (size_t i = 0; i < count; ++i) lift.push_back(before[i] - after[i]);
  lift = Smoothed(lift, kSmoothSwing / frame_time_);
  double largest_lift = 0;
  for (size_t i = 0; i < count; ++i) {
    poses_[i].root_position.y() += lift[i];
    largest_lift = std::max(largest_lift, std::abs(lift[i]));
  }
  std::string note = "the reference walks on a line: moved sideways by ";
  note.append(Meters(largest_sway)).append(" at most, so that its center of mass is over it, its ankles by ");
  note.append(Meters(largest)).append(" more, the root by ").append(io::Fixed(largest_lift, 3));
  notes_.push_back(note.append(" m in height"));
}

double AdaptedReference::CenterOverLine(const Frame& frame, std::vector<State>& states) {
  const Vec3 left = frame.heading * Vec3::UnitX();
  double largest = 0;
  for (size_t i = 0; i < poses_.size(); ++i) {
    const double sway = frame.Local(character::CenterOfMass(*character_, states[i])).x();
    poses_[i].root_position -= sway * left;
    for (character::BodyState& body : states[i]) body.position -= sway * left;
    largest = std::max(largest, std::abs(sway));
  }
  return largest;
}

void AdaptedReference::PutFeetOnGround(const Environment& environment) {
  const Character& character = *character_;
  std::vector<Leg> legs = character::LegsOf(character);
  if (legs.empty()) {
    notes_.emplace_back("the reference's feet stay as they are: no ball joints hold the legs at hip and ankle");
    return;
  }
  const size_t count = poses_.size();
  std::vector<State> states = StatesOf(character, poses_);
  std::vector<std::vector<Footing>> footings(legs.size());  // (legs x poses)
  std::vector<double> lower(count, 0.0);
  for (size_t l = 0; l < legs.size(); ++l) {
    const Footprints under = FindFootprints(character, legs[l], states, environment, frame_time_);
    legs[l].folding = under.folding < 0 ? -1 : 1;
    for (size_t i = 0; i < count; ++i) {
      const Vec3 hip = PositionOf(character, legs[l].hip, states[i]);
      const Vec3 before = PositionOf(character, legs[l].ankle, states[i]);
      const double over = (before.y() - raised_[i]) / under.longest;
      const double near = std::clamp((kInTheAir - over) / (kInTheAir - kStepping), 0.0, 1.0);
      const double share = SmoothStep(near);
      const Vec3 ankle = before + share * (under.height[i] - raised_[i]) * Vec3::UnitY();
      footings[l].push_back(
          {ankle, ShortestArc(Vec3::UnitY(), Vec3(-share * under.slope_x[i], 1, -share * under.slope_z[i]))});
      const double across = std::hypot(ankle.x() - hip.x(), ankle.z() - hip.z());
      const double reach = std::sqrt(std::max(0.0, under.longest * under.longest - across * across));
      lower[i] = std::max(lower[i], std::min(hip.y() - ankle.y() - reach, kLowered * under.longest));
    }
  }
  // The root comes down where the ground falls away from a foot, rather than stretching a leg more than it was in the
  // recording. Not far: a leg that pushes off a step's lower side would lose the height that it pushes for.
  lower = Smoothed(LargestAround(lower, static_cast<int>(std::ceil(2 * kSmoothSwing / frame_time_))),
                   kSmoothSwing / frame_time_);
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    poses_[i].root_position.y() -= lower[i];
    for (character::BodyState& body : states[i]) body.position.y() -= lower[i];
    for (size_t l = 0; l < legs.size(); ++l) {
      const Vec3 recorded = PositionOf(character, legs[l].ankle, states[i]);
      largest = std::max(largest, std::abs(footings[l][i].ankle.y() - recorded.y()));
      character::BendLeg(character, legs[l], states[i], footings[l][i], poses_[i]);
    }
  }
  const double lowest = *std::max_element(lower.begin(), lower.end());
  if (largest == 0) return;
  std::string note = "the reference's feet follow the ground under them: ankles moved by ";
  note.append(Meters(largest)).append(" against the root at most, the root lowered by ").append(io::Fixed(lowest, 3));
  notes_.push_back(note.append(" m at most"));
}

}  // namespace retrace::task
