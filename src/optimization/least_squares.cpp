#include "retrace/optimization/least_squares.h"

#include <Eigen/SparseCholesky>
#include <cmath>
#include <stdexcept>

namespace retrace::optimization {

using Eigen::Index;
using Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;
using Cholesky = Eigen::SimplicialLDLT<Matrix, Eigen::Lower, Eigen::NaturalOrdering<int>>;

namespace {

constexpr double kFirstDamping = 1e-4;
constexpr double kMostDamping = 1e12;
constexpr double kLessDamping = 1.0 / 3;  // after a step that helped
constexpr double kMoreDamping = 4;        // after one that did not
constexpr double kLeastDiagonal = 1e-12;  // instead of the damping's diagonal where nothing depends on an unknown

}  // namespace

void Residuals::Add(double value, const Derivatives& derivatives) {
  const auto row = static_cast<int>(values_.size());
  values_.push_back(value);
  for (const auto& [unknown, derivative] : derivatives) {
    derivatives_.emplace_back(row, static_cast<int>(unknown), derivative);
  }
}

double Residuals::Value() const {
  double sum = 0;
  for (const double value : values_) sum += value * value;
  return 0.5 * sum;
}

class SquaresSolver {
 public:
  SquaresSolver(const ResidualFunction& function, const VectorXd& start, const SquaresOptions& options)
      : function_(function), options_(options) {
    minimum_.x = start;
  }

  Minimum Run() {
    Residuals here;
    Evaluate(minimum_.x, here);
    count_ = here.size();
    minimum_.value = here.Value();
    minimum_.values.push_back(minimum_.value);
    minimum_.status = MinimizationStatus::kNotFinite;
    if (!std::isfinite(minimum_.value)) return std::move(minimum_);
    minimum_.status = MinimizationStatus::kIterationLimit;
    double damping = kFirstDamping;
    for (int k = 0; k < options_.most_iterations && minimum_.status == MinimizationStatus::kIterationLimit; ++k) {
      Linearize(here);
      Step(damping, here);
    }
    return std::move(minimum_);
  }

 private:
  void Evaluate(const VectorXd& x, Residuals& residuals) {
    residuals.values_.clear();
    residuals.derivatives_.clear();
    function_(x, residuals);
    ++minimum_.evaluations;
    if (minimum_.evaluations > 1 && residuals.size() != count_) {
      throw std::invalid_argument("residuals are as many at every place");
    }
    for (const Eigen::Triplet<double>& entry : residuals.derivatives_) {
      if (entry.col() < 0 || entry.col() >= x.size()) throw std::invalid_argument("a derivative by no unknown");
    }
  }

  void Linearize(const Residuals& here) {
    Matrix jacobian(static_cast<Index>(count_), minimum_.x.size());
    jacobian.setFromTriplets(here.derivatives_.begin(), here.derivatives_.end());
    const Matrix transposed = jacobian.transpose();
    normal_ = transposed * jacobian;
    gradient_ = VectorXd::Zero(minimum_.x.size());
    for (Index unknown = 0; unknown < jacobian.outerSize(); ++unknown) {
      for (Matrix::InnerIterator entry(jacobian, unknown); entry; ++entry) {
        gradient_[unknown] += entry.value() * here.values_[static_cast<size_t>(entry.row())];
      }
    }
    minimum_.gradient_size = gradient_.lpNorm<Eigen::Infinity>();
    diagonal_ = normal_.diagonal().cwiseMax(kLeastDiagonal);
  }

  /// Goes to a better position, or ends.
  void Step(double& damping, Residuals& here) {
    Matrix scale(normal_.rows(), normal_.cols());
    scale.setIdentity();
    for (; damping < kMostDamping; damping *= kMoreDamping) {
      scale.diagonal() = damping * diagonal_;
      const Matrix damped = normal_ + scale;
      const Cholesky factors(damped);
      if (factors.info() != Eigen::Success) continue;
      const VectorXd place = minimum_.x - VectorXd(factors.solve(gradient_));
      Residuals there;
      Evaluate(place, there);
      const double value = there.Value();
      if (!(value < minimum_.value)) continue;
      const bool converged = minimum_.value - value <= options_.tolerance * minimum_.value;
      minimum_.x = place;
      minimum_.value = value;
      minimum_.values.push_back(value);
      here = std::move(there);
      damping *= kLessDamping;
      if (converged) minimum_.status = MinimizationStatus::kConverged;
      return;
    }
    // Nothing near is better, to rounding.
    minimum_.status = MinimizationStatus::kConverged;
  }

  const ResidualFunction& function_;
  const SquaresOptions& options_;
  size_t count_ = 0;
  Minimum minimum_;
  Matrix normal_;
  VectorXd gradient_, diagonal_;
};

Minimum MinimizeSquares(const ResidualFunction& function, const VectorXd& start, const SquaresOptions& options) {
  if (start.size() == 0) throw std::invalid_argument("there is at least one unknown");
  if (options.most_iterations < 0 || !(options.tolerance >= 0)) {
    throw std::invalid_argument("iterations and tolerance are not negative");
  }
  return SquaresSolver(function, start, options).Run();
}

struct LinearSquares::Factors {
  Matrix rows;
  Cholesky cholesky;
};

LinearSquares::LinearSquares() = default;

LinearSquares::LinearSquares(const Matrix& rows) {
  SetRows(rows);
}

LinearSquares::~LinearSquares() = default;

void LinearSquares::SetRows(const Matrix& rows) {
  const Matrix normal = rows.transpose() * rows;
  if (!factors_) {
    factors_ = std::make_unique<Factors>();
    factors_->cholesky.analyzePattern(normal);
  }
  factors_->rows = rows;
  factors_->cholesky.factorize(normal);
}

Eigen::MatrixXd LinearSquares::Solve(const Eigen::MatrixXd& wanted) const {
  return factors_->cholesky.solve(Eigen::MatrixXd(factors_->rows.transpose() * wanted));
}

}  // namespace retrace::optimization
