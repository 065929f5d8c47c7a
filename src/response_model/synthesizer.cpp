#include "retrace/response_model/synthesizer.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "retrace/math/rotation.h"

namespace retrace::response_model {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kDamping = 1e-9;  // of the normal equations, in proportion to their largest entry
constexpr int kMostHalvings = 12;

double AlongGround(const Vec3& move) {
  return std::hypot(move.x(), move.z());
}

double LargestMove(const std::vector<Vec3>& from, const std::vector<Vec3>& to) {
  double largest = 0;
  for (size_t i = 0; i < from.size(); ++i) largest = std::max(largest, (to[i] - from[i]).norm());
  return largest;
}

}  // namespace

SynthesisOptions PaperSynthesis() {
  SynthesisOptions options;
  options.latent_leads = false;
  options.history = true;
  options.drawn_to_examples = true;
  options.likely_update = true;
  options.pose_weight = 0.01;
  options.holds_feet = false;
  return options;
}

Synthesizer::Synthesizer(const ResponseModel& model, const SynthesisOptions& options)
    : model_(&model),
      options_(options),
      features_(*model.character, model.options.features),
      deformation_(*model.character, model.options.deformation) {
  int body = -1;
  for (const ObservedPoint& point : features_.points()) {
    if (!point.foot) continue;
    if (point.body != body) hold_.push_back(0);
    body = point.body;
    foot_of_.push_back(hold_.size() - 1);
  }
  held_.assign(foot_of_.size(), false);
  held_at_.assign(foot_of_.size(), Vec3::Zero());
}

void Synthesizer::Start(const Example& motion, size_t last, double time) {
  const std::vector<character::Pose>& poses = motion.poses;
  if (last >= poses.size() || last < 3) {
    throw std::invalid_argument("a synthesis that begins with fewer than four poses");
  }
  if (model_->options.clock_period > 0) {
    if (!motion.clock) throw std::invalid_argument("a motion without the clock that the model goes by");
    clock_ = motion.ClockAt(last, model_->options.features.frame_time);
  }
  Posture postures[4];
  for (size_t k = 0; k < 4; ++k) features_.Observe(poses[last - 3 + k], false, postures[k]);
  for (size_t k = 0; k < 2; ++k) {
    poses_[k] = poses[last - 1 + k];
    postures_[k] = postures[k + 2];
    features_.Combine(postures[k], postures[k + 1], postures[k + 2], observations_[k]);
    observations_[k] -= model_->mean;
    places_[k] = model_->latent.BackProject(observations_[k]);
  }
  time_ = time;
  since_push_ = 0;
  held_.assign(held_.size(), false);
}

void Synthesizer::Continue(const Synthesizer& other) {
  for (size_t k = 0; k < 2; ++k) {
    poses_[k] = other.poses_[k];
    postures_[k] = other.postures_[k];
    observations_[k] = other.observations_[k] + (other.model_->mean - model_->mean);
    places_[k] = model_->latent.BackProject(observations_[k]);
  }
  time_ = other.time_;
  clock_ = other.clock_;
  since_push_ = other.since_push_;
  held_ = other.held_;
  held_at_ = other.held_at_;
  hold_ = other.hold_;
}

void Synthesizer::HoldFeet(character::Pose& pose) {
  std::fill(hold_.begin(), hold_.end(), 0.0);
  if (!options_.holds_feet) return;
  stands_ = model_->contact_weights * prediction_.kernel + mean_contacts_;
  for (size_t p = 0; p < held_.size(); ++p) held_[p] = held_[p] && stands_[static_cast<Index>(p)] > 0;
  features_.Observe(pose, false, postures_[2]);
  MoveOntoFeet(pose);
  features_.Observe(pose, false, postures_[2]);
  const size_t surest = SurestFoot();
  for (size_t foot = 0; foot < hold_.size(); ++foot) {
    if (NumHeld(foot) == 0) continue;
    // Two feet that no posture brings to where both stand are drawn on, rather than bent as no example is: that which
    // stands less surely.
    const double reach =
        foot == surest ? 1 : std::min(1.0, options_.longest_reach / std::max(AlongGround(FromHeld(foot)), 1e-9));
    hold_[foot] = std::pow(reach, 4) / options_.hold_deviation;
  }
}

size_t Synthesizer::SurestFoot() const {
  size_t surest = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (size_t p = 0; p < held_.size(); ++p) {
    if (!held_[p] || stands_[static_cast<Index>(p)] <= most) continue;
    most = stands_[static_cast<Index>(p)];
    surest = foot_of_[p];
  }
  return surest;
}

