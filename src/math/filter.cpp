#include "retrace/math/filter.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace retrace {

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
