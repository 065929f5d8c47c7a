#include "retrace/optimization/quadratic_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "vector_kernels.h"

namespace retrace::optimization {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A constraint is violated when it is missed by more than this, in proportion to the terms that it compares.
constexpr double kViolation = 1e-11;
// A constraint whose normal depends on those of the active ones contradicts them only when it is missed by more than
// this, in proportion: rounding alone reaches the other bound where normals are nearly dependent.
constexpr double kContradiction = 1e-9;
// A normal depends on others when what is perpendicular to them is shorter than this, in proportion.
constexpr double kDependent = 1e-10;
// Entries of R^-1 d this much smaller than the largest one are rounding.
constexpr double kNoDirection = 1e-13;

}  // namespace

void QuadraticProgram::Resize(int variables, int equalities, int inequalities) {
  hessian.setZero(variables, variables);
  gradient.setZero(variables);
  equality_matrix.setZero(equalities, variables);
  equality_values.setZero(equalities);
  inequality_matrix.setZero(inequalities, variables);
  inequality_bounds.setZero(inequalities);
}

const char* NameOf(Status status) {
  switch (status) {
    case Status::kOptimal:
      return "optimal";
    case Status::kInfeasible:
      return "infeasible";
    case Status::kNotPositiveDefinite:
      return "not positive definite";
    case Status::kIterationLimit:
      return "iteration limit";
    case Status::kNotFinite:
      break;
  }
  return "not finite";
}

/// Constraints are counted: the equalities, then the inequalities. Their normals are the columns of `normals`.
struct QuadraticProgramSolver::Workspace {
  /// The normal of a constraint has a single entry, or is one of `distinct` times a sign.
  struct Row {
    Index entry = -1;  // of a normal with a single one
    Index place = -1;  // in `distinct`
    double sign = 1;
  };

  const VectorKernels& kernels = kVectorKernels.Best();
  Index n = 0, num_equalities = 0, num_inequalities = 0;
  MatrixXd lower;     // L (n x n)
  MatrixXd basis;     // J (n x n), rows of zeros under it; its first columns belong to the active constraints, in order
  MatrixXd triangle;  // R, upper (n x n); its first columns and rows
  MatrixXd normals;   // (n x constraints)
  VectorXd values;    // (constraints) e and b
  VectorXd lengths;   // (constraints) of the normals
  std::vector<Row> rows;          // (constraints) what its product with a vector follows from
  std::vector<int> distinct;      // constraints whose products must be computed
  VectorXd products;              // (distinct)
  std::vector<int> all_columns;   // (n) 0, 1, ...
  std::vector<Index> active;      // constraints
  std::vector<char> in_active;    // (constraints)
  std::vector<char> passed_over;  // (constraints) that follow from others to rounding
  VectorXd x;                     // (n)
  VectorXd multipliers;           // (n) of the active constraints, in their order
  VectorXd d, r;                  // (n) as in the paper
  VectorXd z;                     // (n, padded) the same
  VectorXd reflected;             // (n, padded) scratch of Add
  VectorXd rest, missed;          // (n) scratch of Correct
  VectorXd scratch, other;        // (n)
  VectorXd slack;                 // (inequalities)
  double size_of_x = 0;           // the largest norm of x so far
  int most_iterations = 0;
  std::vector<Index> last_active;  // inequalities of the last optimal solution
  bool has_last = false;
  Summary summary;

  Index num_active() const { return static_cast<Index>(active.size()); }
  bool IsEquality(Index constraint) const { return constraint < num_equalities; }

  /// How far a constraint can be missed by rounding, for a tolerance in proportion.
  double Allowance(Index c, double tolerance) const {
    return tolerance * (std::abs(values[c]) + lengths[c] * size_of_x);
  }

