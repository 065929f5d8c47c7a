/// Dense strictly convex quadratic programs, by the dual active-set method of Goldfarb and Idnani (1983, "A numerically
/// stable dual method for solving strictly convex quadratic programs", Mathematical Programming 27).
///
///     minimize   1/2 x^T G x + g^T x
///     subject to E x  = e
///                A x >= b
///
/// The method begins with the minimum without inequalities and takes in violated ones, each time with the multipliers
/// of those before kept at or above zero, so that it needs no feasible point to begin with. It keeps J = L^-T Q and R,
/// where G = L L^T and L^-1 N = Q [R; 0] for the normals N of the active constraints (their equations 4.1 to 4.3).
///
/// Numbers have no units here. What a caller gets wrong (sizes that do not fit) is std::invalid_argument; what the
/// numbers make impossible is a status.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

namespace retrace::optimization {

struct QuadraticProgram {
  Eigen::MatrixXd hessian;            ///< G (n x n), positive definite; only its lower triangle is read
  Eigen::VectorXd gradient;           ///< g (n)
  Eigen::MatrixXd equality_matrix;    ///< E (equalities x n)
  Eigen::VectorXd equality_values;    ///< e (equalities)
  Eigen::MatrixXd inequality_matrix;  ///< A (inequalities x n)
  Eigen::VectorXd inequality_bounds;  ///< b (inequalities); minus infinity: the row does not count

  /// All members of the given sizes, zero. Nothing is allocated where they have these sizes already.
  void Resize(int variables, int equalities, int inequalities);
};

enum class Status {
  kOptimal,
  kInfeasible,           ///< no point meets the constraints
  kNotPositiveDefinite,  ///< G is not, to rounding
  kIterationLimit,
  kNotFinite,  ///< a number of the problem is NaN or infinite, or the solution overflows
};

/// A word for messages, such as "infeasible".
const char* NameOf(Status status);

/// What a solution has come to. Anything but the status is meaningful for kOptimal alone, except where it says so.
struct Summary {
  Status status = Status::kNotFinite;
  int iterations = 0;       ///< changes of the active set after the start, whatever the status
  bool warm_start = false;  ///< the start was the active set of the solution before, whatever the status
  double objective = 0;     ///< 1/2 x^T G x + g^T x
  /// Largest of what the conditions of Karush, Kuhn and Tucker leave, each in proportion to the terms that it is the
  /// sum of: stationarity G x + g = E^T y + A^T z, and how far constraints are missed. Multipliers are not negative and
  /// zero where a constraint is not active, by construction.
  double residual = 0;
  Eigen::VectorXd x;                       ///< (n)
  Eigen::VectorXd equality_multipliers;    ///< y (equalities); zero for rows that follow from the others
  Eigen::VectorXd inequality_multipliers;  ///< z (inequalities), >= 0
  std::vector<int> active;                 ///< inequalities that hold with equality, as they were taken in
};

/// Solves one problem after the other. It keeps its memory: solving problems of the same sizes again allocates nothing.
/// Results are a function of the problem, and with a warm start of the active set of the problem before.
class QuadraticProgramSolver {
 public:
  enum class Start {
    kCold,  ///< from the minimum without inequalities
    kWarm,  ///< from the inequalities that were active in the last optimal solution, where the sizes are the same
  };

  QuadraticProgramSolver();
  ~QuadraticProgramSolver();
  QuadraticProgramSolver(QuadraticProgramSolver&&) noexcept;
  QuadraticProgramSolver& operator=(QuadraticProgramSolver&&) noexcept;

  /// The summary is valid until the next call. @param most_iterations 0: ten for each variable and constraint
  const Summary& Solve(const QuadraticProgram& problem, Start start = Start::kCold, int most_iterations = 0);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace retrace::optimization
