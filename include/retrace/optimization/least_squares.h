/// Least squares with sparse derivatives, by the method of Levenberg and Marquardt (Moré 1978, "The Levenberg-Marquardt
/// algorithm: implementation and theory"): each step solves (J^T J + d D) x = -J^T r with D the diagonal of J^T J, and
/// d follows whether steps help. Unknowns are eliminated in their order: of those that meet in one residual the numbers
/// should be near to each other, as along a course of time; the work is then linear in their number. Plain sums in a
/// fixed order: the same bits on any processor. Numbers have no units here.
///
///     // the nearest point to (3, 0) on a parabola
///     const auto residuals = [](const Eigen::VectorXd& x, Residuals& out) {
///       out.Add(x[0] - 3, {{0, 1}});
///       out.Add(x[0] * x[0], {{0, 2 * x[0]}});
///     };
///     MinimizeSquares(residuals, Eigen::VectorXd::Ones(1), {}).x;
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "retrace/optimization/minimize.h"

namespace retrace::optimization {

/// The residuals of a position and their derivatives.
class Residuals {
 public:
  /// A derivative with respect to one unknown; several of the same one are summed.
  using Derivatives = std::vector<std::pair<Eigen::Index, double>>;

  void Add(double value, const Derivatives& derivatives);
  size_t size() const { return values_.size(); }
  /// Half the sum of squares.
  double Value() const;

 private:
  friend class SquaresSolver;
  std::vector<double> values_;
  std::vector<Eigen::Triplet<double>> derivatives_;
};

/// Adds the residuals at x (n), as many and in the same order at every x.
using ResidualFunction = std::function<void(const Eigen::VectorXd& x, Residuals& residuals)>;

struct SquaresOptions {
  int most_iterations = 100;
  double tolerance = 1e-9;  ///< ends when a step lessens the value by a smaller share of it
};

/// `value` is half the sum of squares. Throws std::invalid_argument for an empty start, options that are none, another
/// number of residuals at another position, and derivatives by unknowns that are none.
Minimum MinimizeSquares(const ResidualFunction& function, const Eigen::VectorXd& start, const SquaresOptions& options);

/// Linear least squares with sparse rows (equations x unknowns), by Cholesky factors of rows^T rows: what minimizes
/// |rows x - wanted|. Unknowns are eliminated in their order, as above.
class LinearSquares {
 public:
  LinearSquares();
  explicit LinearSquares(const Eigen::SparseMatrix<double>& rows);
  ~LinearSquares();

  /// Other rows. After the first time their entries must be at the same positions.
  void SetRows(const Eigen::SparseMatrix<double>& rows);

  /// The solution (unknowns x columns) of each column of `wanted` (equations x columns).
  Eigen::MatrixXd Solve(const Eigen::MatrixXd& wanted) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

}  // namespace retrace::optimization
