#include "retrace/methods/stabilization/reindexing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace::stabilization {
namespace {

// Weights of squared differences: of the paper's center of mass (3), its velocity (4), poses (5) and the root (7).
constexpr double kPlace = 15;
constexpr double kVelocity = 0.5;
constexpr double kPose = 0.5;
constexpr double kRoot = 4;
/// w_l of equation 21, times the number of states: the last one counts as much as ten.
constexpr double kLast = 10;
/// Weight of squared rates beside squared angles in the search for the nearest nodes.
constexpr double kRates = 0.01;

}  // namespace

double SquaredDistance(const Eigen::VectorXd& difference) {
  const Eigen::Index n = difference.size() / 2;
  return kPlace * difference.head<3>().squaredNorm() + kRoot * difference.segment<3>(3).squaredNorm() +
         kPose * difference.segment(6, n - 6).squaredNorm() + kVelocity * difference.segment<3>(n).squaredNorm();
}

ReindexingController::ReindexingController(const Model& model, const ReindexingOptions& options)
    : model_(model),
      options_(options),
      acting_(*model.character, model.control->fragments, model.disturbed, *model.feedback, model.tree),
      predicting_(*model.character, model.control->fragments, model.disturbed, *model.feedback, model.tree),
      world_(*model.character, model.control->world),
      difference_(model.feedback->num_differences()) {
  candidates_.reserve(model.feedback->nominal.size());
  if (model.tree != nullptr) of_branches_.reserve(model.tree->branches.size());
}

void ReindexingController::Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) {
  const control::Feedback& feedback = *model_.feedback;
  const double h = model_.control->world.time_step;
  const int nodes = std::max(1, static_cast<int>(std::lround(options_.interval / (feedback.interval * h))));
  if (options_.candidates > 0 && (now.step - feedback.first_step) % (feedback.interval * nodes) == 0) Choose(now);
  acting_.Command(now, commands);
}

void ReindexingController::Choose(const control::StepContext& now) {
  const auto own = now.layout.BodiesOf(std::span(now.state), now.character);
  own_.assign(own.begin(), own.end());
  state_ = own_;
  // Things that move freely are where they are, if the model's world has the same ones; else where they start.
  const size_t free = model_.control->world.environment.bodies.size();
  if (now.layout.num_free_bodies() == free)
    state_.insert(state_.end(), now.state.end() - static_cast<std::ptrdiff_t>(free), now.state.end());
  ChooseHere(now.step);
}

void ReindexingController::ChooseFrom(int step, const character::State& state) {
  state_ = state;
  own_.assign(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(model_.character->bodies.size()));
  ChooseHere(step);
}

double ReindexingController::NearnessTo(const dynamics::MotionPoint& point) {
  const Eigen::Index n = point_.velocity.size();
  dynamics::Difference(acting_.law().coordinates(), point, point_, difference_);
  difference_[0] = difference_[2] = 0;
  return difference_.head(n).squaredNorm() + kRates * difference_.tail(n).squaredNorm();
}

