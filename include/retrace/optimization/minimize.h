/// Minimization of a smooth function with its gradient: L-BFGS (Nocedal and Wright, *Numerical Optimization*, 2006,
/// algorithm 7.4, with the line search of algorithms 3.5 and 3.6), and scaled conjugate gradients (Møller 1993), which
/// needs no line search. Both are plain sums in a fixed order: the same bits on any processor. Numbers have no units
/// here.
///
///     const auto bowl = [](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
///       gradient = 2 * x;
///       return x.squaredNorm();
///     };
///     const Minimum minimum = Minimize(bowl, Eigen::VectorXd::Ones(5), {});
///     minimum.x;
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace retrace::optimization {

/// The value at x (n), and the gradient (n) there. Where there is none the value is infinite or not a number: the
/// search steps back from such a point.
using SmoothFunction = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

enum class Minimizer { kLbfgs, kScaledConjugateGradients };

struct MinimizationOptions {
  Minimizer minimizer = Minimizer::kLbfgs;
  int most_iterations = 300;
  double gradient_tolerance = 1e-6;  ///< ends when no entry of the gradient is larger, in proportion to 1 + |value|
  int memory = 10;                   ///< pairs that L-BFGS keeps
  /// Called after each iteration with its number, from 1 on; false ends the minimization. Empty: none.
  std::function<bool(int iteration, const Eigen::VectorXd& x, double value)> after_iteration;
};

enum class MinimizationStatus {
  kConverged,
  kIterationLimit,
  kStopped,    ///< by after_iteration
  kNoDescent,  ///< no smaller value was found along the direction: rounding, or a gradient that is not the function's
  kNotFinite,  ///< no value at the start
};

struct Minimum {
  Eigen::VectorXd x;         ///< (n)
  double value = 0;          ///< never larger than at the start
  double gradient_size = 0;  ///< the largest entry of the gradient there
  int evaluations = 0;
  MinimizationStatus status = MinimizationStatus::kNotFinite;
  std::vector<double> values;  ///< at the start and after each iteration; they never rise
  int iterations() const { return static_cast<int>(values.size()) - 1; }
};

const char* NameOf(MinimizationStatus status);

/// Throws std::invalid_argument for an empty start and for options that are none.
Minimum Minimize(const SmoothFunction& function, const Eigen::VectorXd& start, const MinimizationOptions& options);

/// The largest difference between the gradient at x and central differences of the values (step h in each coordinate),
/// in proportion to the largest entry of the gradient: how right a gradient is.
double GradientError(const SmoothFunction& function, const Eigen::VectorXd& x, double h);

}  // namespace retrace::optimization
