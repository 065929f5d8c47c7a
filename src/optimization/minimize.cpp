#include "retrace/optimization/minimize.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <stdexcept>
#include <utility>

namespace retrace::optimization {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// Conditions of Wolfe: a step is taken that lessens the value by this part of what the slope promises ...
constexpr double kSufficient = 1e-4;
// ... and the slope along the direction to this part of what it was.
constexpr double kCurvature = 0.9;
constexpr int kMostTrials = 30;
constexpr double kLongest = 1e10;

struct Place {
  VectorXd x, gradient;
  double value = 0;
};

/// What both algorithms do alike: evaluations, the record of the iterations, when to end.
class Descent {
 public:
  Descent(const SmoothFunction& function, const MinimizationOptions& options, const VectorXd& start)
      : function_(function), options_(options) {
    at_.x = start;
    Evaluate(at_);
    minimum_.values.push_back(at_.value);
  }

  bool Evaluate(Place& place) {
    place.gradient.resize(place.x.size());
    place.value = function_(place.x, place.gradient);
    ++minimum_.evaluations;
    return std::isfinite(place.value) && place.gradient.allFinite();
  }

  const Place& at() const { return at_; }
  bool finite() const { return std::isfinite(at_.value) && at_.gradient.allFinite(); }

  /// Whether the gradient is as small as it should be.
  bool Converged() {
    if (at_.gradient.lpNorm<Eigen::Infinity>() > options_.gradient_tolerance * (1 + std::abs(at_.value))) return false;
    minimum_.status = MinimizationStatus::kConverged;
    return true;
  }

  /// Ends an iteration at a position. False where no other one is to follow.
  bool GoTo(Place& place) {
    std::swap(at_, place);
    minimum_.values.push_back(at_.value);
    const int iteration = minimum_.iterations();
    if (options_.after_iteration && !options_.after_iteration(iteration, at_.x, at_.value)) {
      minimum_.status = MinimizationStatus::kStopped;
      return false;
    }
    if (Converged()) return false;
    minimum_.status = MinimizationStatus::kIterationLimit;
    return iteration < options_.most_iterations;
  }

  void End(MinimizationStatus status) { minimum_.status = status; }

  Minimum Result() {
    minimum_.x = at_.x;
    minimum_.value = at_.value;
    minimum_.gradient_size = at_.gradient.size() > 0 ? at_.gradient.lpNorm<Eigen::Infinity>() : 0;
    return std::move(minimum_);
  }

