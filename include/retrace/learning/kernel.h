/// Squared exponential kernels (Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, section 4.2):
///
///     k(a, b) = variance exp(-1/2 sum over g of rates[g] |a_g - b_g|^2),
///
/// where a_g is the g-th of equal parts of a point, each with a rate of its own: the parts of the dynamics of a latent
/// motion are its last two positions (Ye and Liu 2010, appendix A). Points are the columns of a matrix. Numbers have no
/// units here.
#pragma once

#include <Eigen/Core>

namespace retrace::learning {

struct Kernel {
  double variance = 1;                               ///< > 0, of the function
  Eigen::VectorXd rates = Eigen::VectorXd::Ones(1);  ///< (parts) > 0: 1 / length^2
  double noise = 0.01;                               ///< > 0, variance of what is observed about the function

  Eigen::Index parts() const { return rates.size(); }
};

/// The kernel between all pairs of points (n x N): K (N x N), without the noise. n is a multiple of the parts.
void KernelMatrix(const Kernel& kernel, const Eigen::MatrixXd& points, Eigen::MatrixXd& matrix);

/// The kernel between all points and one: k (N).
void KernelVector(const Kernel& kernel, const Eigen::MatrixXd& points, const Eigen::VectorXd& x,
                  Eigen::VectorXd& values);

/// d k / d x of KernelVector (n x N), from its values.
void KernelVectorGradient(const Kernel& kernel, const Eigen::MatrixXd& points, const Eigen::VectorXd& x,
                          const Eigen::VectorXd& values, Eigen::MatrixXd& gradient);

/// What follows for points and parameters of a kernel where a number changes with K + noise I.
struct KernelGradient {
  Eigen::MatrixXd points;     ///< (n x N)
  Eigen::VectorXd log_rates;  ///< (parts)
  double log_variance = 0;
  double log_noise = 0;
};

/// The chain rule: `weights` (N x N, symmetric) is the derivative by the entries of K + noise I, `matrix` is K.
void PullBack(const Kernel& kernel, const Eigen::MatrixXd& points, const Eigen::MatrixXd& matrix,
              const Eigen::MatrixXd& weights, KernelGradient& gradient);

}  // namespace retrace::learning
