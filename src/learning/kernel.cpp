#include "retrace/learning/kernel.h"

#include <cmath>

namespace retrace::learning {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// -1/2 of the weighted square of the distance of two points.
double Exponent(const Kernel& kernel, const double* a, const double* b, Index part) {
  double sum = 0;
  for (Index g = 0; g < kernel.parts(); ++g) {
    double square = 0;
    for (Index i = g * part; i < (g + 1) * part; ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
    sum += kernel.rates[g] * square;
  }
  return -0.5 * sum;
}

}  // namespace

void KernelMatrix(const Kernel& kernel, const MatrixXd& points, MatrixXd& matrix) {
  const Index count = points.cols(), part = points.rows() / kernel.parts();
  matrix.resize(count, count);
  for (Index j = 0; j < count; ++j) {
    matrix(j, j) = kernel.variance;
    for (Index i = j + 1; i < count; ++i) {
      matrix(i, j) = kernel.variance * std::exp(Exponent(kernel, &points(0, i), &points(0, j), part));
      matrix(j, i) = matrix(i, j);
    }
  }
}

void KernelVector(const Kernel& kernel, const MatrixXd& points, const VectorXd& x, VectorXd& values) {
  const Index part = points.rows() / kernel.parts();
  values.resize(points.cols());
  for (Index i = 0; i < points.cols(); ++i) {
    values[i] = kernel.variance * std::exp(Exponent(kernel, &points(0, i), x.data(), part));
  }
}

void KernelVectorGradient(const Kernel& kernel, const MatrixXd& points, const VectorXd& x, const VectorXd& values,
                          MatrixXd& gradient) {
  const Index part = points.rows() / kernel.parts();
  gradient.resize(points.rows(), points.cols());
  for (Index j = 0; j < points.cols(); ++j) {
    for (Index i = 0; i < points.rows(); ++i) {
      gradient(i, j) = kernel.rates[i / part] * values[j] * (points(i, j) - x[i]);
    }
  }
}

void PullBack(const Kernel& kernel, const MatrixXd& points, const MatrixXd& matrix, const MatrixXd& weights,
              KernelGradient& gradient) {
  const Index count = points.cols(), part = points.rows() / kernel.parts();
  gradient.points.setZero(points.rows(), count);
  gradient.log_rates.setZero(kernel.parts());
  gradient.log_variance = 0;
  gradient.log_noise = 0;
  for (Index j = 0; j < count; ++j) {
    gradient.log_variance += weights(j, j) * matrix(j, j);
    gradient.log_noise += weights(j, j) * kernel.noise;
    for (Index i = j + 1; i < count; ++i) {
      const double twice = 2 * weights(i, j) * matrix(i, j);  // as K is symmetric
      gradient.log_variance += twice;
      for (Index g = 0; g < kernel.parts(); ++g) {
        double square = 0;
        for (Index r = g * part; r < (g + 1) * part; ++r) {
          const double apart = points(r, i) - points(r, j);
          square += apart * apart;
          const double pull = twice * kernel.rates[g] * apart;
          gradient.points(r, i) -= pull;
          gradient.points(r, j) += pull;
        }
        gradient.log_rates[g] -= 0.5 * twice * kernel.rates[g] * square;
      }
    }
  }
}

}  // namespace retrace::learning