size_t Synthesizer::NumHeld(size_t foot) const {
  size_t count = 0;
  for (size_t p = 0; p < held_.size(); ++p) count += held_[p] && foot_of_[p] == foot ? 1 : 0;
  return count;
}

Vec3 Synthesizer::FromHeld(size_t foot) const {
  Vec3 sum = Vec3::Zero();
  double count = 0;
  for (size_t p = 0; p < held_.size(); ++p) {
    if (!held_[p] || foot_of_[p] != foot) continue;
    sum += postures_[2].feet[p] - held_at_[p];
    ++count;
  }
  return count > 0 ? Vec3(sum / count) : sum;
}

void Synthesizer::LetFeetStand() {
  if (!options_.holds_feet) return;
  for (size_t foot = 0; foot < hold_.size(); ++foot) {
    if (AlongGround(FromHeld(foot)) <= options_.longest_reach) continue;
    for (size_t p = 0; p < held_.size(); ++p) {
      if (foot_of_[p] == foot) held_at_[p] = postures_[2].feet[p];
    }
  }
  const double farthest = options_.fastest_landing * model_->options.features.frame_time;
  for (size_t p = 0; p < held_.size(); ++p) {
    // What the examples do not have is neither held in the air nor in full motion.
    const Vec3& at = postures_[2].feet[p];
    const auto row = static_cast<Index>(p);
    const bool low = at.y() <= model_->standing_heights[row];
    if (held_[p]) {
      held_[p] = low;
    } else if (low && stands_[row] > 0 && AlongGround(at - postures_[1].feet[p]) <= farthest) {
      held_[p] = true;
      held_at_[p] = at;
    }
  }
}

void Synthesizer::MoveOntoFeet(character::Pose& pose) const {
  Vec3 sum = Vec3::Zero();
  double count = 0;
  for (size_t foot = 0; foot < hold_.size(); ++foot) {
    if (NumHeld(foot) == 0) continue;
    sum += FromHeld(foot);
    ++count;
  }
  if (count == 0) return;
  Vec3 move = sum / count;
  for (size_t foot = 0; foot < hold_.size(); ++foot) {
    // Where they are too far from where they stand, the surest one decides.
    if (NumHeld(foot) == 0 || AlongGround(FromHeld(foot) - move) <= options_.longest_reach) continue;
    move = FromHeld(SurestFoot());
    break;
  }
  pose.root_position.x() -= move.x();
  pose.root_position.z() -= move.z();
}

void Synthesizer::ObserveHistory() {
  const learning::GaussianProcess& process = model_->observation;
  history_places_.resize(places_[0].size(), 2);
  for (int k = 0; k < 2; ++k) history_places_.col(k) = places_[k];
  history_residuals_.resize(features_.size(), 2);
  MatrixXd kernels(model_->num_observations(), 2), mutual;
  for (int k = 0; k < 2; ++k) {
    VectorXd kernel;
    learning::KernelVector(process.kernel(), process.points(), history_places_.col(k), kernel);
    kernels.col(k) = kernel;
    model_->MeansAt(places_[k], clock_ + (k - 1) * model_->options.features.frame_time, mean_, mean_joints_,
                    mean_contacts_);
    history_residuals_.col(k) = observations_[k] - mean_ - process.weights() * kernel;
  }
  history_solved_ = kernels;
  process.covariance().Solve(history_solved_);
  learning::KernelMatrix(process.kernel(), history_places_, mutual);
  Eigen::Matrix2d covariance = mutual - kernels.transpose() * history_solved_;
  covariance.diagonal().array() += process.kernel().noise;
  history_inverse_ = covariance.inverse();
}

void Synthesizer::ObservationAt(const VectorXd& place, bool gradients, Likely& likely) {
  const learning::GaussianProcess& process = model_->observation;
  if (gradients) {
    process.PredictWithGradients(place, prediction_);
    likely.mean_gradient = prediction_.mean_gradient;
    likely.variance_gradient = prediction_.variance_gradient;
  } else {
    process.Predict(place, prediction_);
  }
  model_->MeansAt(place, next_clock_, mean_, mean_joints_, mean_contacts_);
  likely.mean = prediction_.mean + mean_;
  if (gradients && model_->observation_linear.size() != 0) likely.mean_gradient += model_->observation_linear;
  likely.variance = prediction_.variance + process.kernel().noise;
  if (!options_.history) return;
  Eigen::Vector2d mutual;
  VectorXd kernel;
  learning::KernelVector(process.kernel(), history_places_, place, kernel);
  mutual = kernel - history_solved_.transpose() * prediction_.kernel;
  const Eigen::Vector2d solved = history_inverse_ * mutual;
  likely.mean += history_residuals_ * solved;
  likely.variance = std::max(likely.variance - mutual.dot(solved), 1e-12);
  if (!gradients) return;
  MatrixXd kernel_gradient;
  learning::KernelVectorGradient(process.kernel(), history_places_, place, kernel, kernel_gradient);
  const MatrixXd mutual_gradient = kernel_gradient - prediction_.kernel_gradient * history_solved_;  // (d x 2)
  likely.mean_gradient += history_residuals_ * history_inverse_ * mutual_gradient.transpose();
  likely.variance_gradient -= 2 * mutual_gradient * solved;
}

