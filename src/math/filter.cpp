#include "retrace/math/filter.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

namespace retrace {
namespace {

/// y_i = b0 x_i + b1 x_(i-1) + b2 x_(i-2) - a1 y_(i-1) - a2 y_(i-2), with a gain of 1 at rest.
struct SecondOrderFilter {
  double b0 = 1, b1 = 0, b2 = 0, a1 = 0, a2 = 0;

  /// Bilinear transform of the Butterworth filter, with the cut-off where it is to be.
  static SecondOrderFilter Butterworth(double rate, double cutoff) {
    const double k = std::tan(std::numbers::pi * cutoff / rate);
    const double norm = 1 / (1 + std::numbers::sqrt2 * k + k * k);
    return {k * k * norm, 2 * k * k * norm, k * k * norm, 2 * (k * k - 1) * norm,
            (1 - std::numbers::sqrt2 * k + k * k) * norm};
  }

  /// Filters in place, from the steady state of the first value.
  void Run(Eigen::VectorXd& x) const {
    double x1 = x[0], x2 = x[0], y1 = x[0], y2 = x[0];
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const double y = b0 * x[i] + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
      x2 = std::exchange(x1, x[i]);
      y2 = std::exchange(y1, y);
      x[i] = y;
    }
  }
};

}  // namespace

Eigen::MatrixXd GaussianSmooth(const Eigen::MatrixXd& signal, double sigma) {
  const Eigen::Index n = signal.rows();
  if (sigma <= 0 || n < 3) return signal;
  const Eigen::Index reach = std::min<Eigen::Index>(static_cast<Eigen::Index>(std::ceil(3 * sigma)), n - 1);
  std::vector<double> kernel;
  double sum = 0;
  for (Eigen::Index k = -reach; k <= reach; ++k) {
    const double x = static_cast<double>(k) / sigma;
    kernel.push_back(std::exp(-0.5 * x * x));
    sum += kernel.back();
  }
  Eigen::MatrixXd smooth = Eigen::MatrixXd::Zero(n, signal.cols());
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index k = -reach; k <= reach; ++k) {
      const double w = kernel[static_cast<size_t>(k + reach)] / sum;
      const Eigen::Index m = i + k;
      if (m < 0) {
        smooth.row(i) += w * (2 * signal.row(0) - signal.row(-m));
      } else if (m >= n) {
        smooth.row(i) += w * (2 * signal.row(n - 1) - signal.row(2 * (n - 1) - m));
      } else {
        smooth.row(i) += w * signal.row(m);
      }
    }
  }
  return smooth;
}

Eigen::MatrixXd ButterworthLowPass(const Eigen::MatrixXd& signal, double rate, double cutoff) {
  if (!(rate > 0 && cutoff > 0 && cutoff < rate / 2)) {
    throw std::invalid_argument("a cut-off that is not between 0 and half the rate");
  }
  const Eigen::Index n = signal.rows();
  if (n < 2) return signal;
  const auto pad = std::min<Eigen::Index>(n - 1, static_cast<Eigen::Index>(rate / cutoff * 1.5));
  const SecondOrderFilter filter = SecondOrderFilter::Butterworth(rate, cutoff);
  Eigen::MatrixXd smooth(n, signal.cols());
  Eigen::VectorXd longer(n + 2 * pad);
  for (Eigen::Index c = 0; c < signal.cols(); ++c) {
    const auto x = signal.col(c);
    longer.segment(pad, n) = x;
    for (Eigen::Index i = 1; i <= pad; ++i) {
      longer[pad - i] = 2 * x[0] - x[i];
      longer[pad + n - 1 + i] = 2 * x[n - 1] - x[n - 1 - i];
    }
    filter.Run(longer);
    longer.reverseInPlace();
    filter.Run(longer);
    longer.reverseInPlace();
    smooth.col(c) = longer.segment(pad, n);
  }
  return smooth;
}

Eigen::RowVectorXd CubicSample(const Eigen::MatrixXd& signal, double x) {
  const Eigen::Index n = signal.rows();
  const double clamped = std::clamp(x, 0.0, static_cast<double>(n - 1));
  const Eigen::Index i = std::min<Eigen::Index>(static_cast<Eigen::Index>(clamped), std::max<Eigen::Index>(n - 2, 0));
  const double f = clamped - static_cast<double>(i);
  const auto row = [&](Eigen::Index k) { return signal.row(std::clamp<Eigen::Index>(k, 0, n - 1)); };
  return row(i - 1) * (-0.5 * f + f * f - 0.5 * f * f * f) + row(i) * (1 - 2.5 * f * f + 1.5 * f * f * f) +
         row(i + 1) * (0.5 * f + 2 * f * f - 1.5 * f * f * f) + row(i + 2) * (-0.5 * f * f + 0.5 * f * f * f);
}

}  // namespace retrace
