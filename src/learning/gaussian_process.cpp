#include "retrace/learning/gaussian_process.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace retrace::learning {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Eigen cuts large products into parts that suit the processor's caches, and sums round by the parts: the caches are
// the same ones for all processors, so that all give the same bytes.
const bool kSamePartsEverywhere = [] {
  Eigen::setCpuCacheSizes(32 << 10, 256 << 10, 2 << 20);
  return true;
}();

// For a kernel that is learned. The rate of a part from which the values do not follow would fall to zero, and by its
// prior the objective without end.
constexpr double kLeastRate = 1e-8;
// The same of a variance: values that are nothing but noise would make it fall without end.
constexpr double kLeastVariance = 1e-12;

Kernel FromLogarithms(const VectorXd& logarithms, double least_noise) {
  Kernel kernel;
  kernel.variance = kLeastVariance + std::exp(logarithms[0]);
  kernel.noise = least_noise + std::exp(logarithms[1]);
  kernel.rates.resize(logarithms.size() - 2);
  for (Index g = 0; g < kernel.parts(); ++g) kernel.rates[g] = kLeastRate + std::exp(logarithms[2 + g]);
  return kernel;
}

void CheckExamples(const MatrixXd& points, const MatrixXd& values, Index parts) {
  if (points.cols() == 0 || points.cols() != values.cols() || points.rows() == 0 || values.rows() == 0 || parts == 0 ||
      points.rows() % parts != 0) {
    throw std::invalid_argument("examples whose points and values do not fit one another or the kernel");
  }
  if (!points.allFinite() || !values.allFinite())
    throw std::invalid_argument("examples with numbers that are not finite");
}

}  // namespace

bool Covariance::Factor(const MatrixXd& kernel_matrix, double noise) {
  lower_ = kernel_matrix;
  lower_.diagonal().array() += noise;
  if (!kSamePartsEverywhere || !lower_.allFinite()) return false;
  const Eigen::LLT<Eigen::Ref<MatrixXd>> factor(lower_);
  if (factor.info() != Eigen::Success) return false;
  // A pivot that is nothing but rounding makes a factor, too, of which nothing follows.
  const double least = std::numeric_limits<double>::epsilon() * static_cast<double>(size());
  return lower_.diagonal().array().square().minCoeff() > least * lower_.diagonal().array().square().maxCoeff();
}

double Covariance::LogDeterminant() const {
  double sum = 0;
  for (Index i = 0; i < size(); ++i) sum += std::log(lower_(i, i));
  return 2 * sum;
}

void Covariance::Solve(MatrixXd& columns) const {
  lower_.triangularView<Eigen::Lower>().solveInPlace(columns);
  lower_.triangularView<Eigen::Lower>().transpose().solveInPlace(columns);
}

void Covariance::SolveLower(VectorXd& column) const {
  lower_.triangularView<Eigen::Lower>().solveInPlace(column);
}

void Covariance::SolveLowerTransposed(VectorXd& column) const {
  lower_.triangularView<Eigen::Lower>().transpose().solveInPlace(column);
}

void Covariance::Inverse(MatrixXd& inverse) const {
  inverse.setIdentity(size(), size());
  Solve(inverse);
}

bool GaussianProcess::Fit(const MatrixXd& points, const MatrixXd& values, const Kernel& kernel) {
  CheckExamples(points, values, kernel.parts());
  kernel_ = kernel;
  points_ = points;
  MatrixXd matrix;
  KernelMatrix(kernel_, points_, matrix);
  if (!covariance_.Factor(matrix, kernel_.noise)) return false;
  MatrixXd columns = values.transpose();
  covariance_.Solve(columns);
  weights_ = columns.transpose();
  return true;
}

void GaussianProcess::Predict(const VectorXd& x, Prediction& prediction) const {
  KernelVector(kernel_, points_, x, prediction.kernel);
  prediction.mean.noalias() = weights_ * prediction.kernel;
  prediction.solved = prediction.kernel;
  covariance_.SolveLower(prediction.solved);
  prediction.variance = std::max(0.0, kernel_.variance - prediction.solved.squaredNorm());
}

void GaussianProcess::PredictWithGradients(const VectorXd& x, Prediction& prediction) const {
  Predict(x, prediction);
  covariance_.SolveLowerTransposed(prediction.solved);
  KernelVectorGradient(kernel_, points_, x, prediction.kernel, prediction.kernel_gradient);
  prediction.mean_gradient.noalias() = weights_ * prediction.kernel_gradient.transpose();
  prediction.variance_gradient.noalias() = -2 * prediction.kernel_gradient * prediction.solved;
}

optimization::SmoothFunction KernelObjective(const MatrixXd& points, const MatrixXd& values, Index parts,
                                             double least_noise) {
  CheckExamples(points, values, parts);
  struct Scratch {
    Covariance covariance;
    MatrixXd matrix, solved, weights;
    KernelGradient gradient;
  };
  return [points, values, least_noise, scratch = Scratch()](const VectorXd& logarithms, VectorXd& gradient) mutable {
    const Kernel kernel = FromLogarithms(logarithms, least_noise);
    KernelMatrix(kernel, points, scratch.matrix);
    if (!scratch.covariance.Factor(scratch.matrix, kernel.noise)) return std::numeric_limits<double>::infinity();
    const auto dimensions = static_cast<double>(values.rows());
    scratch.solved = values.transpose();
    scratch.covariance.Solve(scratch.solved);
    scratch.covariance.Inverse(scratch.weights);
    scratch.weights *= 0.5 * dimensions;
    scratch.weights.noalias() -= 0.5 * scratch.solved * scratch.solved.transpose();
    PullBack(kernel, points, scratch.matrix, scratch.weights, scratch.gradient);
    gradient[0] = (scratch.gradient.log_variance + 1) * ((kernel.variance - kLeastVariance) / kernel.variance);
    gradient[1] = (scratch.gradient.log_noise - 1) * ((kernel.noise - least_noise) / kernel.noise);
    gradient.tail(kernel.parts()) =
        (scratch.gradient.log_rates.array() + 1) * (kernel.rates.array() - kLeastRate) / kernel.rates.array();
    return 0.5 * dimensions * scratch.covariance.LogDeterminant() +
           0.5 * values.transpose().cwiseProduct(scratch.solved).sum() + std::log(kernel.variance) -
           std::log(kernel.noise) + kernel.rates.array().log().sum();
  };
}

LearnedKernel LearnKernel(const MatrixXd& points, const MatrixXd& values, const Kernel& start,
                          const optimization::MinimizationOptions& options, double least_noise) {
  VectorXd logarithms(2 + start.parts());
  logarithms[0] = std::log(start.variance - kLeastVariance);
  logarithms[1] = std::log(start.noise - least_noise);
  for (Index g = 0; g < start.parts(); ++g) logarithms[2 + g] = std::log(start.rates[g] - kLeastRate);
  LearnedKernel learned;
  learned.minimum =
      optimization::Minimize(KernelObjective(points, values, start.parts(), least_noise), logarithms, options);
  learned.kernel = FromLogarithms(learned.minimum.x, least_noise);
  return learned;
}

}  // namespace retrace::learning