void Synthesizer::StartPose(const VectorXd& place, character::Pose& pose) {
  ObservationAt(place, false, likely_);
  const Index rows = 2 * features_.num_places();
  const VectorXd velocity = (likely_.mean + model_->mean).segment<3>(rows) *
                            (model_->options.features.frame_time / model_->options.features.root_time);
  pose = model_->rest;
  const VectorXd displacement = model_->joint_weights * prediction_.kernel + mean_joints_;
  features_.coordinates().Advance(displacement, pose);
  const Posture& now = postures_[1];
  pose.root_orientation =
      AxisRotation(1, now.heading + velocity[2] - HeadingAngle(pose.root_orientation)) * pose.root_orientation;
  const Vec3 way = AxisRotation(1, now.heading) * Vec3(velocity[0], 0, velocity[1]);
  pose.root_position.x() = now.root.x() + way.x();
  pose.root_position.z() = now.root.z() + way.z();
}

double Synthesizer::Evaluate(const character::Pose& pose, const VectorXd& place, bool place_moves, bool gradients) {
  const Index n = features_.coordinates().size(), d = place.size(), size = features_.size();
  const auto points = static_cast<Index>(held_.size());
  features_.Observe(pose, gradients, postures_[2]);
  features_.Combine(postures_[0], postures_[1], postures_[2], observation_);
  observation_ -= model_->mean;
  if (place_moves) ObservationAt(place, gradients, likely_);
  const double variance = options_.drawn_to_examples ? likely_.variance : fixed_variance_;
  const double scale = 1 / std::sqrt(variance), dynamics_scale = 1 / std::sqrt(dynamics_variance_);
  pull_ = (std::sqrt(options_.pose_weight) * scale) * model_->joint_scales;
  residual_.resize(size + n + d + 2 * points);
  residual_.head(size) = scale * model_->latent.scales.cwiseProduct(observation_ - likely_.mean);
  from_expected_.resize(n);
  features_.coordinates().Difference(expected_, pose, from_expected_);
  residual_.segment(size, n) = pull_.cwiseProduct(from_expected_);
  residual_.segment(size + n, d) = dynamics_scale * (place - predicted_);
  residual_.tail(2 * points).setZero();
  for (size_t p = 0; p < held_.size(); ++p) {
    if (!held_[p]) continue;
    const Vec3 moved = hold_[foot_of_[p]] * (postures_[2].feet[p] - held_at_[p]);
    residual_.segment<2>(size + n + d + 2 * static_cast<Index>(p)) << moved.x(), moved.z();
  }
  double value = 0.5 * residual_.squaredNorm();
  if (options_.drawn_to_examples) value += 0.5 * static_cast<double>(size) * std::log(variance);
  if (!gradients) return value;
  features_.CombineJacobian(postures_[1], postures_[2], jacobian_);
  residual_jacobian_.setZero(size + n + d + 2 * points, n + d);
  residual_jacobian_.topLeftCorner(size, n) = (scale * model_->latent.scales).asDiagonal() * jacobian_;
  residual_jacobian_.block(size, 0, n, n).diagonal() = pull_;
  if (place_moves) {
    residual_jacobian_.block(0, n, size, d) = (-scale * model_->latent.scales).asDiagonal() * likely_.mean_gradient;
    residual_jacobian_.block(size + n, n, d, d).diagonal().setConstant(dynamics_scale);
  }
  for (size_t p = 0; p < held_.size(); ++p) {
    if (!held_[p]) continue;
    const Index row = size + n + d + 2 * static_cast<Index>(p);
    residual_jacobian_.block(row, 0, 1, n) = hold_[foot_of_[p]] * postures_[2].feet_jacobians[p].row(0);
    residual_jacobian_.block(row + 1, 0, 1, n) = hold_[foot_of_[p]] * postures_[2].feet_jacobians[p].row(2);
  }
  gradient_.noalias() = residual_jacobian_.transpose() * residual_;
  if (place_moves && options_.drawn_to_examples) {
    const double by_variance = 0.5 * (static_cast<double>(size) - residual_.head(size).squaredNorm()) / variance;
    gradient_.tail(d) += by_variance * likely_.variance_gradient;
  }
  return value;
}

