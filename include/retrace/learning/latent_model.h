/// Few latent coordinates behind many observed ones: the scaled Gaussian process latent variable model (Grochow et al.
/// 2004) with back constraints (Lawrence and Quiñonero-Candela 2006), as Ye and Liu (2010, appendix A) use it, and the
/// dynamics of the latent coordinates. Numbers have no units here: divide by units before.
///
/// An observation y_i (D) is a function of a latent position x_i (d), a Gaussian process whose dimensions are scaled by
/// W. With the back constraint the latent positions are a smooth function of the observations, X^T = K' A, so that what
/// looks alike is near together. What is learned minimizes
///
///     L_P = D/2 ln |K| - N ln |W| + 1/2 tr(K^-1 Y^T W^2 Y) + 1/2 tr(X X^T) + ln(rate / noise)
///
/// by A (or X), the rate and the noise. The paper has three parameters more, which say nothing:
/// - a common factor of the kernel's variance, its noise and 1 / W^2 changes nothing: the variance is 1;
/// - the variance and the rate of K' are in A already, and their priors pull both to zero: they are fixed;
/// - W has a closed form, N / (y_j K^-1 y_j) in its squares, with which its gradient vanishes. As free variables W and
///   the noise run away together, to a noise of zero.
/// A lower L_P is not a better motion: end early (LatentOptions::after_iteration).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "retrace/learning/gaussian_process.h"
#include "retrace/optimization/minimize.h"

namespace retrace::learning {

/// Observations and their latent positions.
struct LatentModel {
  Eigen::MatrixXd observations;  ///< Y (D x N), of mean zero
  Eigen::MatrixXd latent;        ///< X (d x N)
  Eigen::VectorXd scales;        ///< W (D)
  Kernel kernel;                 ///< of the observations by the latent positions; its variance is 1
  double back_rate = 2;          ///< the rate of K'
  Eigen::MatrixXd back_weights;  ///< A (N x d); empty without the back constraint

  /// The latent position of an observation (D) by the back constraint; without it, that of the nearest observation.
  Eigen::VectorXd BackProject(const Eigen::VectorXd& observation) const;
};

struct LatentOptions {
  int dimensions = 3;
  bool back_constraint = true;
  double back_rate = 2;     ///< of K' between observations: 1 / length^2 over which latent positions are smooth
  double start_noise = 10;  ///< that of the paper, in units of the kernel's variance
  /// The noise is never less. Observations without noise of their own drive it to zero, and the latent positions so far
  /// apart that nothing lies between them.
  double least_noise = 0;
  /// Standard deviation of what is added to the start, which is the principal components with the first of unit
  /// variance: several starts find several minima. With the back constraint it is as smooth as that is.
  double start_deviation = 0;
  uint64_t seed = 1;
  optimization::MinimizationOptions minimization;
  /// Called after each iteration with the model so far; false ends the learning. Empty: none.
  std::function<bool(int iteration, const LatentModel& model)> after_iteration;
};

/// L_P as a function of what is learned: the entries of A (or of X^T), column by column, then the logarithms of the
/// rate and of the noise above the least one.
class LatentObjective {
 public:
  /// Observations (D x N) of mean zero. Throws std::invalid_argument for options that are none, for fewer observations
  /// than latent coordinates, for a dimension that is always the same and for numbers that are not finite.
  LatentObjective(const Eigen::MatrixXd& observations, const LatentOptions& options);

  Eigen::VectorXd Start() const;
  /// Infinite where K cannot be factored.
  double operator()(const Eigen::VectorXd& learned, Eigen::VectorXd& gradient);
  LatentModel Model(const Eigen::VectorXd& learned) const;

 private:
  void SetLatent(const Eigen::VectorXd& learned, Eigen::MatrixXd& latent) const;

  Eigen::MatrixXd observations_;  // (D x N)
  LatentOptions options_;
  Eigen::MatrixXd back_matrix_;  // K' (N x N)
  // Scratch:
  Covariance covariance_;
  Eigen::MatrixXd latent_, matrix_, solved_, weights_;
  KernelGradient pull_;
};

struct LearnedModel {
  LatentModel model;
  optimization::Minimum minimum;
};

/// Throws as LatentObjective does.
LearnedModel LearnLatentModel(const Eigen::MatrixXd& observations, const LatentOptions& options);

/// The squares of W (D) of the closed form, from K^-1 Y^T (N x D).
Eigen::VectorXd SquaredScales(const Eigen::MatrixXd& observations, const Eigen::MatrixXd& solved);

/// Examples of the dynamics: where latent sequences, which lie side by side in `latent` and have so many positions
/// each, go on from their last `order` positions. Points (order d x M), the oldest position first; values (d x M).
void DynamicsExamples(const Eigen::MatrixXd& latent, std::span<const Eigen::Index> lengths, int order,
                      Eigen::MatrixXd& points, Eigen::MatrixXd& values);

}  // namespace retrace::learning