void ReindexingController::ChooseHere(int step) {
  const control::Feedback& feedback = *model_.feedback;
  const double h = model_.control->world.time_step;
  const int of_time = (step - feedback.first_step) / feedback.interval;
  const int window = static_cast<int>(std::lround(options_.window / (feedback.interval * h)));
  if (of_time >= feedback.num_nodes()) return;
  dynamics::Reduce(acting_.law().coordinates(), own_, point_);
  const int present = std::clamp(of_time + acting_.shift(), 0, feedback.num_nodes());
  if (point_ == feedback.nominal[static_cast<size_t>(present)]) return;  // undisturbed
  double best = Simulate(step, acting_.branch(), acting_.shift(), std::numeric_limits<double>::infinity());
  if (best <= options_.enough) return;
  const auto nearer = [](const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance
           : a.branch != b.branch   ? a.branch < b.branch
                                    : a.node < b.node;
  };
  const int present_branch = model_.tree == nullptr ? -1 : model_.tree->BranchAt(acting_.branch(), present);
  const int first = std::max(0, of_time - window), last = std::min(feedback.num_nodes() - 1, of_time + window);
  candidates_.clear();
  for (int node = first; node <= last; ++node) {
    if (node == of_time + acting_.shift() && present_branch < 0) continue;
    candidates_.push_back({-1, node, NearnessTo(feedback.nominal[static_cast<size_t>(node)])});
  }
  std::sort(candidates_.begin(), candidates_.end(), nearer);
  candidates_.resize(std::min(candidates_.size(), static_cast<size_t>(options_.candidates)));
  of_branches_.clear();
  for (size_t b = 0; model_.tree != nullptr && b < model_.tree->branches.size(); ++b) {
    // Only the nearest node of each branch: its neighbors are nearly the same.
    const control::Branch& branch = model_.tree->branches[b];
    Candidate nearest{static_cast<int>(b), -1, std::numeric_limits<double>::infinity()};
    for (int node = std::max(first, branch.first_node); node <= std::min(last, branch.end_node() - 1); ++node) {
      if (present_branch == nearest.branch && node == present) continue;
      const double distance = NearnessTo(branch.points[static_cast<size_t>(node - branch.first_node)]);
      if (distance < nearest.distance) nearest = {nearest.branch, node, distance};
    }
    if (nearest.node >= 0) of_branches_.push_back(nearest);
  }
  std::sort(of_branches_.begin(), of_branches_.end(), nearer);
  of_branches_.resize(std::min(of_branches_.size(), static_cast<size_t>(options_.branches)));
  candidates_.insert(candidates_.end(), of_branches_.begin(), of_branches_.end());
  int shift = acting_.shift(), chosen = acting_.branch();
  for (const Candidate& candidate : candidates_) {
    const double found = Simulate(step, candidate.branch, candidate.node - of_time, best);
    if (!(found < best)) continue;
    best = found;
    shift = candidate.node - of_time;
    chosen = candidate.branch;
  }
  acting_.set_shift(shift);
  acting_.set_branch(chosen);
}

double ReindexingController::DistanceAt(int step) {
  const control::Feedback& feedback = *model_.feedback;
  const int of_time = std::clamp((step - feedback.first_step) / feedback.interval, 0, feedback.num_nodes());
  const int aligned = std::clamp(of_time + predicting_.shift(), 0, feedback.num_nodes());
  const auto from = [&](int node) {
    dynamics::Difference(acting_.law().coordinates(), feedback.nominal[static_cast<size_t>(node)],
                         predicting_.law().point(), difference_);
  };
  double sum = 0;
  if (model_.tree != nullptr && model_.tree->BranchAt(predicting_.branch(), aligned) >= 0) {
    from(aligned);  // the law's own difference is that from the branch
    sum = SquaredDistance(difference_);
  } else {
    sum = SquaredDistance(predicting_.law().difference());
  }
  from(of_time);
  difference_[0] = difference_[2] = 0;
  return sum + SquaredDistance(difference_);
}

double ReindexingController::Simulate(int step, int branch, int shift, double most) {
  const control::Feedback& feedback = *model_.feedback;
  const int horizon = static_cast<int>(std::lround(options_.horizon / model_.control->world.time_step));
  const int end = std::min(feedback.first_step + feedback.num_steps, step + horizon);
  const int nodes = std::max(1, (end - step + feedback.interval - 1) / feedback.interval);
  ++simulations_;
  predicting_.set_shift(shift);
  predicting_.set_branch(branch);
  predicting_.Restart();
  world_.SetState(state_, step);
  control::Controller* const controller = &predicting_;
  double sum = 0;
  for (int first = step; first < end; first += feedback.interval) {
    if (first > step && predicting_.RestartsAt(first)) world_.Restart(0);
    const int steps = std::min(feedback.interval, end - first);
    if (!control::Simulate(world_, {&controller, 1}, first, steps, {}, scratch_, [](int) {})) {
      return std::numeric_limits<double>::infinity();
    }
    if (first > step) sum += DistanceAt(first) / nodes;
    if (!(sum < most)) return std::numeric_limits<double>::infinity();
  }
  world_.GetState(scratch_.state);
  own_.assign(scratch_.state.begin(), scratch_.state.begin() + static_cast<std::ptrdiff_t>(own_.size()));
  const int last = (end - feedback.first_step + feedback.interval - 1) / feedback.interval + shift;
  predicting_.law().TorquesAt(std::max(0, last), own_);
  return sum + kLast * DistanceAt(end) / nodes;
}

}  // namespace retrace::stabilization