  void Resize(const QuadraticProgram& p) {
    const Index variables = p.gradient.size();
    if (variables == 0 || p.hessian.rows() != variables || p.hessian.cols() != variables ||
        p.equality_matrix.rows() != p.equality_values.size() ||
        (p.equality_values.size() > 0 && p.equality_matrix.cols() != variables) ||
        p.inequality_matrix.rows() != p.inequality_bounds.size() ||
        (p.inequality_bounds.size() > 0 && p.inequality_matrix.cols() != variables)) {
      throw std::invalid_argument("a quadratic program whose matrices and vectors do not fit one another");
    }
    if (variables != n || p.equality_values.size() != num_equalities ||
        p.inequality_bounds.size() != num_inequalities) {
      has_last = false;
    }
    n = variables;
    num_equalities = p.equality_values.size();
    num_inequalities = p.inequality_bounds.size();
    const Index constraints = num_equalities + num_inequalities;
    lower.resize(RoundUp(n) + kPad, n);
    lower.bottomRows(lower.rows() - n).setZero();
    basis.resize(RoundUp(n), n);
    basis.bottomRows(basis.rows() - n).setZero();
    all_columns.resize(static_cast<size_t>(n));
    std::iota(all_columns.begin(), all_columns.end(), 0);
    triangle.resize(n, n);
    normals.resize(n, constraints);
    values.resize(constraints);
    lengths.resize(constraints);
    for (VectorXd* vector : {&x, &multipliers, &d, &r, &rest, &missed, &scratch, &other, &summary.x}) {
      vector->resize(n);
    }
    z.resize(basis.rows());
    reflected.resize(basis.rows());
    rows.resize(static_cast<size_t>(constraints));
    distinct.reserve(static_cast<size_t>(constraints));
    products.resize(constraints);
    slack.resize(num_inequalities);
    active.reserve(static_cast<size_t>(n));
    last_active.reserve(static_cast<size_t>(n));
    summary.active.reserve(static_cast<size_t>(n));
    in_active.assign(static_cast<size_t>(constraints), 0);
    passed_over.assign(static_cast<size_t>(constraints), 0);
    summary.equality_multipliers.setZero(num_equalities);
    summary.inequality_multipliers.setZero(num_inequalities);
  }

  /// The rows of a matrix become columns of `normals` from `first` on: square by square, as neither lies in a row.
  void TakeNormals(const MatrixXd& matrix, Index count, Index first) {
    constexpr Index kSide = 8;
    for (Index i = 0; i < n; i += kSide) {
      const Index wide = std::min(kSide, n - i);
      for (Index c = 0; c < count; c += kSide) {
        const Index high = std::min(kSide, count - c);
        for (Index k = c; k < c + high; ++k) {
          for (Index j = i; j < i + wide; ++j) normals(j, first + k) = matrix(k, j);
        }
      }
    }
  }

  /// False where a number is none.
  bool Load(const QuadraticProgram& p) {
    TakeNormals(p.equality_matrix, num_equalities, 0);
    TakeNormals(p.inequality_matrix, num_inequalities, num_equalities);
    values.head(num_equalities) = p.equality_values;
    values.tail(num_inequalities) = p.inequality_bounds;
    for (Index c = 0; c < values.size(); ++c) {
      lengths[c] = normals.col(c).norm();
      if (!IsEquality(c) && values[c] == -kInfinity) {
        passed_over[static_cast<size_t>(c)] = 1;
        values[c] = 0;
      }
    }
    FindDistinctRows();
    for (Index k = 0; k < n; ++k) {
      if (!p.hessian.col(k).tail(n - k).allFinite()) return false;
    }
    return p.gradient.allFinite() && values.allFinite() && lengths.allFinite();
  }

  /// Bounds of variables need no products, and two bounds of one quantity have normals that are opposite.
  void FindDistinctRows() {
    distinct.clear();
    Index apart = 0;  // how far before it the last constraint had an opposite one
    for (Index c = 0; c < normals.cols(); ++c) {
      Row& row = rows[static_cast<size_t>(c)];
      row = {};
      const auto normal = normals.col(c);
      Index entries = 0;
      for (Index i = 0; i < n && entries < 2; ++i) {
        if (normal[i] == 0) continue;
        ++entries;
        row.entry = i;
      }
      if (entries == 1) continue;
      row.entry = -1;
      const auto opposite = [&](Index before) {
        const Row& found = rows[static_cast<size_t>(before)];
        return found.place >= 0 && lengths[before] == lengths[c] && normals.col(before) == -normal;
      };
      Index before = c - apart;
      if (apart == 0 || !opposite(before)) {
        before = 0;
        while (before < c && !opposite(before)) ++before;
      }
      if (before < c) {
        apart = c - before;
        row = rows[static_cast<size_t>(before)];
        row.sign = -row.sign;
      } else if (!IsEquality(c)) {
        row.place = static_cast<Index>(distinct.size());
        distinct.push_back(static_cast<int>(c));
      }
    }
  }

  /// G = L L^T, column by column. False where G is not positive definite.
  bool Factor(const MatrixXd& hessian) {
    for (Index k = 0; k < n; ++k) {
      auto column = lower.col(k).segment(k, n - k);
      column = hessian.col(k).tail(n - k);
      if (k > 0) {
        scratch.head(k) = lower.row(k).head(k).transpose();
        kernels.combine(lower.data() + k, lower.rows(), RoundUp(n - k), k, scratch.data(), z.data());
        column -= z.head(n - k);
      }
      const double pivot = column[0];
      // Written so that not-a-number fails.
      if (!(pivot > std::numeric_limits<double>::epsilon() * static_cast<double>(n) * hessian(k, k))) return false;
      column /= std::sqrt(pivot);
    }
    return true;
  }

