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

double CostToGo::At(const Eigen::VectorXd& dx, const Eigen::VectorXd& du) const {
  const Eigen::VectorXd with_state = state * dx;
  double cost = dx.dot(with_state) + 2 * state_slope.dot(dx);
  if (control.size() == 0) return cost;
  const Eigen::VectorXd with_control = control * du;
  const Eigen::VectorXd between = mixed * du;
  cost += du.dot(with_control) + 2 * (dx.dot(between) + control_slope.dot(du));
  return cost;
}

PathRecursion::PathRecursion(const PathCost& cost) : cost_(cost) {
  const Index n = cost.state.size(), m = cost.control.size();
  const bool good = cost.change.size() == m && cost.state.allFinite() && cost.control.allFinite() &&
                    cost.change.allFinite() && (cost.state.array() >= 0).all() && (cost.control.array() > 0).all() &&
                    (cost.change.array() >= 0).all();
  if (!good) throw std::invalid_argument("weights of a path that are none");
  cost_to_go_ = {MatrixXd::Zero(n, n), MatrixXd::Zero(n, m), MatrixXd::Zero(m, m), Eigen::VectorXd::Zero(n),
                 Eigen::VectorXd::Zero(m)};
}

bool PathRecursion::StepBack(const PathStep& step, PathGains& gains) {
  const Index n = cost_.state.size(), m = cost_.control.size();
  const MatrixXd &a = step.system.state, &b = step.system.control;
  if (a.rows() != n || a.cols() != n || b.rows() != n || b.cols() != m || step.defect.size() != n ||
      step.distance.size() != n || step.change.size() != m) {
    throw std::invalid_argument("a step of another system than the path's");
  }
  if (!a.allFinite() || !b.allFinite() || !step.defect.allFinite() || !step.distance.allFinite() ||
      !step.change.allFinite()) {
    return false;
  }
  // At the end of the step, with what that end itself costs.
  MatrixXd state = cost_to_go_.state;
  state.diagonal() += cost_.state;
  const MatrixXd slope = cost_to_go_.state_slope + cost_.state.cwiseProduct(step.distance);
  // By the change of the control: what is quadratic in it, what multiplies a change of the state, what is linear.
  const MatrixXd mixed = Product(state, b) + cost_to_go_.mixed;  // P B + P_xu
  MatrixXd pivot = Product(b.transpose(), mixed) + Product(cost_to_go_.mixed.transpose(), b) + cost_to_go_.control;
  pivot = MatrixXd(0.5 * (pivot + pivot.transpose()));
  pivot.diagonal() += cost_.control + cost_.change;
  const MatrixXd by_state = Product(mixed.transpose(), a);
  const MatrixXd linear = Product(mixed.transpose(), MatrixXd(step.defect)) + Product(b.transpose(), slope) +
                          cost_to_go_.control_slope + cost_.change.cwiseProduct(step.change);
  MatrixXd solved(m, n + m + 1);
  solved << -by_state, MatrixXd(cost_.change.asDiagonal()), -linear;
  if (!SolveInPlace(pivot, solved)) return false;
  const MatrixXd gain = solved.leftCols(n), change = solved.middleCols(n, m), open_loop = solved.rightCols(1);
  CostToGo before;
  const MatrixXd with_state = Product(state, a);
  const MatrixXd whole = Product(a.transpose(), with_state) + Product(by_state.transpose(), gain);
  before.state = 0.5 * (whole + whole.transpose());
  before.mixed = Product(by_state.transpose(), change);
  MatrixXd control = -(cost_.change.asDiagonal() * change);
  control.diagonal() += cost_.change;
  before.control = 0.5 * (control + control.transpose());
  before.state_slope = Product(with_state.transpose(), MatrixXd(step.defect)) + Product(a.transpose(), slope) +
                       Product(by_state.transpose(), open_loop);
  before.control_slope = -cost_.change.cwiseProduct(step.change + open_loop);
  if (!before.state.allFinite() || !before.mixed.allFinite() || !before.state_slope.allFinite() ||
      !before.control_slope.allFinite() || !solved.allFinite()) {
    return false;
  }
  cost_to_go_ = std::move(before);
  gains.open_loop = open_loop;
  gains.state = gain;
  gains.change = change;
  return true;
}

}  // namespace retrace::optimization
