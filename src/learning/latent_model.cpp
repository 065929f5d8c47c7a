#include "retrace/learning/latent_model.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "retrace/math/random.h"
#include "retrace/optimization/cma_es.h"

namespace retrace::learning {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Added to the diagonal of K' where the first A is found: latent positions are met to rounding otherwise, by huge
// weights.
constexpr double kStartRidge = 1e-6;

Kernel BackKernel(double rate) {
  Kernel kernel;
  kernel.rates[0] = rate;
  return kernel;
}

/// The largest principal components of observations (D x N): (d x N), the first of unit variance.
MatrixXd PrincipalComponents(const MatrixXd& observations, Index count) {
  MatrixXd covariance = observations * observations.transpose(), directions;
  optimization::DecomposeSymmetric(covariance, directions);
  const VectorXd sizes = covariance.diagonal();
  std::vector<Index> order(static_cast<size_t>(sizes.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return sizes[a] > sizes[b]; });
  MatrixXd components(count, observations.cols());
  for (Index k = 0; k < count; ++k) {
    VectorXd direction = directions.col(order[static_cast<size_t>(k)]);
    Index largest = 0;
    direction.cwiseAbs().maxCoeff(&largest);
    if (direction[largest] < 0) direction = -direction;  // one of two that are as good
    components.row(k) = direction.transpose() * observations;
  }
  const double deviation = std::sqrt(components.row(0).squaredNorm() / static_cast<double>(observations.cols()));
  return components / deviation;
}

}  // namespace

VectorXd LatentModel::BackProject(const VectorXd& observation) const {
  if (back_weights.size() == 0) {
    Index nearest = 0;
    (observations.colwise() - observation).colwise().squaredNorm().minCoeff(&nearest);
    return latent.col(nearest);
  }
  VectorXd near;
  KernelVector(BackKernel(back_rate), observations, observation, near);
  return back_weights.transpose() * near;
}

LatentObjective::LatentObjective(const MatrixXd& observations, const LatentOptions& options)
    : observations_(observations), options_(options) {
  if (options.dimensions < 1 || !(options.back_rate > 0) || !(options.start_noise > 0) || !(options.least_noise >= 0) ||
      !(options.start_deviation >= 0)) {
    throw std::invalid_argument("a latent model with options that are none");
  }
  if (observations.cols() <= options.dimensions || observations.rows() < options.dimensions) {
    throw std::invalid_argument("fewer observations, or dimensions of them, than latent coordinates");
  }
  if (!observations.allFinite()) throw std::invalid_argument("observations with numbers that are not finite");
  for (Index j = 0; j < observations.rows(); ++j) {
    if (observations.row(j).maxCoeff() == observations.row(j).minCoeff()) {
      throw std::invalid_argument("observations with a dimension that is always the same");
    }
  }
  if (options.back_constraint) KernelMatrix(BackKernel(options.back_rate), observations_, back_matrix_);
}

VectorXd LatentObjective::Start() const {
  const Index d = options_.dimensions, count = observations_.cols();
  MatrixXd places = PrincipalComponents(observations_, d).transpose();
  if (options_.start_deviation > 0) {
    RandomStream random(options_.seed, RandomStage::kLearning, 0, 0);
    MatrixXd noise(count, d);
    for (Index k = 0; k < d; ++k) {
      for (Index i = 0; i < count; ++i) noise(i, k) = random.Normal();
    }
    if (options_.back_constraint) {
      // As smooth a function of the observations as the back constraint has: other noise would need huge weights.
      noise = (back_matrix_ * noise).eval();
      noise *= std::sqrt(static_cast<double>(noise.size())) / noise.norm();
    }
    places += options_.start_deviation * noise;
  }
  if (options_.back_constraint) {
    Covariance covariance;
    double ridge = kStartRidge;
    while (!covariance.Factor(back_matrix_, ridge)) ridge *= 10;
    covariance.Solve(places);
  }
  VectorXd learned(count * d + 2);
  learned.head(count * d) = places.reshaped();
  learned[count * d] = 0;
  learned[count * d + 1] = std::log(options_.start_noise);
  return learned;
}

void LatentObjective::SetLatent(const VectorXd& learned, MatrixXd& latent) const {
  const Index d = options_.dimensions, count = observations_.cols();
  const auto entries = learned.head(count * d).reshaped(count, d);
  if (options_.back_constraint) {
    latent.noalias() = entries.transpose() * back_matrix_;
  } else {
    latent = entries.transpose();
  }
}