  /// J = L^-T, no constraint active. A few columns at a time: the entries of one follow from one another.
  void ResetBasis() {
    constexpr Index kTogether = 4;
    for (Index first = 0; first < n; first += kTogether) {
      const Index end = std::min(first + kTogether, n);
      for (Index c = first; c < end; ++c) {
        basis.col(c).segment(c, n - c).setZero();
        basis(c, c) = 1 / lower(c, c);
      }
      for (Index i = end - 1; i-- > 0;) {
        for (Index c = std::max(first, i + 1); c < end; ++c) {
          const double known = lower.col(i).segment(i + 1, c - i).dot(basis.col(c).segment(i + 1, c - i));
          basis(i, c) = -known / lower(i, i);
        }
      }
    }
    active.clear();
    std::fill(in_active.begin(), in_active.end(), 0);
  }

  /// r = R^-1 v, over the active constraints.
  void SolveUpper(VectorXd& v) const {
    for (Index i = num_active(); i-- > 0;) {
      v[i] /= triangle(i, i);
      v.head(i) -= v[i] * triangle.col(i).head(i);
    }
  }

  /// R^-T v.
  void SolveLower(VectorXd& v) const {
    for (Index i = 0; i < num_active(); ++i) {
      v[i] = (v[i] - triangle.col(i).head(i).dot(v.head(i))) / triangle(i, i);
    }
  }

  /// d = J^T n of a constraint. True where its normal depends on those of the active ones.
  bool Project(Index constraint) {
    if (const Index entry = rows[static_cast<size_t>(constraint)].entry; entry >= 0) {
      d = normals(entry, constraint) * basis.row(entry).transpose();
    } else {
      kernels.multiply(basis.data(), basis.rows(), n, all_columns.data(), n, normals.col(constraint).data(), d.data());
    }
    const Index free = n - num_active();
    return !(d.tail(free).norm() > kDependent * d.norm());
  }

  /// Takes in the constraint that Project saw last: a reflection of the last columns of J makes [R; 0] of [R d1; 0 d2].
  void Add(Index constraint, double multiplier) {
    const Index q = num_active(), free = n - q;
    auto v = d.tail(free);
    const double alpha = v[0] > 0 ? -v.norm() : v.norm();
    triangle.col(q).head(q) = d.head(q);
    triangle(q, q) = alpha;
    v[0] -= alpha;
    const double square = v.squaredNorm();
    double* const columns = basis.col(q).data();
    kernels.combine(columns, basis.rows(), basis.rows(), free, v.data(), reflected.data());
    reflected *= 2 / square;
    kernels.subtract_product(columns, basis.rows(), basis.rows(), free, v.data(), reflected.data());
    multipliers[q] = multiplier;
    active.push_back(constraint);
    in_active[static_cast<size_t>(constraint)] = 1;
  }

  /// Lets go of the active constraint at a position: rotations make R triangular again.
  void Drop(Index place) {
    const Index q = num_active();
    in_active[static_cast<size_t>(active[static_cast<size_t>(place)])] = 0;
    active.erase(active.begin() + place);
    for (Index k = place; k + 1 < q; ++k) {
      triangle.col(k).head(k + 2) = triangle.col(k + 1).head(k + 2);
      multipliers[k] = multipliers[k + 1];
    }
    for (Index k = place; k + 1 < q; ++k) {
      const double length = std::sqrt(triangle(k, k) * triangle(k, k) + triangle(k + 1, k) * triangle(k + 1, k));
      const double c = triangle(k, k) / length, s = triangle(k + 1, k) / length;
      for (Index j = k; j + 1 < q; ++j) {
        const double above = triangle(k, j), below = triangle(k + 1, j);
        triangle(k, j) = c * above + s * below;
        triangle(k + 1, j) = c * below - s * above;
      }
      reflected = basis.col(k);
      basis.col(k) = c * reflected + s * basis.col(k + 1);
      basis.col(k + 1) = c * basis.col(k + 1) - s * reflected;
    }
  }

  /// What x and the multipliers of the active constraints leave of G x - N u = -g and N^T x = b.
  void FindRest(const QuadraticProgram& p) {
    rest.noalias() = p.hessian.selfadjointView<Eigen::Lower>() * x;
    rest = -rest - p.gradient;
    for (Index k = 0; k < num_active(); ++k) {
      const Index c = active[static_cast<size_t>(k)];
      rest += multipliers[k] * normals.col(c);
      missed[k] = values[c] - normals.col(c).dot(x);
    }
  }

