#include "curve.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

namespace retrace::make_clips {

namespace {

// Derivative of order `order` of x^power.
double MonomialDerivative(int power, int order, double x) {
  if (power < order) return 0;
  double value = 1;
  for (int k = 0; k < order; ++k) value *= power - k;
  for (int k = 0; k < power - order; ++k) value *= x;
  return value;
}

}  // namespace

Polynomial::Polynomial(const std::vector<Condition>& conditions) {
  const int n = static_cast<int>(conditions.size());
  double first = conditions[0].time, last = first;
  for (const Condition& c : conditions) {
    first = std::min(first, c.time);
    last = std::max(last, c.time);
  }
  origin_ = first;
  scale_ = last > first ? last - first : 1;
  Eigen::MatrixXd system(n, n);
  Eigen::VectorXd right(n);
  for (int i = 0; i < n; ++i) {
    const Condition& c = conditions[i];
    double value = c.value;
    for (int k = 0; k < c.order; ++k) value *= scale_;
    right[i] = value;
    for (int p = 0; p < n; ++p) system(i, p) = MonomialDerivative(p, c.order, (c.time - origin_) / scale_);
  }
  coefficients_ = system.fullPivLu().solve(right);
}

double Polynomial::operator()(double time, int order) const {
  double value = 0;
  for (int p = 0; p < coefficients_.size(); ++p)
    value += coefficients_[p] * MonomialDerivative(p, order, (time - origin_) / scale_);
  for (int k = 0; k < order; ++k) value /= scale_;
  return value;
}

std::vector<Condition> State(double time, double value, double velocity, double acceleration) {
  return {{time, 0, value}, {time, 1, velocity}, {time, 2, acceleration}};
}

double MinimumJerk(double time, double begin, double end) {
  const double s = std::clamp((time - begin) / (end - begin), 0.0, 1.0);
  return s * s * s * (10 + s * (6 * s - 15));
}

Spline::Spline(std::vector<double> times, const std::vector<double>& values) : times_(std::move(times)) {
  const int n = static_cast<int>(times_.size());
  values_ = Eigen::Map<const Eigen::VectorXd>(values.data(), n);
  // Equal second derivatives from both sides of each inner knot, in terms of the slopes at the knots.
  Eigen::MatrixXd system = Eigen::MatrixXd::Identity(n, n);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n);
  for (int i = 1; i + 1 < n; ++i) {
    const double a = 1 / (times_[i] - times_[i - 1]), b = 1 / (times_[i + 1] - times_[i]);
    system(i, i - 1) = a;
    system(i, i) = 2 * (a + b);
    system(i, i + 1) = b;
    right[i] = 3 * (a * a * (values_[i] - values_[i - 1]) + b * b * (values_[i + 1] - values_[i]));
  }
  slopes_ = system.partialPivLu().solve(right);
}

double Spline::operator()(double time) const {
  if (time <= times_.front()) return values_[0];
  if (time >= times_.back()) return values_[values_.size() - 1];
  const int i = static_cast<int>(std::upper_bound(times_.begin(), times_.end(), time) - times_.begin()) - 1;
  const double width = times_[i + 1] - times_[i], s = (time - times_[i]) / width, r = 1 - s;
  return r * r * ((1 + 2 * s) * values_[i] + s * width * slopes_[i]) +
         s * s * ((1 + 2 * r) * values_[i + 1] - r * width * slopes_[i + 1]);
}

}  // namespace retrace::make_clips
