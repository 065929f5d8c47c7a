/// The linear quadratic regulator of a system that changes with time, over a finite horizon (Al Borno et al. 2018,
/// equations 11 to 20; Bertsekas 1995, chapter 4):
///
///     minimize   sum over k = 0 .. N-1 of (x_k^T Q x_k + u_k^T R u_k)  +  x_N^T Q_N x_N
///     subject to x_{k+1} = A_k x_k + B_k u_k
///
/// is solved by u_k = L_k x_k with gains from the recursion of Riccati, backwards in time, and costs x_k^T K_k x_k from
/// step k on. Numbers have no units here.
#pragma once

#include <Eigen/Core>

namespace retrace::optimization {

/// One step of the system.
struct LinearStep {
  Eigen::MatrixXd state;    ///< A (n x n)
  Eigen::MatrixXd control;  ///< B (n x m)
};

/// The weights, which are diagonal.
struct QuadraticCost {
  Eigen::VectorXd state;     ///< the diagonal of Q (n), >= 0
  Eigen::VectorXd control;   ///< of R (m), > 0
  Eigen::VectorXd terminal;  ///< of Q_N (n), >= 0
};

/// Goes through the steps from the last one to the first.
class RiccatiRecursion {
 public:
  /// Throws std::invalid_argument for weights that are negative or not finite, or of R not above zero.
  explicit RiccatiRecursion(const QuadraticCost& cost);
  /// The same, but the end costs x^T K x instead: that of another system, which goes on there.
  RiccatiRecursion(const QuadraticCost& cost, const Eigen::MatrixXd& cost_to_go);

  /// The gain L_k (m x n) of the step before those that it went through already. Returns false, and stays as it is,
  /// where the numbers of the step are not finite or overflow. Throws std::invalid_argument for sizes that do not fit.
  bool StepBack(const LinearStep& step, Eigen::MatrixXd& gain);

  /// K_k (n x n), symmetric, of the step that came last; at first that of the end.
  const Eigen::MatrixXd& cost_to_go() const { return cost_to_go_; }

 private:
  Eigen::VectorXd state_cost_;
  Eigen::VectorXd control_cost_;
  Eigen::MatrixXd cost_to_go_;
};

}  // namespace retrace::optimization