  /// Adds to x and the multipliers what solves these equations for the rest that FindRest found:
  ///     dx = J2 J2^T rest + J1 w, du = R^-1 (w - J1^T rest), with w = R^-T missed.
  void Correct() {
    const Index q = num_active();
    SolveLower(missed);
    scratch.noalias() = basis.topRows(n).transpose() * rest;
    other.head(q) = missed.head(q) - scratch.head(q);
    scratch.head(q) = missed.head(q);
    x.noalias() += basis.topRows(n) * scratch;
    SolveUpper(other);
    multipliers.head(q) += other.head(q);
    size_of_x = std::max(size_of_x, x.norm());
  }

  /// The minimum with the active constraints as equalities.
  void SolveActive(const QuadraticProgram& p) {
    x.setZero();
    multipliers.setZero();
    FindRest(p);
    Correct();
  }

  /// The same; inequalities whose multipliers are negative are let go, until none is left.
  void SolveKept(const QuadraticProgram& p) {
    SolveActive(p);
    while (true) {
      Index least = -1;
      for (Index k = 0; k < num_active(); ++k) {
        if (IsEquality(active[static_cast<size_t>(k)])) continue;
        if (multipliers[k] < (least < 0 ? 0 : multipliers[least])) least = k;
      }
      if (least < 0) return;
      Drop(least);
      ++summary.iterations;
      SolveActive(p);
    }
  }

  /// False where equalities contradict one another.
  bool TakeEqualities(const QuadraticProgram& p) {
    for (Index c = 0; c < num_equalities; ++c) {
      if (!Project(c)) {
        Add(c, 0);
        continue;
      }
      SolveActive(p);
      if (std::abs(normals.col(c).dot(x) - values[c]) > Allowance(c, kContradiction)) return false;
    }
    if (num_active() > 0) SolveActive(p);
    return true;
  }

  /// The inequality that is violated most, or -1.
  Index MostViolated() {
    kernels.multiply(normals.data(), n, n, distinct.data(), static_cast<Index>(distinct.size()), x.data(),
                     products.data());
    for (Index i = 0; i < num_inequalities; ++i) {
      const Index c = num_equalities + i;
      const Row& row = rows[static_cast<size_t>(c)];
      const double product = row.entry >= 0 ? normals(row.entry, c) * x[row.entry] : row.sign * products[row.place];
      slack[i] = product - values[c];
    }
    Index most = -1;
    double worst = 0;
    for (Index i = 0; i < num_inequalities; ++i) {
      const Index c = num_equalities + i;
      if (in_active[static_cast<size_t>(c)] || passed_over[static_cast<size_t>(c)]) continue;
      if (slack[i] >= -Allowance(c, kViolation)) continue;
      const double distance = lengths[c] > 0 ? slack[i] / lengths[c] : -kInfinity;
      if (distance < worst) {
        worst = distance;
        most = c;
      }
    }
    return most;
  }

  enum class Outcome { kTaken, kPassedOver, kInfeasible, kIterationLimit };

  /// Takes in a violated inequality (the paper's step 2).
  Outcome Take(Index constraint) {
    double multiplier = 0;
    while (true) {
      if (summary.iterations >= most_iterations) return Outcome::kIterationLimit;
      const bool dependent = Project(constraint);
      const Index q = num_active(), free = n - q;
      r.head(q) = d.head(q);
      SolveUpper(r);
      const double miss = values[constraint] - normals.col(constraint).dot(x);
      double in_dual = kInfinity;  // longest step that keeps the multipliers
      Index blocking = -1;
      const double least = q > 0 ? kNoDirection * r.head(q).cwiseAbs().maxCoeff() : 0;
      for (Index k = 0; k < q; ++k) {
        if (IsEquality(active[static_cast<size_t>(k)]) || !(r[k] > least)) continue;
        const double step = std::max(0.0, multipliers[k]) / r[k];
        if (step < in_dual) {
          in_dual = step;
          blocking = k;
        }
      }
      if (dependent) {
        if (blocking < 0) {
          return miss > Allowance(constraint, kContradiction) ? Outcome::kInfeasible : Outcome::kPassedOver;
        }
        multipliers.head(q) -= in_dual * r.head(q);
        multiplier += in_dual;
      } else {
        const double in_primal = std::max(0.0, miss) / d.tail(free).squaredNorm();
        const double step = std::min(in_dual, in_primal);
        kernels.combine(basis.col(q).data(), basis.rows(), basis.rows(), free, d.data() + q, z.data());
        x += step * z.head(n);
        size_of_x = std::max(size_of_x, x.norm());
        multipliers.head(q) -= step * r.head(q);
        multiplier += step;
        if (in_primal <= in_dual) {
          Add(constraint, multiplier);
          ++summary.iterations;
          return Outcome::kTaken;
        }
      }
      Drop(blocking);
      ++summary.iterations;
    }
  }

