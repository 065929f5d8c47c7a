/// Regression by a Gaussian process (Rasmussen and Williams 2006, algorithm 2.1): values at points that were not seen,
/// from examples, with how uncertain they are. Several functions share one kernel. Their mean is zero far from all
/// examples: take the mean of the values off before. Numbers have no units here.
///
///     GaussianProcess process;
///     if (!process.Fit(points, values, LearnKernel(points, values, {}, {}).kernel)) ...  // see Fit
///     Prediction there;
///     process.Predict(x, there);
#pragma once

#include <Eigen/Core>

#include "retrace/learning/kernel.h"
#include "retrace/optimization/minimize.h"

namespace retrace::learning {

/// K + noise I by its factor of Cholesky.
class Covariance {
 public:
  /// Takes K (N x N) without the noise. Returns false, and is of no use, where it is not positive definite to rounding:
  /// points are too near to one another for so little noise.
  bool Factor(const Eigen::MatrixXd& kernel_matrix, double noise);

  Eigen::Index size() const { return lower_.rows(); }
  double LogDeterminant() const;
  /// Solves (K + noise I) x = b instead, for each column.
  void Solve(Eigen::MatrixXd& columns) const;
  /// Solves L x = b, and L^T x = b, instead.
  void SolveLower(Eigen::VectorXd& column) const;
  void SolveLowerTransposed(Eigen::VectorXd& column) const;
  /// (K + noise I)^-1 (N x N).
  void Inverse(Eigen::MatrixXd& inverse) const;

 private:
  Eigen::MatrixXd lower_;  // L (N x N); what is above its diagonal has no meaning
};

struct Prediction {
  Eigen::VectorXd mean;               ///< (D)
  double variance = 0;                ///< of each value of the function, without the noise
  Eigen::MatrixXd mean_gradient;      ///< (D x n) by x
  Eigen::VectorXd variance_gradient;  ///< (n) by x
  Eigen::VectorXd kernel, solved;     ///< (N) scratch: k, and (K + noise I)^-1 k
  Eigen::MatrixXd kernel_gradient;    ///< (n x N) scratch
};

class GaussianProcess {
 public:
  /// Examples: points (n x N) and the values there (D x N). Returns false where the kernel's matrix cannot be factored
  /// (Covariance). Throws std::invalid_argument for sizes that do not fit, and for numbers that are not finite.
  bool Fit(const Eigen::MatrixXd& points, const Eigen::MatrixXd& values, const Kernel& kernel);

  const Kernel& kernel() const { return kernel_; }
  const Eigen::MatrixXd& points() const { return points_; }  ///< (n x N)
  const Covariance& covariance() const { return covariance_; }
  const Eigen::MatrixXd& weights() const { return weights_; }  ///< (D x N) values (K + noise I)^-1

  /// Mean and variance at x (n).
  void Predict(const Eigen::VectorXd& x, Prediction& prediction) const;
  /// These and their gradients.
  void PredictWithGradients(const Eigen::VectorXd& x, Prediction& prediction) const;

 private:
  Kernel kernel_;
  Eigen::MatrixXd points_, weights_;
  Covariance covariance_;
};

/// What a kernel that is learned minimizes, by the logarithms of the variance, the noise and the rates, in this order:
/// the negative logarithm of the marginal likelihood, and of priors 1 / parameter (Ye and Liu 2010, equation of L_D),
///
///     D/2 ln |K| + 1/2 tr(values K^-1 values^T) + ln(variance / noise) + sum of ln rates,
///
/// with K as it is with the noise. Infinite where K cannot be factored. With a least noise the second logarithm is that
/// of what is above it, and those of the variance and the rates are of what is above 1e-12 and 1e-8.
optimization::SmoothFunction KernelObjective(const Eigen::MatrixXd& points, const Eigen::MatrixXd& values,
                                             Eigen::Index parts, double least_noise = 0);

struct LearnedKernel {
  Kernel kernel;
  optimization::Minimum minimum;
};

/// The kernel under which the examples are most likely, from `start` on, with a noise above the least one.
LearnedKernel LearnKernel(const Eigen::MatrixXd& points, const Eigen::MatrixXd& values, const Kernel& start,
                          const optimization::MinimizationOptions& options, double least_noise = 0);

}  // namespace retrace::learning
