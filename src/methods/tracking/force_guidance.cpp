#include "force_guidance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "retrace/math/rotation.h"

namespace retrace::tracking {
namespace {

constexpr double kLoaded = 0.2;       // share of the weight from which on a foot stands fully
constexpr double kPlaceTaken = 0.03;  // time constant with which a standing foot's place is taken as it is [s]
constexpr double kPlaceMoved = 0.06;  // time constant with which a swinging foot's place is moved [s]
constexpr double kFarthest = 0.3;     // by which it is moved at most [m]
constexpr double kRootWeight = 0.1;   // in place of Options::root_translation_weight
constexpr double kLegWeight = 0.1;    // of the joints of a leg, which its foot determines
// Share of its weight that the goal of a foot keeps in height and tilt while the foot stands: these are what it takes
// to press the soles so that the forces become those that are wanted.
constexpr double kStandingShare = 0.1;
constexpr double kLowest = 0.1;     // centre of mass, against a time constant of zero [m]
constexpr double kLeastPull = 1.0;  // the same for gravity [m/s^2]

Vec3 Horizontal(const Vec3& v) {
  return {v.x(), 0, v.z()};
}

double Approach(double interval, double time_constant) {
  return 1 - std::exp(-interval / time_constant);
}

}  // namespace

ForceGuidance::ForceGuidance(const character::Character& character, const character::ReferenceMotion& reference,
                             const Options& options, double gravity)
    : character_(character),
      options_(options),
      gravity_(gravity),
      frame_time_(reference.frame_time()),
      reference_(character, gravity),
      jacobian_(3, reference_.size()) {
  metrics::RequiredForcesOptions required;
  required.gravity = gravity;
  required_ = metrics::RequiredForcesOf(reference, required);
  for (const character::Leg& leg : character::LegsOf(character)) {
    Foot& foot = feet_.emplace_back();
    foot.leg = leg;
    foot.body = character.joints[static_cast<size_t>(leg.ankle)].child;
  }
}

Vec3 ForceGuidance::RequiredOf(int body, double time) const {
  Vec3 force = Vec3::Zero();
  if (required_.size() < 2) return force;
  // The first entry is of the second pose.
  const double last = static_cast<double>(required_.size()) - 2;
  const double place = std::clamp(time / frame_time_ - 1, 0.0, last + 1);
  const double before = std::min(std::floor(place), last);
  const auto i = static_cast<size_t>(before);
  for (const auto& [k, share] : {std::pair{i, 1 - (place - before)}, std::pair{i + 1, place - before}}) {
    for (const metrics::SupportForce& support : required_[k].support) {
      if (support.body == body) force += share * support.force;
    }
  }
  return force;
}

double ForceGuidance::Stands(const Foot& foot) const {
  if (!foot.touches) return 0;
  return std::min(1.0, foot.load() / (kLoaded * character_.total_mass() * kStandardGravity));
}

void ForceGuidance::FindGoalOf(Foot& foot, const Goal& goal, double time) {
  foot.required = RequiredOf(foot.body, time);
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
  center_ = reference_.CenterOfMass() + shift_;
  // The capture point, at which a foot would bring the body to rest, is ahead of the centre of mass by this time times
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
  for (const Foot& foot : feet_) {
    for (const int joint : {foot.leg.hip, foot.leg.knee, foot.leg.ankle}) {
      const int count = character_.joints[static_cast<size_t>(joint)].type == character::JointType::kHinge ? 1 : 3;
      program.weights.segment(now.coordinates().FirstOf(joint), count).setConstant(kLegWeight);
    }
    const double stands = Stands(foot);
    const Vec3 place = now.CenterOf(foot.body);
    Task& task = program.tasks.emplace_back();
    task.weight = options_.foot_weight;
    task.jacobian.resize(6, now.size());
    task.desired.resize(6);
    Vec3 way = foot.place + foot.offset - place;
    way.y() *= 1 - stands;
    now.PointJacobian(foot.body, place, task.jacobian.topRows<3>());
    task.desired.head<3>() = foot.acceleration + stiffness * way +
                             damping * (foot.velocity - now.VelocityOf(foot.body, place)) -
                             now.PointBias(foot.body, place);
    const Vec3 turn = RotationVector(Quat(Mat3(foot.rotation * now.RotationOf(foot.body).transpose())));
    now.AngularJacobian(foot.body, task.jacobian.bottomRows<3>());
    task.desired.tail<3>() = foot.rate_change + stiffness * turn +
                             damping * (foot.rate - now.AngularVelocityOf(foot.body)) - now.AngularBias(foot.body);
    const double share = std::sqrt(std::max(kStandingShare, 1 - stands));
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

}  // namespace retrace::tracking