 private:
  const SmoothFunction& function_;
  const MinimizationOptions& options_;
  Place at_;
  Minimum minimum_;
};

/// Looks along a direction for a step that meets the conditions of Wolfe. Leaves the position in `to`; false where
/// there is none with a smaller value.
bool SearchLine(Descent& descent, const VectorXd& direction, double first_step, Place& to) {
  const Place& from = descent.at();
  const double slope = from.gradient.dot(direction);
  if (!(slope < 0)) return false;
  double low = 0, low_value = from.value, low_slope = slope;
  double high = std::numeric_limits<double>::infinity();
  double step = first_step;
  Place best;  // of those with a value that is small enough, whatever their slope
  best.value = from.value;
  for (int trial = 0; trial < kMostTrials; ++trial) {
    to.x = from.x + step * direction;
    if (!descent.Evaluate(to) || to.value > from.value + kSufficient * step * slope || to.value >= low_value) {
      high = step;
    } else {
      const double slope_there = to.gradient.dot(direction);
      if (to.value < best.value) best = to;
      if (std::abs(slope_there) <= -kCurvature * slope) return true;
      if (slope_there * (std::isfinite(high) ? high - low : 1) >= 0) high = low;
      low = step;
      low_value = to.value;
      low_slope = slope_there;
    }
    if (!std::isfinite(high)) {
      step = std::min(2.5 * step, kLongest);
      continue;
    }
    // The minimum of the parabola through both ends, kept away from them.
    const double width = high - low;
    double part = 0.5;
    if (std::isfinite(to.value) && high == step) {
      const double bend = to.value - low_value - low_slope * width;
      if (bend > 0) part = std::clamp(-low_slope * width / (2 * bend), 0.1, 0.9);
    }
    step = low + part * width;
    if (step == low || step == high) break;
  }
  if (!(best.value < from.value)) return false;
  to = std::move(best);
  return true;
}

void Lbfgs(Descent& descent, const MinimizationOptions& options) {
  struct Pair {
    VectorXd move, change;  // of x and of the gradient
    double curvature = 0;
  };
  std::deque<Pair> pairs;
  std::vector<double> parts(static_cast<size_t>(options.memory));
  Place to;
  VectorXd direction;
  while (true) {
    const Place& at = descent.at();
    direction = -at.gradient;
    for (size_t k = pairs.size(); k-- > 0;) {
      parts[k] = pairs[k].move.dot(direction) / pairs[k].curvature;
      direction -= parts[k] * pairs[k].change;
    }
    if (!pairs.empty()) direction *= pairs.back().curvature / pairs.back().change.squaredNorm();
    for (size_t k = 0; k < pairs.size(); ++k) {
      direction += (parts[k] - pairs[k].change.dot(direction) / pairs[k].curvature) * pairs[k].move;
    }
    const double first_step = pairs.empty() ? std::min(1.0, 1 / at.gradient.norm()) : 1;
    if (!SearchLine(descent, direction, first_step, to)) {
      if (pairs.empty()) return descent.End(MinimizationStatus::kNoDescent);
      pairs.clear();  // steepest descent, before it is given up
      continue;
    }
    Pair pair{to.x - at.x, to.gradient - at.gradient, 0};
    pair.curvature = pair.move.dot(pair.change);
    if (pair.curvature > std::numeric_limits<double>::epsilon() * pair.change.squaredNorm()) {
      if (static_cast<int>(pairs.size()) == options.memory) pairs.pop_front();
      pairs.push_back(std::move(pair));
    }
    if (!descent.GoTo(to)) return;
  }
}

/// The steps of Møller's paper, with its names in the comments.
void ScaledConjugateGradients(Descent& descent) {
  constexpr double kDifference = 1e-4;  // sigma, in proportion to the direction
  constexpr double kLeastScale = 1e-15, kMostScale = 1e100;
  const Index n = descent.at().x.size();
  double scale = 1e-6;                          // lambda
  double raised = 0;                            // lambda bar
  VectorXd direction = -descent.at().gradient;  // p
  VectorXd descent_of = direction;              // r
  bool success = true;
  double bend = 0;  // delta
  Place near, to;
  int since_restart = 0;
  while (true) {
    const Place& at = descent.at();
    const double square = direction.squaredNorm();
    if (success) {
      if (!(descent_of.dot(direction) > 0)) {
        direction = descent_of;
        since_restart = 0;
        continue;
      }
      const double part = kDifference / std::sqrt(square);
      near.x = at.x + part * direction;
      bend = descent.Evaluate(near) ? direction.dot(near.gradient - at.gradient) / part : 0;
    }
    bend += (scale - raised) * square;
    if (bend <= 0) {
      raised = 2 * (scale - bend / square);
      bend = -bend + scale * square;
      scale = raised;
    }
    const double slope = direction.dot(descent_of);  // mu
    const double step = slope / bend;                // alpha
    to.x = at.x + step * direction;
    const bool valued = descent.Evaluate(to);
    const double comparison = valued ? 2 * bend * (at.value - to.value) / (slope * slope) : -1;  // Delta
    success = comparison >= 0 && to.value <= at.value;
    if (success) {
      const VectorXd before = descent_of;
      descent_of = -to.gradient;
      raised = 0;
      ++since_restart;
      if (since_restart >= n) {
        direction = descent_of;
        since_restart = 0;
      } else {
        const double mix = (descent_of.squaredNorm() - descent_of.dot(before)) / slope;  // beta
        direction = descent_of + mix * direction;
      }
      if (comparison >= 0.75) scale = std::max(kLeastScale, 0.25 * scale);
      if (!descent.GoTo(to)) return;
    } else {
      raised = scale;
    }
    if (comparison < 0.25) scale += valued ? bend * (1 - comparison) / square : 3 * scale + 1;
    if (scale > kMostScale || !std::isfinite(scale)) return descent.End(MinimizationStatus::kNoDescent);
  }
}

}  // namespace

const char* NameOf(MinimizationStatus status) {
  switch (status) {
    case MinimizationStatus::kConverged:
      return "converged";
    case MinimizationStatus::kIterationLimit:
      return "iteration limit";
    case MinimizationStatus::kStopped:
      return "stopped";
    case MinimizationStatus::kNoDescent:
      return "no descent";
    case MinimizationStatus::kNotFinite:
      break;
  }
  return "not finite";
}

Minimum Minimize(const SmoothFunction& function, const VectorXd& start, const MinimizationOptions& options) {
  if (start.size() == 0 || options.most_iterations < 0 || options.memory < 1 || !(options.gradient_tolerance >= 0)) {
    throw std::invalid_argument("a minimization without coordinates, or with options that are none");
  }
  Descent descent(function, options, start);
  if (!descent.finite()) {
    descent.End(MinimizationStatus::kNotFinite);
  } else if (!descent.Converged()) {
    descent.End(MinimizationStatus::kIterationLimit);
    if (options.most_iterations > 0) {
      options.minimizer == Minimizer::kLbfgs ? Lbfgs(descent, options) : ScaledConjugateGradients(descent);
    }
  }
  return descent.Result();
}

double GradientError(const SmoothFunction& function, const VectorXd& x, double h) {
  VectorXd gradient(x.size()), scratch(x.size()), moved = x;
  function(x, gradient);
  double worst = 0;
  for (Index i = 0; i < x.size(); ++i) {
    moved[i] = x[i] + h;
    const double above = function(moved, scratch);
    moved[i] = x[i] - h;
    const double below = function(moved, scratch);
    moved[i] = x[i];
    worst = std::max(worst, std::abs((above - below) / (2 * h) - gradient[i]));
  }
  return worst / gradient.lpNorm<Eigen::Infinity>();
}

}  // namespace retrace::optimization
