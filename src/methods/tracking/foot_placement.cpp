#include "foot_placement.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/corners.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::tracking {
namespace {

/// Cosine of the root's tilt from which on a motion is one on the feet.
constexpr double kUpright = 0.7;

/// Least height of a hip over the ankle, as a share of the character's.
constexpr double kShortestLeg = 0.17;

/// Distance ahead or behind up to which a foot is beside another, as a share of the character's height.
constexpr double kBeside = 0.2;

constexpr double kSpacing = 0.01;  // between instants of the reference [s]
constexpr double kShift = 0.3;  // before and after which a foot is lifted or put down, up to which it counts less [s]
constexpr double kLeastShare = 0.02;  // of a foot that stands

// Drift is healed while the body is nearly where it is to be over its feet: one that catches itself steps for that
// alone.
constexpr double kMostHealed = 0.05;    // of the drift, in one step [m]
constexpr double kCalmDistance = 0.05;  // of the center of mass from where it is to be over the feet [m]
constexpr double kCalmVelocity = 0.3;   // of the center of mass, against the reference [m/s]

// Tilt of a foot in the reference up to which it is flat, and from which on it is not [rad].
constexpr double kFlat = 0.05;
constexpr double kTilted = 0.15;

double Share(double time, double time_constant) {
  return time_constant > 0 ? 1 - std::exp(-time / time_constant) : 1;
}

}  // namespace

FootPlacement::FootPlacement(const character::Character& character, const character::ReferenceMotion& reference,
                             const simulation::Environment& environment, const Options& options)
    : character_(character), ground_(environment), options_(options) {
  for (const character::Leg& leg : character::LegsOf(character)) {
    Foot& foot = feet_.emplace_back();
    foot.leg = leg;
    foot.body = character.joints[static_cast<size_t>(leg.ankle)].child;
    for (const character::Shape& shape : character.bodies[static_cast<size_t>(foot.body)].shapes) {
      const auto corners = character::CornersOf(shape);
      foot.corners.insert(foot.corners.end(), corners.begin(), corners.end());
    }
  }
  if (options.guidance == 0) FindShares(reference);
}

void FootPlacement::FindShares(const character::ReferenceMotion& reference) {
  constexpr auto kMost = static_cast<size_t>(kShift / kSpacing);
  const auto count = static_cast<size_t>(reference.duration() / kSpacing) + 1;
  character::State state;
  for (Foot& foot : feet_) foot.share.resize(count);
  for (size_t i = 0; i < count; ++i) {
    reference.StateAt(static_cast<double>(i) * kSpacing, state);
    for (Foot& foot : feet_) foot.share[i] = Stands(foot, state) ? 1 : 0;
  }
  for (Foot& foot : feet_) {
    // Instants since it was put down, and until it is lifted; a motion begins and ends as it would go on.
    size_t since = kMost, until = kMost;
    std::vector<size_t> nearest(count);
    for (size_t i = 0; i < count; ++i) nearest[i] = since = foot.share[i] > 0 ? std::min(since + 1, kMost + 1) : 0;
    for (size_t i = count; i-- > 0;) {
      until = foot.share[i] > 0 ? std::min(until + 1, kMost + 1) : 0;
      foot.share[i] = static_cast<double>(std::min(nearest[i], until)) / static_cast<double>(kMost + 1);
    }
  }
}

double FootPlacement::ShareAt(const Foot& foot, double time) const {
  if (foot.share.empty()) return 1;
  const double at = std::clamp(time / kSpacing, 0.0, static_cast<double>(foot.share.size() - 1));
  const auto before = static_cast<size_t>(at);
  const double next = foot.share[std::min(before + 1, foot.share.size() - 1)];
  const double share = foot.share[before] + (at - static_cast<double>(before)) * (next - foot.share[before]);
  return std::max(kLeastShare, share);
}

bool FootPlacement::Stands(const Foot& foot, const character::State& reference) const {
  const character::BodyState& body = reference[static_cast<size_t>(foot.body)];
  return std::any_of(foot.corners.begin(), foot.corners.end(), [&](const Vec3& corner) {
    return ground_.HeightOf(Vec3(body.position + body.orientation * corner)) < options_.lifted;
  });
}

void FootPlacement::Update(const character::State& state, const Goal& goal, double time, const Vec3& surface_velocity,
                           double time_step) {
  const auto root = static_cast<size_t>(character_.root);
  upright_ = (goal.state[root].orientation * Vec3::UnitY()).y() > kUpright;
  Vec3 stance = Vec3::Zero(), stance_in_reference = Vec3::Zero();
  double standing = 0;
  for (Foot& foot : feet_) {
    foot.stands = Stands(foot, goal.state);
    if (!foot.stands) continue;
    const double share = ShareAt(foot, time);
    standing += share;
    stance += share * state[static_cast<size_t>(foot.body)].position;
    stance_in_reference += share * goal.state[static_cast<size_t>(foot.body)].position;
  }
  Vec3 wanted = Vec3::Zero();
  distance_error_.setZero();
  if (standing > 0 && upright_) {
    const Quat heading = Heading(state[root].orientation), heading_in_reference = Heading(goal.state[root].orientation);
    const auto error = [&](const Vec3& simulated, const Vec3& recorded) {
      return Vec3(heading.conjugate() * simulated - heading_in_reference.conjugate() * recorded);
    };
    const Vec3 center = character::CenterOfMass(character_, state);
    const Vec3 center_in_reference = character::CenterOfMass(character_, goal.state);
    const Vec3 distance = error(center - stance / standing, center_in_reference - stance_in_reference / standing);
    const Vec3 velocity = error(character::CenterOfMassVelocity(character_, state) - surface_velocity,
                                character::CenterOfMassVelocity(character_, goal.state));
    distance_error_ = heading * Vec3(distance.x(), 0, distance.z());
    Vec3 ahead = options_.placement_distance * distance + options_.placement_velocity * velocity;
    if (surface_velocity.isZero()) {
      const double behind = (heading.conjugate() * (center_in_reference - center)).z();
      const double calm = std::max(0.0, 1 - std::hypot(distance.x(), distance.z()) / kCalmDistance) *
                          std::max(0.0, 1 - std::hypot(velocity.x(), velocity.z()) / kCalmVelocity);
      const double healed = std::clamp(options_.placement_drift * calm * behind, -kMostHealed, kMostHealed);
      ahead.z() += options_.placement_distance * healed;
    }
    const double limit = options_.placement_limit;
    wanted = {std::clamp(-ahead.z(), -limit, limit), 0, std::clamp(ahead.x(), -limit, limit)};
    if (character_.planar) wanted.z() = 0;
  }
  for (Foot& foot : feet_) {
    if (foot.stands || !upright_) {
      foot.turn *= 1 - Share(time_step, options_.placement_decay);
    } else if (standing > 0) {  // in flight a leg keeps its turn
      const double across = character_.planar ? 0 : LimitedAcross(state, goal, foot, wanted.z());
      foot.turn += Share(time_step, options_.placement_rise) * (Vec3(wanted.x(), 0, across) - foot.turn);
    }
  }
}