  Status Minimize(const QuadraticProgram& p, bool warm) {
    if (!Load(p)) return Status::kNotFinite;
    if (!Factor(p.hessian)) return Status::kNotPositiveDefinite;
    ResetBasis();
    size_of_x = 0;
    SolveActive(p);
    if (!TakeEqualities(p)) return Status::kInfeasible;
    if (warm) {
      for (const Index c : last_active) {
        if (!passed_over[static_cast<size_t>(c)] && !Project(c)) Add(c, 0);
      }
      SolveKept(p);
    }
    while (true) {
      Index violated = MostViolated();
      if (violated < 0) {
        // Rounding of the steps is removed before the solution is believed.
        for (int k = 0; k < 2; ++k) {
          FindRest(p);
          Correct();
        }
        violated = MostViolated();
        if (violated < 0) break;
      }
      const Outcome outcome = Take(violated);
      if (outcome == Outcome::kInfeasible) return Status::kInfeasible;
      if (outcome == Outcome::kIterationLimit) return Status::kIterationLimit;
      if (outcome == Outcome::kPassedOver) {
        passed_over[static_cast<size_t>(violated)] = 1;
        SolveKept(p);
      }
    }
    return x.allFinite() && multipliers.head(num_active()).allFinite() ? Status::kOptimal : Status::kNotFinite;
  }

  void Report(const QuadraticProgram& p) {
    const Index q = num_active();
    summary.x = x;
    for (Index k = 0; k < q; ++k) {
      const Index c = active[static_cast<size_t>(k)];
      if (IsEquality(c)) {
        summary.equality_multipliers[c] = multipliers[k];
      } else {
        multipliers[k] = std::max(0.0, multipliers[k]);
        summary.inequality_multipliers[c - num_equalities] = multipliers[k];
        summary.active.push_back(static_cast<int>(c - num_equalities));
        last_active.push_back(c);
      }
    }
    FindRest(p);
    scratch.noalias() = p.hessian.selfadjointView<Eigen::Lower>() * x;
    summary.objective = 0.5 * scratch.dot(x) + p.gradient.dot(x);
    double terms = scratch.norm() + p.gradient.norm();
    for (Index k = 0; k < q; ++k) {
      terms += std::abs(multipliers[k]) * lengths[active[static_cast<size_t>(k)]];
    }
    const auto in_proportion = [](double miss, double scale) { return miss > 0 ? miss / scale : 0; };
    summary.residual = in_proportion(rest.norm(), terms);
    for (Index c = 0; c < num_equalities + num_inequalities; ++c) {
      // An inequality without a bound was given the value 0, which says nothing.
      if (!IsEquality(c) && p.inequality_bounds[c - num_equalities] == -kInfinity) continue;
      const double miss = values[c] - normals.col(c).dot(x);
      summary.residual =
          std::max(summary.residual, in_proportion(IsEquality(c) ? std::abs(miss) : miss, Allowance(c, 1)));
    }
  }

  const Summary& Solve(const QuadraticProgram& p, Start start, int limit) {
    Resize(p);
    most_iterations = limit > 0 ? limit : 10 * static_cast<int>(n + num_equalities + num_inequalities);
    summary.iterations = 0;
    summary.warm_start = start == Start::kWarm && has_last;
    summary.active.clear();
    summary.status = Minimize(p, summary.warm_start);
    has_last = summary.status == Status::kOptimal;
    last_active.clear();
    if (has_last) {
      Report(p);
    } else {
      summary.x.setZero();
      summary.objective = summary.residual = 0;
    }
    return summary;
  }
};

QuadraticProgramSolver::QuadraticProgramSolver() : workspace_(std::make_unique<Workspace>()) {}
QuadraticProgramSolver::~QuadraticProgramSolver() = default;
QuadraticProgramSolver::QuadraticProgramSolver(QuadraticProgramSolver&&) noexcept = default;
QuadraticProgramSolver& QuadraticProgramSolver::operator=(QuadraticProgramSolver&&) noexcept = default;

const Summary& QuadraticProgramSolver::Solve(const QuadraticProgram& problem, Start start, int most_iterations) {
  return workspace_->Solve(problem, start, most_iterations);
}

}  // namespace retrace::optimization
