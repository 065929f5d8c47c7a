/// Smoothing of sampled signals.
#pragma once

#include <Eigen/Core>

namespace retrace {

/// Convolution with a Gaussian of standard deviation `sigma` (in samples), cut at three deviations, over the rows of
/// `signal` (samples x channels). Beyond its ends the signal is reflected oddly (through its end point), which keeps
/// the value and the slope there: clamping instead would halve the velocity at the start of a clip.
Eigen::MatrixXd GaussianSmooth(const Eigen::MatrixXd& signal, double sigma);

/// Zero-lag low-pass of the rows of `signal` (samples x channels) by a Butterworth filter of the second order, which
/// runs forwards and backwards: at the cut-off each run has a gain of 1/sqrt(2), both of 1/2. Both begin in the steady
/// state of their first value. Beyond its ends the signal goes on for 1.5 periods of the cut-off, reflected oddly.
/// @param rate samples per second
/// @param cutoff [Hz], above 0 and below half the rate; else std::invalid_argument is thrown
Eigen::MatrixXd ButterworthLowPass(const Eigen::MatrixXd& signal, double rate, double cutoff);

/// Value of the rows of `signal` at the real-valued row position `x`, by Catmull-Rom cubics, clamped to the ends.
Eigen::RowVectorXd CubicSample(const Eigen::MatrixXd& signal, double x);

}  // namespace retrace
