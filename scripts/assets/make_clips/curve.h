/// Smooth curves through what is known about them.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace retrace::make_clips {

/// What a curve must satisfy: its derivative of that order has this value at this time.
struct Condition {
  double time;
  int order;
  double value;
};

/// The polynomial of lowest degree that satisfies all conditions (as many coefficients as conditions).
class Polynomial {
 public:
  explicit Polynomial(const std::vector<Condition>& conditions);
  double operator()(double time, int order = 0) const;

 private:
  double origin_ = 0, scale_ = 1;  // coefficients are in (time - origin) / scale, for a well-conditioned system
  Eigen::VectorXd coefficients_;
};

/// Conditions that fix value, velocity and acceleration at a time.
std::vector<Condition> State(double time, double value, double velocity = 0, double acceleration = 0);

/// Rises from 0 to 1 over [begin, end] with zero velocity and acceleration at both (the minimum-jerk profile of human
/// reaching: Flash and Hogan 1985).
double MinimumJerk(double time, double begin, double end);

/// Cubic spline through values at increasing times with zero velocity at both ends; constant outside. Its
/// acceleration is continuous.
class Spline {
 public:
  Spline(std::vector<double> times, const std::vector<double>& values);
  double operator()(double time) const;

 private:
  std::vector<double> times_;
  Eigen::VectorXd values_, slopes_;
};

}  // namespace retrace::make_clips