VectorXd SquaredScales(const MatrixXd& observations, const MatrixXd& solved) {
  const auto count = static_cast<double>(observations.cols());
  return (count / observations.transpose().cwiseProduct(solved).colwise().sum().array()).transpose();
}

double LatentObjective::operator()(const VectorXd& learned, VectorXd& gradient) {
  const Index d = options_.dimensions, count = observations_.cols();
  const auto dimensions = static_cast<double>(observations_.rows());
  Kernel kernel;
  kernel.rates[0] = std::exp(learned[count * d]);
  const double free_noise = std::exp(learned[count * d + 1]);
  kernel.noise = options_.least_noise + free_noise;
  SetLatent(learned, latent_);
  KernelMatrix(kernel, latent_, matrix_);
  if (!covariance_.Factor(matrix_, kernel.noise)) return std::numeric_limits<double>::infinity();
  solved_ = observations_.transpose();
  covariance_.Solve(solved_);
  const VectorXd squares = SquaredScales(observations_, solved_);
  covariance_.Inverse(weights_);
  weights_ *= 0.5 * dimensions;
  solved_ *= squares.cwiseSqrt().asDiagonal();
  weights_.selfadjointView<Eigen::Lower>().rankUpdate(solved_, -0.5);
  PullBack(kernel, latent_, matrix_, weights_, pull_);
  pull_.points += latent_;
  if (options_.back_constraint) {
    gradient.head(count * d).reshaped(count, d).noalias() = back_matrix_ * pull_.points.transpose();
  } else {
    gradient.head(count * d).reshaped(count, d) = pull_.points.transpose();
  }
  gradient[count * d] = pull_.log_rates[0] + 1;
  gradient[count * d + 1] = (pull_.log_noise - 1) * (free_noise / kernel.noise);
  double logarithms = 0;
  for (Index j = 0; j < squares.size(); ++j) logarithms += std::log(squares[j]);
  return 0.5 * dimensions * covariance_.LogDeterminant() +
         0.5 * static_cast<double>(count) * (dimensions - logarithms) + 0.5 * latent_.squaredNorm() +
         learned[count * d] - std::log(kernel.noise);
}

LatentModel LatentObjective::Model(const VectorXd& learned) const {
  const Index d = options_.dimensions, count = observations_.cols();
  LatentModel model;
  model.observations = observations_;
  SetLatent(learned, model.latent);
  model.kernel.rates[0] = std::exp(learned[count * d]);
  model.kernel.noise = options_.least_noise + std::exp(learned[count * d + 1]);
  model.back_rate = options_.back_rate;
  if (options_.back_constraint) model.back_weights = learned.head(count * d).reshaped(count, d);
  MatrixXd matrix, solved = observations_.transpose();
  KernelMatrix(model.kernel, model.latent, matrix);
  Covariance covariance;
  if (covariance.Factor(matrix, model.kernel.noise)) {
    covariance.Solve(solved);
    model.scales = SquaredScales(observations_, solved).cwiseSqrt();
  }
  return model;
}

LearnedModel LearnLatentModel(const MatrixXd& observations, const LatentOptions& options) {
  LatentObjective objective(observations, options);
  optimization::MinimizationOptions minimization = options.minimization;
  if (options.after_iteration) {
    minimization.after_iteration = [&](int iteration, const VectorXd& learned, double value) {
      return options.after_iteration(iteration, objective.Model(learned)) &&
             (!options.minimization.after_iteration || options.minimization.after_iteration(iteration, learned, value));
    };
  }
  LearnedModel learned;
  learned.minimum = optimization::Minimize(std::ref(objective), objective.Start(), minimization);
  learned.model = objective.Model(learned.minimum.x);
  return learned;
}

void DynamicsExamples(const MatrixXd& latent, std::span<const Index> lengths, int order, MatrixXd& points,
                      MatrixXd& values) {
  const Index d = latent.rows();
  Index count = 0;
  for (const Index length : lengths) count += std::max<Index>(0, length - order);
  points.resize(order * d, count);
  values.resize(d, count);
  Index first = 0, example = 0;
  for (const Index length : lengths) {
    for (Index i = first + order; i < first + length; ++i, ++example) {
      for (Index k = 0; k < order; ++k) points.col(example).segment(k * d, d) = latent.col(i - order + k);
      values.col(example) = latent.col(i);
    }
    first += length;
  }
}

}  // namespace retrace::learning
