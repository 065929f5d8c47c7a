/// Smoothing of sampled signals.
#pragma once

#include <Eigen/Core>

namespace retrace {

/// Convolution with a Gaussian of standard deviation `sigma` (in samples), cut at three deviations, over the rows of
/// `signal` (samples x channels). Beyond its ends the signal is reflected oddly (through its end point), which keeps
/// the value and the slope there: clamping instead would halve the velocity at the start of a clip.
Eigen::MatrixXd GaussianSmooth(const Eigen::MatrixXd& signal, double sigma);

/// Value of the rows of `signal` at the real-valued row position `x`, by Catmull-Rom cubics, clamped to the ends.
Eigen::RowVectorXd CubicSample(const Eigen::MatrixXd& signal, double x);

}  // namespace retrace
