#include "retrace/optimization/linear_quadratic.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace retrace::optimization {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// a b. Eigen cuts long sums into pieces that depend on the caches of the processor, and so do the last bits; in pieces
/// of 64 it has nothing to cut, whatever the processor.
template <typename A>
MatrixXd Product(const A& a, const MatrixXd& b) {
  constexpr Index kPiece = 64;
  MatrixXd product = MatrixXd::Zero(a.rows(), b.cols());
  for (Index first = 0; first < a.cols(); first += kPiece) {
    const Index size = std::min(kPiece, a.cols() - first);
    product.noalias() += a.middleCols(first, size) * b.middleRows(first, size);
  }
  return product;
}

/// The solution x of m x = b for a symmetric, positive definite m, by Cholesky's factors; they take the place of m and
/// x that of b. Without blocks, for the same reason. False where m is not positive definite.
bool SolveInPlace(MatrixXd& m, MatrixXd& b) {
  const Index n = m.rows();
  for (Index j = 0; j < n; ++j) {
    if (!(m(j, j) > 0)) return false;
    const Index below = n - j - 1;
    m(j, j) = std::sqrt(m(j, j));
    m.col(j).tail(below) /= m(j, j);
    for (Index k = j + 1; k < n; ++k) m.col(k).tail(n - k) -= m(k, j) * m.col(j).tail(n - k);
  }
  for (Index column = 0; column < b.cols(); ++column) {
    auto x = b.col(column);
    for (Index j = 0; j < n; ++j) {
      x[j] /= m(j, j);
      x.tail(n - j - 1) -= x[j] * m.col(j).tail(n - j - 1);
    }
  }
  // The transposed factor by rows, which are columns of it.
  const MatrixXd upper = m.transpose();
  for (Index column = 0; column < b.cols(); ++column) {
    auto x = b.col(column);
    for (Index j = n; j-- > 0;) {
      x[j] /= upper(j, j);
      x.head(j) -= x[j] * upper.col(j).head(j);
    }
  }
  return true;
}

}  // namespace

RiccatiRecursion::RiccatiRecursion(const QuadraticCost& cost)
    : state_cost_(cost.state), control_cost_(cost.control), cost_to_go_(cost.terminal.asDiagonal()) {
  const bool good = cost.state.size() == cost.terminal.size() && cost.state.allFinite() && cost.control.allFinite() &&
                    cost.terminal.allFinite() && (cost.state.array() >= 0).all() && (cost.control.array() > 0).all() &&
                    (cost.terminal.array() >= 0).all();
  if (!good) throw std::invalid_argument("weights of a regulator that are none");
}

RiccatiRecursion::RiccatiRecursion(const QuadraticCost& cost, const MatrixXd& cost_to_go) : RiccatiRecursion(cost) {
  if (cost_to_go.rows() != cost.state.size() || cost_to_go.cols() != cost.state.size() || !cost_to_go.allFinite()) {
    throw std::invalid_argument("a cost that is none of a regulator's end");
  }
  cost_to_go_ = cost_to_go;
}

bool RiccatiRecursion::StepBack(const LinearStep& step, MatrixXd& gain) {
  const Index n = state_cost_.size(), m = control_cost_.size();
  const MatrixXd &a = step.state, &b = step.control;
  if (a.rows() != n || a.cols() != n || b.rows() != n || b.cols() != m) {
    throw std::invalid_argument("a step of another system than the regulator's");
  }
  if (!a.allFinite() || !b.allFinite()) return false;
  const MatrixXd with_state = Product(cost_to_go_, a);               // K A
  MatrixXd pivot = Product(b.transpose(), Product(cost_to_go_, b));  // B^T K B
  MatrixXd found = -Product(b.transpose(), with_state);              // -B^T K A
  pivot.diagonal() += control_cost_;
  if (!SolveInPlace(pivot, found)) return false;
  // As A^T K (A + B L) + Q, which is symmetric but for rounding.
  MatrixXd before = Product(with_state.transpose(), MatrixXd(a + Product(b, found)));
  before.diagonal() += state_cost_;
  const MatrixXd symmetric = 0.5 * (before + before.transpose());
  if (!symmetric.allFinite() || !found.allFinite()) return false;
  cost_to_go_ = symmetric;
  gain = std::move(found);
  return true;
}

}  // namespace retrace::optimization
