/// Quadratic programs of all kinds, and what must hold at the solution of each.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/math/random.h"
#include "retrace/optimization/quadratic_program.h"

namespace retrace::optimization {

inline Eigen::MatrixXd AnyMatrix(RandomStream& random, Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXd matrix(rows, columns);
  for (Eigen::Index j = 0; j < columns; ++j) {
    for (Eigen::Index i = 0; i < rows; ++i) matrix(i, j) = random.Normal();
  }
  return matrix;
}

inline int AnyInteger(RandomStream& random, int least, int most) {
  return least + static_cast<int>(random.Uniform() * (most - least + 1));
}

/// What makes active sets hard: constraints that repeat or follow from others.
struct Degeneracies {
  bool repeated_inequalities = false;  ///< rows again, some of them scaled
  bool dependent_equalities = false;   ///< the last equalities are sums of the others
  bool many_at_a_corner = false;       ///< all inequalities hold with equality at one point
};

/// A program that has a solution: all constraints hold at some point. The eigenvalues of G are from 1e-3 to 1e3.
inline QuadraticProgram AnyProgram(RandomStream& random, int most_variables, const Degeneracies& degeneracies = {}) {
  const int n = AnyInteger(random, 1, most_variables);
  const int equalities = AnyInteger(random, 0, n / 2);
  const int inequalities = AnyInteger(random, 0, 3 * n);
  QuadraticProgram program;
  program.Resize(n, equalities, inequalities);
  const Eigen::MatrixXd root = AnyMatrix(random, n, n);
  Eigen::VectorXd weights(n);
  for (int i = 0; i < n; ++i) weights[i] = std::pow(10.0, random.Uniform(-1.5, 1.5));
  program.hessian = root * weights.asDiagonal() * root.transpose() / n;
  program.hessian.diagonal().array() += 1e-3;
  program.gradient = AnyMatrix(random, n, 1) * std::pow(10.0, random.Uniform(-1, 2));
  const Eigen::VectorXd point = AnyMatrix(random, n, 1);
  program.equality_matrix = AnyMatrix(random, equalities, n);
  if (degeneracies.dependent_equalities && equalities > 1) {
    program.equality_matrix.row(equalities - 1) =
        0.5 * program.equality_matrix.row(0) - 2 * program.equality_matrix.row((equalities - 1) / 2);
  }
  program.equality_values = program.equality_matrix * point;
  program.inequality_matrix = AnyMatrix(random, inequalities, n);
  for (int i = 1; degeneracies.repeated_inequalities && i < inequalities; i += 2) {
    program.inequality_matrix.row(i) = program.inequality_matrix.row(i - 1) * (i % 4 == 1 ? 1 : 3);
  }
  program.inequality_bounds = program.inequality_matrix * point;
  for (int i = 0; !degeneracies.many_at_a_corner && i < inequalities; ++i) {
    const bool repeats = degeneracies.repeated_inequalities && i % 2 == 1;
    const double room = repeats || random.Uniform() < 0.2 ? 0 : random.Uniform(0, 2);
    program.inequality_bounds[i] -= room;
    if (repeats) program.inequality_bounds[i] = program.inequality_bounds[i - 1] * (i % 4 == 1 ? 1 : 3);
  }
  return program;
}

/// Makes a program infeasible by the lemma of Farkas: the last inequality contradicts a sum of others.
inline void Contradict(RandomStream& random, QuadraticProgram& program) {
  const Eigen::Index n = program.gradient.size(), rows = program.inequality_bounds.size();
  const int used = std::min<int>(static_cast<int>(rows), AnyInteger(random, 1, static_cast<int>(n)));
  Eigen::VectorXd normal = Eigen::VectorXd::Zero(n);
  double bound = 0;
  for (int i = 0; i < used; ++i) {
    const double weight = random.Uniform(0.1, 1);
    normal -= weight * program.inequality_matrix.row(i).transpose();
    bound -= weight * program.inequality_bounds[i];
  }
  program.inequality_matrix.conservativeResize(rows + 1, n);
  program.inequality_bounds.conservativeResize(rows + 1);
  program.inequality_matrix.row(rows) = normal.transpose();
  program.inequality_bounds[rows] = bound + random.Uniform(0.01, 1);
}

/// Largest of what the conditions of Karush, Kuhn and Tucker leave: stationarity, constraints, signs, complementarity;
/// in proportion to 1 + the largest number of the solution. Written down again, apart from the solver.
inline double KktResidual(const QuadraticProgram& program, const Summary& summary) {
  const Eigen::MatrixXd hessian = program.hessian.selfadjointView<Eigen::Lower>();
  Eigen::VectorXd rest = hessian * summary.x + program.gradient;
  if (program.equality_values.size() > 0) rest -= program.equality_matrix.transpose() * summary.equality_multipliers;
  if (program.inequality_bounds.size() > 0) {
    rest -= program.inequality_matrix.transpose() * summary.inequality_multipliers;
  }
  double scale = 1 + summary.x.cwiseAbs().maxCoeff() + program.gradient.cwiseAbs().maxCoeff();
  double worst = rest.cwiseAbs().maxCoeff();
  for (Eigen::Index i = 0; i < program.equality_values.size(); ++i) {
    worst = std::max(worst, std::abs(program.equality_matrix.row(i).dot(summary.x) - program.equality_values[i]));
    scale = std::max(scale, std::abs(summary.equality_multipliers[i]));
  }
  for (Eigen::Index i = 0; i < program.inequality_bounds.size(); ++i) {
    const double multiplier = summary.inequality_multipliers[i];
    scale = std::max(scale, std::abs(multiplier));
    const double slack = program.inequality_matrix.row(i).dot(summary.x) - program.inequality_bounds[i];
    worst = std::max({worst, -slack, -multiplier, std::min(std::abs(slack), multiplier)});
  }
  return std::isfinite(worst) ? worst / scale : std::numeric_limits<double>::infinity();
}

}  // namespace retrace::optimization