double FootPlacement::LimitedAcross(const character::State& state, const Goal& goal, const Foot& foot,
                                    double turn) const {
  const auto root = static_cast<size_t>(character_.root), body = static_cast<size_t>(foot.body);
  const double side = foot.leg.side;
  // Sideways, as the character and as the reference face.
  const Quat heading = Heading(state[root].orientation);
  const Vec3 across = heading * Vec3(side, 0, 0);
  const Vec3 across_in_reference = Heading(goal.state[root].orientation) * Vec3(side, 0, 0);
  const character::Joint& hip = character_.joints[static_cast<size_t>(foot.leg.hip)];
  const Vec3 from_hip = goal.state[body].position - character::JointPosition(character_, hip, goal.state);
  const double length = std::max(-from_hip.y(), kShortestLeg * character_.height);
  for (const Foot& other : feet_) {
    if (!other.stands || other.leg.side * side > 0) continue;
    const auto standing = static_cast<size_t>(other.body);
    const Vec3 ahead = heading * Vec3::UnitZ();
    if (std::abs(ahead.dot(state[body].position - state[standing].position)) > kBeside * character_.height) continue;
    const double recorded = across_in_reference.dot(goal.state[body].position - goal.state[standing].position);
    const double straight = across.dot(character::JointPosition(character_, hip, state) - state[standing].position) +
                            across_in_reference.dot(from_hip);
    const double least = (std::min(options_.placement_gap * character_.height, recorded) - straight) / length;
    if (side * turn < least) turn = side * std::min(least, options_.placement_limit);
  }
  return turn;
}

void FootPlacement::AppendMemory(std::vector<double>& numbers) const {
  for (const Foot& foot : feet_) numbers.insert(numbers.end(), foot.turn.begin(), foot.turn.end());
}

std::span<const double> FootPlacement::Recall(std::span<const double> numbers) {
  for (Foot& foot : feet_) {
    foot.turn = Eigen::Map<const Vec3>(numbers.data());
    numbers = numbers.subspan(3);
  }
  return numbers;
}

void FootPlacement::Level(const Foot& foot, const character::State& state, const Goal& goal, double share,
                          character::Pose& pose) const {
  const auto root = static_cast<size_t>(character_.root);
  const Quat turned = Heading(state[root].orientation) * Heading(goal.state[root].orientation).conjugate();
  const Vec3 up = turned * (goal.state[static_cast<size_t>(foot.body)].orientation * Vec3::UnitY());
  const double tilt = std::acos(std::clamp(up.y(), -1.0, 1.0));
  share *= std::clamp((kTilted - tilt) / (kTilted - kFlat), 0.0, 1.0);
  if (share == 0) return;
  const character::Joint& joint = character_.joints[static_cast<size_t>(foot.leg.ankle)];
  const Quat& shin = state[static_cast<size_t>(joint.parent)].orientation;
  Quat& ankle = pose.joint_rotations[static_cast<size_t>(foot.leg.ankle)];
  const Quat wanted = shin * ankle;
  const Quat turn = FromRotationVector(share * RotationVector(ShortestArc(wanted * Vec3::UnitY(), up)));
  ankle = shin.conjugate() * (turn * wanted);
}

void FootPlacement::Apply(const character::State& state, const Goal& goal, double slowness,
                          character::Pose& pose) const {
  const auto root = static_cast<size_t>(character_.root);
  const Quat heading = Heading(state[root].orientation);
  const Quat turned = heading * Heading(goal.state[root].orientation).conjugate();
  for (const Foot& foot : feet_) {
    const auto parent_of = [&](int joint) -> const Quat& {
      return state[static_cast<size_t>(character_.joints[static_cast<size_t>(joint)].parent)].orientation;
    };
    Quat& hip = pose.joint_rotations[static_cast<size_t>(foot.leg.hip)];
    hip = FromRotationVector(parent_of(foot.leg.hip).conjugate() * (heading * foot.turn)) * hip;
    if (!upright_) continue;
    if (foot.stands) {
      Level(foot, state, goal, slowness, pose);
      continue;
    }
    pose.joint_rotations[static_cast<size_t>(foot.leg.ankle)] =
        parent_of(foot.leg.ankle).conjugate() * (turned * goal.state[static_cast<size_t>(foot.body)].orientation);
  }
}

}  // namespace retrace::tracking
