#include "force_guidance.h"

#include <algorithm>
#include <cmath>

#include "retrace/math/rotation.h"

namespace retrace::tracking {
namespace {

constexpr double kLoaded = 0.2;       // share of the weight from which on a foot stands fully
constexpr double kPlaceTaken = 0.03;  // time constant with which a standing foot's position is taken as it is [s]
constexpr double kPlaceMoved = 0.06;  // time constant with which a swinging foot's position is moved [s]
constexpr double kFarthest = 0.3;     // by which it is moved at most [m]
constexpr double kRootWeight = 0.1;   // instead of Options::root_translation_weight
constexpr double kLowest = 0.1;       // center of mass, against a time constant of zero [m]
constexpr double kLeastPull = 1.0;    // the same for gravity [m/s^2]

Vec3 Horizontal(const Vec3& v) {
  return {v.x(), 0, v.z()};
}

double Approach(double interval, double time_constant) {
  return 1 - std::exp(-interval / time_constant);
}

}  // namespace

ForceGuidance::ForceGuidance(const character::Character& character, const character::ReferenceMotion& reference,
                             const Options& options, const simulation::WorldOptions& world)
    : character_(character),
      options_(options),
      gravity_(world.gravity),
      frame_time_(reference.frame_time()),
      reference_(character, world.gravity),
      jacobian_(3, reference_.size()) {
  metrics::RequiredForcesOptions required;
  required.gravity = world.gravity;
  required.environment = world.environment;
  required_ = metrics::RequiredForcesOf(reference, required);
  for (const character::Leg& leg : character::LegsOf(character)) {
    Foot& foot = feet_.emplace_back();
    foot.leg = leg;
    foot.body = character.joints[static_cast<size_t>(leg.ankle)].child;
  }
}

double ForceGuidance::Stands(const Foot& foot) const {
  if (!foot.touches) return 0;
  return std::min(1.0, foot.load() / (kLoaded * character_.total_mass() * kStandardGravity));
}

void ForceGuidance::FindGoalOf(Foot& foot, const Goal& goal, double time) {
  foot.required = metrics::RequiredForceOn(foot.body, time + variation_.ahead, required_, frame_time_);
  foot.place = reference_.CenterOf(foot.body);
  foot.velocity = reference_.VelocityOf(foot.body, foot.place);
  reference_.PointJacobian(foot.body, foot.place, jacobian_);
  foot.acceleration = jacobian_ * goal.acceleration + reference_.PointBias(foot.body, foot.place);
  foot.rotation = reference_.RotationOf(foot.body);
  foot.rate = reference_.AngularVelocityOf(foot.body);
  reference_.AngularJacobian(foot.body, jacobian_);
  foot.rate_change = jacobian_ * goal.acceleration + reference_.AngularBias(foot.body);
}

void ForceGuidance::Update(const dynamics::CharacterDynamics& now, const Goal& goal,
                           const std::vector<ContactPlace>& places, double time, double interval) {
  reference_.SetMotion(goal.pose, goal.velocity);
  double loads = 0;
  for (Foot& foot : feet_) {
    const auto is_of_foot = [&](const ContactPlace& place) { return place.body == foot.body; };
    foot.touches = std::any_of(places.begin(), places.end(), is_of_foot);
    FindGoalOf(foot, goal, time);
    loads += foot.load();
  }
  velocity_ = reference_.CenterOfMassVelocity();
  reference_.CenterOfMassJacobian(jacobian_);
  force_ =
      character_.total_mass() * (jacobian_ * goal.acceleration + reference_.CenterOfMassBias() + Vec3(0, gravity_, 0));
  if (loads > 0) {
    shift_.setZero();
    for (const Foot& foot : feet_) shift_ += foot.load() / loads * foot.offset;
  }
  center_ = reference_.CenterOfMass() + shift_ + Vec3(variation_.center_x, 0, variation_.center_z);
  // The capture point, at which a foot would bring the body to rest, is ahead of the center of mass by this time times
  // its velocity (Pratt et al. 2006).
  const double ahead = std::sqrt(std::max(kLowest, center_.y()) / std::max(kLeastPull, gravity_));
  const Vec3 missed = Horizontal(now.CenterOfMass() - center_ + ahead * (now.CenterOfMassVelocity() - velocity_));
  for (Foot& foot : feet_) {
    const double stands = Stands(foot);
    Vec3 wanted = shift_ + options_.foot_step * missed;
    wanted *= std::min(1.0, kFarthest / std::max(kFarthest, wanted.norm()));
    const Vec3 actual = Horizontal(now.CenterOf(foot.body) - foot.place);
    foot.offset += stands * Approach(interval, kPlaceTaken) * (actual - foot.offset);
    foot.offset += (1 - stands) * Approach(interval, kPlaceMoved) * (wanted - foot.offset);
  }
}

void ForceGuidance::SetTasks(const dynamics::CharacterDynamics& now, Dynamics& program) const {
  const double stiffness = options_.foot_feedback, damping = 2 * std::sqrt(stiffness);
  program.weights.head<3>().setConstant(kRootWeight);
  for (size_t f = 0; f < feet_.size(); ++f) {
    const Foot& foot = feet_[f];
    const bool varied = f < Variation::kLegs;
    for (const int joint : {foot.leg.hip, foot.leg.knee, foot.leg.ankle}) {
      const int count = character_.joints[static_cast<size_t>(joint)].type == character::JointType::kHinge ? 1 : 3;
      program.weights.segment(now.coordinates().FirstOf(joint), count).setConstant(options_.leg_weight);
    }
    const double stands = Stands(foot);
    const Vec3 place = now.CenterOf(foot.body);
    Task& task = program.AddTask();
    task.weight = options_.foot_weight;
    task.jacobian.resize(6, now.size());
    task.desired.resize(6);
    Vec3 way = foot.place + foot.offset - place;
    if (varied) way.y() += variation_.height[f];
    way.y() *= 1 - stands;
    now.PointJacobian(foot.body, place, task.jacobian.topRows<3>());
    task.desired.head<3>() = foot.acceleration + stiffness * way +
                             damping * (foot.velocity - now.VelocityOf(foot.body, place)) -
                             now.PointBias(foot.body, place);
    const Mat3 rotation = now.RotationOf(foot.body);
    Vec3 turn = RotationVector(Quat(Mat3(foot.rotation * rotation.transpose())));
    if (varied) turn += variation_.pitch[f] * rotation.col(0);
    now.AngularJacobian(foot.body, task.jacobian.bottomRows<3>());
    task.desired.tail<3>() = foot.rate_change + stiffness * turn +
                             damping * (foot.rate - now.AngularVelocityOf(foot.body)) - now.AngularBias(foot.body);
    const double share = std::sqrt(std::max(options_.standing_share, 1 - stands));
    for (const int row : {1, 3, 5}) {  // height, and tilt about the horizontal axes
      task.jacobian.row(row) *= share;
      task.desired[row] *= share;
    }
  }
}

void ForceGuidance::SetForces(const dynamics::CharacterDynamics& now, const std::vector<ContactPlace>& places,
                              Dynamics& program) const {
  const double mass = character_.total_mass(), feedback = options_.guidance_feedback;
  const Vec3 total = force_ + mass * (feedback * (center_ - now.CenterOfMass()) +
                                      2 * std::sqrt(feedback) * (velocity_ - now.CenterOfMassVelocity()));
  std::vector<ForceGoal>& goals = program.force_goals;
  goals.clear();
  std::vector<double> loads;
  double sum = 0;
  Vec3 supplied = Vec3::Zero();
  for (size_t c = 0; c < places.size(); ++c) {
    if (c > 0 && places[c].body == places[c - 1].body) {
      ++goals.back().count;
      continue;
    }
    goals.push_back({static_cast<int>(c), 1, Vec3::Zero(), options_.guidance / (mass * mass)});
    loads.push_back(0);
    for (const Foot& foot : feet_) {
      if (foot.body != places[c].body) continue;
      loads.back() = foot.load();
      goals.back().force = foot.required;
      supplied += foot.required;
    }
    sum += loads.back();
  }
  if (sum <= 0) return goals.clear();
  // Feedback, and what feet that are not down yet do not carry, is shared as the loads are.
  for (size_t g = 0; g < goals.size(); ++g) goals[g].force += loads[g] / sum * (total - supplied);
}

void ForceGuidance::AppendMemory(std::vector<double>& numbers) const {
  const auto append = [&](const Vec3& v) { numbers.insert(numbers.end(), v.begin(), v.end()); };
  append(shift_);
  for (const Foot& foot : feet_) append(foot.offset);
}

std::span<const double> ForceGuidance::Recall(std::span<const double> numbers) {
  const auto take = [&](Vec3& v) {
    v = Eigen::Map<const Vec3>(numbers.data());
    numbers = numbers.subspan(3);
  };
  take(shift_);
  for (Foot& foot : feet_) take(foot.offset);
  return numbers;
}

}  // namespace retrace::tracking
