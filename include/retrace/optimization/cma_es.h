/// Minimization without derivatives by adapting the covariance of random samples (CMA-ES: Hansen, *The CMA evolution
/// strategy: a tutorial*, 2016; separable: Ros and Hansen 2008). The caller asks for samples, finds their costs in any
/// order and on any number of threads or ranks, and tells them. Numbers have no units here.
///
///     CmaEs search(start, options);
///     while (search.iteration() < 100) {
///       const Eigen::MatrixXd& samples = search.Ask();
///       for (int i = 0; i < search.population(); ++i) costs[i] = CostOf(samples.col(i));
///       search.Tell(costs);
///     }
///     search.best();
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <span>

#include "retrace/math/random.h"

namespace retrace::optimization {

struct CmaOptions {
  int population = 0;      ///< samples of an iteration, at least 4; 0: 4 + 3 ln n
  double deviation = 0.3;  ///< of the first samples in each coordinate, in units of `scale`
  bool separable = false;  ///< a diagonal covariance: linear in n in time and memory, for many coordinates
  Eigen::VectorXd scale;   ///< (n) of the coordinates, > 0; empty: 1
  Eigen::VectorXd lower;   ///< (n) the box, to which samples are moved; empty: unbounded
  Eigen::VectorXd upper;   ///< (n) likewise
  uint64_t seed = 1;       ///< samples are a pure function of seed, stage, iteration and sample, and of the costs told
  RandomStage stage = RandomStage::kSearch;
  uint32_t first_iteration = 0;  ///< added to the number of each iteration in its random numbers: another search
};

class CmaEs {
 public:
  /// Throws std::invalid_argument for options that are none, and for a start outside the box.
  CmaEs(const Eigen::VectorXd& start, const CmaOptions& options);

  int population() const { return population_; }
  uint32_t iteration() const { return iteration_; }  ///< that comes next, from 0 on
  /// The samples (n x population) of the iteration. The very first one is the start: the best is never worse.
  const Eigen::MatrixXd& Ask();
  /// Their costs (population). What is not a number counts as infinite. Throws std::invalid_argument for another
  /// number of them, std::logic_error where nothing was asked for.
  void Tell(std::span<const double> costs);

  /// The incumbent: the best of all samples so far, of equal ones the first; at first the start.
  const Eigen::VectorXd& best() const { return best_; }
  double best_cost() const { return best_cost_; }  ///< infinite before the first Tell
  const Eigen::VectorXd& mean() const { return mean_; }
  double deviation() const { return deviation_; }  ///< the common factor of all
  /// Ratio of the longest to the shortest axis of the covariance, in units of the scale.
  double condition() const { return axes_.maxCoeff() / axes_.minCoeff(); }

 private:
  void Decompose();

  CmaOptions options_;
  int population_ = 0;
  Eigen::VectorXd weights_;  // (parents)
  double parents_ = 0;       // mu_eff
  double path_rate_ = 0, deviation_rate_ = 0, damping_ = 0, rank_one_ = 0, rank_many_ = 0, expected_length_ = 0;

  uint32_t iteration_ = 0;
  bool asked_ = false;
  Eigen::VectorXd mean_, best_;
  double best_cost_ = std::numeric_limits<double>::infinity();
  double deviation_ = 0;
  Eigen::VectorXd deviation_path_, covariance_path_;  // (n)
  Eigen::MatrixXd covariance_;                        // (n x n), or (n x 1) its diagonal
  Eigen::MatrixXd directions_;                        // (n x n) its eigenvectors; separable: empty
  Eigen::VectorXd axes_;                              // (n) roots of its eigenvalues
  uint32_t decomposed_at_ = 0;
  Eigen::MatrixXd samples_;  // (n x population)
};

/// Eigenvalues and -vectors of a symmetric matrix by Jacobi's rotations: a fixed order of plain sums, the same bits on
/// any processor. `a` becomes diagonal, and its former self is vectors * a * vectors^T.
void DecomposeSymmetric(Eigen::MatrixXd& a, Eigen::MatrixXd& vectors);

}  // namespace retrace::optimization
