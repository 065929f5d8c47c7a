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

// ---- The same about a path that is away from its goal (Jacobson and Mayne 1970; Tassa, Erez and Todorov 2012).
//
// A path has states x_k and controls u_k. What leads back to the goal is a small change of it: of the states by dx_k
// and of the controls by du_k, with dx_0 given, du_-1 = 0 and
//
//     minimize   sum over k = 0 .. N-1 of  |dx_{k+1} + d_{k+1}|^2_Q  +  |du_k|^2_R  +  |du_k - du_{k-1} + j_k|^2_S
//     subject to dx_{k+1} = A_k dx_k + B_k du_k + c_k
//
// where d_k leads from the goal to the path, j_k = u_k - u_{k-1} is how the path's own control changes, and c_k is by
// how much the path fails to be a motion of the system. The change that is best follows from the changes before it:
// du_k = K_k dx_k + M_k du_{k-1} + o_k.

/// One step of the path.
struct PathStep {
  LinearStep system;
  Eigen::VectorXd defect;    ///< c (n)
  Eigen::VectorXd distance;  ///< d at the end of the step (n)
  Eigen::VectorXd change;    ///< j (m)
};

/// The weights, which are diagonal.
struct PathCost {
  Eigen::VectorXd state;    ///< the diagonal of Q (n), >= 0
  Eigen::VectorXd control;  ///< of R (m), > 0
  Eigen::VectorXd change;   ///< of S (m), >= 0
};

/// What the rest of the path costs, but for a constant, after the state and the control changed by dx and du.
struct CostToGo {
  Eigen::MatrixXd state;    ///< (n x n), symmetric
  Eigen::MatrixXd mixed;    ///< (n x m)
  Eigen::MatrixXd control;  ///< (m x m), symmetric
  Eigen::VectorXd state_slope;
  Eigen::VectorXd control_slope;

  double At(const Eigen::VectorXd& dx, const Eigen::VectorXd& du) const;
};

/// The best change of a step's control.
struct PathGains {
  Eigen::VectorXd open_loop;  ///< o (m)
  Eigen::MatrixXd state;      ///< K (m x n)
  Eigen::MatrixXd change;     ///< M (m x m)
};

/// Goes through the steps from the last one to the first.
class PathRecursion {
 public:
  /// Throws std::invalid_argument for weights that are negative or not finite, or of R not above zero.
  explicit PathRecursion(const PathCost& cost);

  /// The gains of the step before those that it went through already. Returns false, and stays as it is, where the
  /// numbers of the step are not finite or overflow. Throws std::invalid_argument for sizes that do not fit.
  bool StepBack(const PathStep& step, PathGains& gains);

  /// From the beginning of the step that came last; at first nothing. What a step's own end costs is part of the step.
  const CostToGo& cost_to_go() const { return cost_to_go_; }

 private:
  PathCost cost_;
  CostToGo cost_to_go_;
};

}  // namespace retrace::optimization
