#include "retrace/optimization/linear_quadratic.h"

#include <Eigen/Cholesky>
#include <stdexcept>

namespace retrace::optimization {

RiccatiRecursion::RiccatiRecursion(const QuadraticCost& cost)
    : state_cost_(cost.state), control_cost_(cost.control), cost_to_go_(cost.terminal.asDiagonal()) {
  const bool good = cost.state.size() == cost.terminal.size() && cost.state.allFinite() && cost.control.allFinite() &&
                    cost.terminal.allFinite() && (cost.state.array() >= 0).all() && (cost.control.array() > 0).all() &&
                    (cost.terminal.array() >= 0).all();
  if (!good) throw std::invalid_argument("weights of a regulator that are none");
}

bool RiccatiRecursion::StepBack(const LinearStep& step, Eigen::MatrixXd& gain) {
  const Eigen::Index n = state_cost_.size(), m = control_cost_.size();
  const Eigen::MatrixXd &a = step.state, &b = step.control;
  if (a.rows() != n || a.cols() != n || b.rows() != n || b.cols() != m) {
    throw std::invalid_argument("a step of another system than the regulator's");
  }
  if (!a.allFinite() || !b.allFinite()) return false;
  const Eigen::MatrixXd with_state = cost_to_go_ * a;  // K A
  Eigen::MatrixXd pivot = b.transpose() * (cost_to_go_ * b);
  pivot.diagonal() += control_cost_;
  const Eigen::LLT<Eigen::MatrixXd> factor(pivot);
  if (factor.info() != Eigen::Success) return false;
  const Eigen::MatrixXd coupling = b.transpose() * with_state;  // B^T K A
  Eigen::MatrixXd found = -factor.solve(coupling);
  // As A^T K (A + B L) + Q; the other half of the sum is the same to rounding, and the mean of both is symmetric.
  const Eigen::MatrixXd closed = a + b * found;
  Eigen::MatrixXd before = with_state.transpose() * closed;
  before.diagonal() += state_cost_;
  const Eigen::MatrixXd symmetric = 0.5 * (before + before.transpose());
  if (!symmetric.allFinite() || !found.allFinite()) return false;
  cost_to_go_ = symmetric;
  gain = std::move(found);
  return true;
}

}  // namespace retrace::optimization
