#include "guidance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "retrace/math/rotation.h"

namespace retrace::sampling {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// How much more velocities of the root count than those of joints: it carries all of the body.
constexpr double kRootVelocity = 3;

VectorXd WeightsOf(const RefinementOptions& o, Index n) {
  VectorXd weights(2 * n);
  weights.head(3).setConstant(o.root_position);
  weights.segment(3, 3).setConstant(o.root_orientation);
  weights.segment(6, n - 6).setConstant(o.pose);
  weights.segment(n, 6).setConstant(kRootVelocity * o.velocity);
  weights.tail(n - 6).setConstant(o.velocity);
  return weights;
}

std::vector<Vec3> Rotations(const Offsets& from, const Offsets& to) {
  std::vector<Vec3> turns;
  for (size_t j = 0; j < from.size(); ++j) turns.push_back(RotationVector(to[j] * from[j].conjugate()));
  return turns;
}

double Square(const VectorXd& weights, const VectorXd& difference) {
  return difference.dot(weights.cwiseProduct(difference));
}

}  // namespace

void LimitDistance(const dynamics::Coordinates& coordinates, const dynamics::MotionPoint& point, double largest_drift,
                   double largest_heading, dynamics::MotionPoint& goal) {
  const Index n = coordinates.size();
  VectorXd apart(2 * n), back = VectorXd::Zero(2 * n);
  dynamics::Difference(coordinates, point, goal, apart);
  const double drift = std::hypot(apart[0], apart[2]), heading = std::abs(apart[4]);
  if (drift > largest_drift) {
    back[0] = (largest_drift / drift - 1) * apart[0];
    back[2] = (largest_drift / drift - 1) * apart[2];
  }
  if (drift <= largest_drift && heading <= largest_heading) return;
  if (heading > largest_heading) {
    back[4] = (largest_heading / heading - 1) * apart[4];
    const Quat turn = AxisRotation(1, back[4]);
    goal.velocity.head<3>() = turn * Vec3(goal.velocity.head<3>());
    goal.velocity.segment<3>(3) = turn * Vec3(goal.velocity.segment<3>(3));
  }
  dynamics::Apply(coordinates, back, goal);
}

Guidance::Guidance(const Problem& problem, const std::vector<Node>& path, const std::vector<FragmentModel>& models,
                   double noise, double caution)
    : problem_(problem),
      path_(path),
      coordinates_(*problem.task.character),
      weights_(WeightsOf(problem.options.refinement, coordinates_.size())),
      noise_(noise) {
  const RefinementOptions& o = problem.options.refinement;
  const Index n = coordinates_.size(), m = n - 6;
  const std::vector<int>& steps = problem.task.schedule.steps;
  const Offsets none = NoOffsets(problem);
  points_.push_back(PointOf(problem.task.start));
  character::State reference;
  std::vector<VectorXd> distances;  // from the goals to the path (2 n)
  double cost = 0;
  for (size_t k = 0; k < path.size(); ++k) {
    points_.push_back(PointOf(*path[k].end));
    problem.task.reference->StateAt(steps[k + 1] * problem.time_step(), reference);
    dynamics::MotionPoint& goal = goals_.emplace_back(PointOf(reference));
    const Vec3 away = points_.back().pose.root_position - goal.pose.root_position;
    largest_drift_ = std::max(largest_drift_, std::hypot(away.x(), away.z()));
    LimitDistance(coordinates_, points_.back(), o.largest_drift, o.largest_heading, goal);
    VectorXd& distance = distances.emplace_back(2 * n);
    dynamics::Difference(coordinates_, goal, points_.back(), distance);
    changes_.push_back(NumbersOf(coordinates_, Rotations(k == 0 ? none : path[k - 1].offsets, path[k].offsets)));
    cost +=
        Square(weights_, distance) + o.smoothness * path[k].terms.smoothness + o.change * changes_.back().squaredNorm();
    path_costs_.push_back(cost);
  }
  optimization::PathRecursion recursion(
      {weights_, VectorXd::Constant(m, caution * o.turn), VectorXd::Constant(m, o.change)});
  gains_.resize(path.size());
  costs_to_go_.resize(path.size());
  for (size_t k = path.size(); k-- > 0;) {
    costs_to_go_[k] = recursion.cost_to_go();
    const FragmentModel& model = models[k];
    // A model of an earlier path has the defects of that; those of this path are none once its targets do not jump.
    const VectorXd defect = path[k].ramp_from ? VectorXd(VectorXd::Zero(2 * n))
                                              : VectorXd(Eigen::Map<const VectorXd>(model.defect.data(), 2 * n));
    if (recursion.StepBack({model.System(), defect, distances[k], changes_[k]}, gains_[k])) continue;
    gains_[k] = {VectorXd::Zero(m), Eigen::MatrixXd::Zero(m, 2 * n), Eigen::MatrixXd::Zero(m, m)};
  }
}

dynamics::MotionPoint Guidance::PointOf(const character::State& state) const {
  const auto own = static_cast<std::ptrdiff_t>(problem_.task.character->bodies.size());
  dynamics::MotionPoint point;
  dynamics::Reduce(coordinates_, character::State(state.begin(), state.begin() + own), point);
  return point;
}

Guidance::Start Guidance::StartOf(size_t fragment, const character::State& state, const Offsets& offsets) const {
  const Index n = coordinates_.size();
  Start start;
  start.state.resize(2 * n);
  dynamics::Difference(coordinates_, points_[fragment], PointOf(state), start.state);
  start.change = fragment == 0 ? VectorXd(VectorXd::Zero(n - 6))
                               : NumbersOf(coordinates_, Rotations(path_[fragment - 1].offsets, offsets));
  return start;
}

GuidedOffsets Guidance::ProposalFrom(size_t fragment, const Start& start) const {
  const optimization::PathGains& gains = gains_[fragment];
  const double most = problem_.options.refinement.largest_turn;
  const auto limited = [&](const VectorXd& turn) { return VectorXd(turn.cwiseMax(-most).cwiseMin(most)); };
  GuidedOffsets proposal;
  proposal.path = path_[fragment].offsets;
  const VectorXd by_state = gains.state * start.state, by_change = gains.change * start.change;
  proposal.feedback = TurnsOf(coordinates_, limited(by_state + by_change));
  proposal.correction = TurnsOf(coordinates_, limited(gains.open_loop));
  proposal.noise = noise_;
  return proposal;
}

Guidance::Score Guidance::Judge(size_t fragment, const Start& start, const character::State& end,
                                const task::CostTerms& terms, std::span<const Vec3> turns) const {
  const dynamics::MotionPoint point = PointOf(end);
  VectorXd difference(2 * coordinates_.size());
  dynamics::Difference(coordinates_, goals_[fragment], point, difference);
  const VectorXd turn = NumbersOf(coordinates_, turns);
  Score score;
  const RefinementOptions& o = problem_.options.refinement;
  score.cost = Square(weights_, difference) + o.smoothness * terms.smoothness +
               o.change * (turn - start.change + changes_[fragment]).squaredNorm();
  dynamics::Difference(coordinates_, points_[fragment + 1], point, difference);
  score.cost_to_go = costs_to_go_[fragment].At(difference, turn);
  return score;
}

}  // namespace retrace::sampling