void Synthesizer::Infer(Moves moves, character::Pose& pose, VectorXd& place, SynthesisRecord& record) {
  const Index n = features_.coordinates().size(), d = place.size();
  const bool place_moves = moves != Moves::kPose;
  const Index first = moves == Moves::kPlace ? n : 0, count = moves == Moves::kBoth   ? n + d
                                                              : moves == Moves::kPose ? n
                                                                                      : d;
  double value = Evaluate(pose, place, place_moves, true);
  ++record.evaluations;
  for (int iteration = 0; iteration < options_.most_iterations; ++iteration) {
    const auto columns = residual_jacobian_.middleCols(first, count);
    hessian_.setZero(count, count);
    hessian_.selfadjointView<Eigen::Lower>().rankUpdate(columns.transpose());
    hessian_.diagonal().array() += kDamping * hessian_.diagonal().maxCoeff();
    move_.setZero(n + d);
    move_.segment(first, count) =
        -hessian_.selfadjointView<Eigen::Lower>().ldlt().solve(gradient_.segment(first, count));
    const character::Pose pose_before = pose;
    const VectorXd place_before = place;
    double next = 0;
    int halvings = 0;
    const bool last = move_.cwiseAbs().maxCoeff() < options_.tolerance;
    for (; halvings <= kMostHalvings; ++halvings) {
      pose = pose_before;
      features_.coordinates().Advance(move_.head(n), pose);
      place = place_before + move_.tail(d);
      next = Evaluate(pose, place, place_moves, !last);
      ++record.evaluations;
      if (next <= value || last) break;
      move_ *= 0.5;
    }
    if (halvings > kMostHalvings) {
      pose = pose_before;
      place = place_before;
      Evaluate(pose, place, place_moves, false);
      break;
    }
    value = next;
    if (last) break;
  }
  record.likelihood = value;
}

const SynthesisRecord& Synthesizer::Step(std::span<const Push> pushes) {
  record_.evaluations = 0;
  const double dt = model_->options.features.frame_time;
  const int order = model_->options.order;
  VectorXd last(order * places_[1].size());
  if (order == 2) last.head(places_[0].size()) = places_[0];
  last.tail(places_[1].size()) = places_[1];
  const double rate = model_->DynamicsAt(last, clock_, since_push_, dynamics_prediction_, predicted_);
  next_clock_ = clock_ + rate * dt;
  dynamics_variance_ = dynamics_prediction_.variance + model_->dynamics.kernel().noise;
  if (options_.history) ObserveHistory();
  character::Pose pose;
  StartPose(predicted_, pose);
  fixed_variance_ = likely_.variance;
  expected_ = pose;
  HoldFeet(pose);
  VectorXd place = predicted_;
  Infer(options_.latent_leads ? Moves::kPose : Moves::kBoth, pose, place, record_);
  record_.deviation = std::sqrt(likely_.variance);
  VectorXd displacement;
  record_.pushed = deformation_.Solve(poses_[1], pushes, time_, dt, features_.points(), postures_[1].feet,
                                      postures_[2].feet, displacement);
  record_.displacement = 0;
  if (record_.pushed) {
    const std::vector<Vec3> feet = postures_[2].feet;
    const VectorXd before = observation_;
    features_.coordinates().Advance(displacement, pose);
    if (options_.likely_update) {
      Infer(Moves::kPlace, pose, place, record_);
    } else {
      Evaluate(pose, place, false, false);
      place += model_->latent.BackProject(observation_) - model_->latent.BackProject(before);
    }
    record_.displacement = std::max(displacement.head<3>().norm(), LargestMove(feet, postures_[2].feet));
  }
  LetFeetStand();
  std::swap(poses_[0], poses_[1]);
  std::swap(postures_[0], postures_[1]);
  std::swap(postures_[1], postures_[2]);
  std::swap(places_[0], places_[1]);
  std::swap(observations_[0], observations_[1]);
  poses_[1] = pose;
  places_[1] = place;
  observations_[1] = observation_;
  time_ += dt;
  since_push_ = record_.pushed ? 0 : since_push_ + dt;
  clock_ = next_clock_;
  record_.latent = place;
  record_.held = held_;
  const double period = model_->options.clock_period;
  record_.clock = period > 0 ? clock_ - period * std::floor(clock_ / period) : 0;
  return record_;
}

}  // namespace retrace::response_model
