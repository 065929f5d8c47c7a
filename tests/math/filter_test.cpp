/// Smoothing and sampling of signals: what must stay stays exactly.
#include "retrace/math/filter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "math/any_stream.h"
#include "retrace/math/random.h"

namespace retrace {
namespace {

/// Columns of values that a function of the row gives.
template <typename F>
Eigen::MatrixXd Signal(Eigen::Index rows, F f) {
  Eigen::MatrixXd signal(rows, 1);
  for (Eigen::Index i = 0; i < rows; ++i) signal(i, 0) = f(static_cast<double>(i));
  return signal;
}

RC_GTEST_PROP(GaussianSmoothProperty, KeepsLinearSignalsUpToTheEnds, ()) {
  RandomStream random = AnyStream();
  const auto rows = *rc::gen::inRange(1, 60);
  const double sigma = random.Uniform(0, 20);
  Eigen::MatrixXd signal(rows, 3);
  for (Eigen::Index c = 0; c < 3; ++c) {
    const double base = random.Uniform(-100, 100);
    const double slope = random.Uniform(-10, 10);
    for (Eigen::Index i = 0; i < rows; ++i) signal(i, c) = base + slope * static_cast<double>(i);
  }
  RC_ASSERT((GaussianSmooth(signal, sigma) - signal).cwiseAbs().maxCoeff() < 1e-10);
}

RC_GTEST_PROP(GaussianSmoothProperty, KeepsTheEndPointsOfAnySignal, ()) {
  RandomStream random = AnyStream();
  const auto rows = *rc::gen::inRange(3, 60);
  const Eigen::MatrixXd signal = Signal(rows, [&](double) { return random.Uniform(-1, 1); });
  const Eigen::MatrixXd smooth = GaussianSmooth(signal, random.Uniform(0.1, 8));
  RC_ASSERT(std::abs(smooth(0, 0) - signal(0, 0)) < 1e-12);
  RC_ASSERT(std::abs(smooth(rows - 1, 0) - signal(rows - 1, 0)) < 1e-12);
}

RC_GTEST_PROP(GaussianSmoothProperty, IsLinearAndDoesNotKnowTimesDirection, ()) {
  RandomStream random = AnyStream();
  const auto rows = *rc::gen::inRange(3, 40);
  const auto any = [&](double) { return random.Uniform(-1, 1); };
  const Eigen::MatrixXd a = Signal(rows, any);
  const Eigen::MatrixXd b = Signal(rows, any);
  const double sigma = random.Uniform(0.1, 6);
  const Eigen::MatrixXd sum = GaussianSmooth(2 * a - 3 * b, sigma);
  RC_ASSERT((sum - (2 * GaussianSmooth(a, sigma) - 3 * GaussianSmooth(b, sigma))).cwiseAbs().maxCoeff() < 1e-12);
  const Eigen::MatrixXd backwards = a.colwise().reverse();
  RC_ASSERT((GaussianSmooth(backwards, sigma) - GaussianSmooth(a, sigma).colwise().reverse()).cwiseAbs().maxCoeff() <
            1e-12);
}

TEST(GaussianSmooth, AnswersAnImpulseWithTheGaussian) {
  const double sigma = 4;
  Eigen::MatrixXd signal = Eigen::MatrixXd::Zero(101, 1);
  signal(50, 0) = 1;
  const Eigen::MatrixXd smooth = GaussianSmooth(signal, sigma);
  double sum = 0;
  for (int k = -12; k <= 12; ++k) sum += std::exp(-0.5 * k * k / (sigma * sigma));
  for (int k = -50; k <= 50; ++k) {
    const double expected = std::abs(k) > 12 ? 0 : std::exp(-0.5 * k * k / (sigma * sigma)) / sum;
    EXPECT_NEAR(smooth(50 + k, 0), expected, 1e-15) << k;
  }
}

TEST(GaussianSmooth, DampsASineByTheGaussiansSpectrum) {
  const double sigma = 5;
  const double omega = 0.2;
  const Eigen::MatrixXd signal = Signal(400, [&](double i) { return std::sin(omega * i); });
  const Eigen::MatrixXd smooth = GaussianSmooth(signal, sigma);
  const double factor = std::exp(-0.5 * sigma * sigma * omega * omega);
  // Cutting the kernel at three deviations leaves out 0.27 % of its weight.
  for (Eigen::Index i = 20; i < 380; ++i) EXPECT_NEAR(smooth(i, 0), factor * signal(i, 0), 0.004);
}

TEST(GaussianSmooth, NothingToDo) {
  const Eigen::MatrixXd signal = Signal(10, [](double i) { return i * i; });
  EXPECT_EQ(GaussianSmooth(signal, 0), signal);
  EXPECT_EQ(GaussianSmooth(signal, -1), signal);
  EXPECT_EQ(GaussianSmooth(signal.topRows(2), 3), signal.topRows(2));
}

RC_GTEST_PROP(CubicSampleProperty, HitsTheRowsAndKeepsLinearSignals, ()) {
  RandomStream random = AnyStream();
  const auto rows = *rc::gen::inRange(1, 30);
  const Eigen::MatrixXd any = Signal(rows, [&](double) { return random.Uniform(-1, 1); });
  for (Eigen::Index i = 0; i < rows; ++i) RC_ASSERT(CubicSample(any, static_cast<double>(i))(0) == any(i, 0));
  RC_ASSERT(CubicSample(any, -5)(0) == any(0, 0));
  RC_ASSERT(CubicSample(any, rows + 5)(0) == any(rows - 1, 0));
}

RC_GTEST_PROP(CubicSampleProperty, IsExactOnQuadraticsInside, ()) {
  // Catmull-Rom cubics take their slopes from central differences: exact up to the second power.
  RandomStream random = AnyStream();
  const double a = random.Uniform(-1, 1), b = random.Uniform(-1, 1), c = random.Uniform(-1, 1);
  const auto f = [&](double x) { return a + b * x + c * x * x; };
  const Eigen::MatrixXd signal = Signal(20, f);
  const double x = random.Uniform(1, 18);
  RC_ASSERT(std::abs(CubicSample(signal, x)(0) - f(x)) < 1e-10);
}

TEST(CubicSample, ErrorOnCubicsIsThatOfTheCentralDifference) {
  // On x^3 the central difference is 3x^2 + 1 instead of 3x^2: the Hermite cubic is then off by f(1-f)(1-2f).
  const Eigen::MatrixXd signal = Signal(12, [](double x) { return x * x * x; });
  for (double x = 1; x <= 10; x += 0.05) {
    const double f = x - std::floor(x);
    EXPECT_NEAR(CubicSample(signal, x)(0) - x * x * x, f * (1 - f) * (1 - 2 * f), 1e-10) << x;
  }
}

TEST(CubicSample, LinearSignalsInside) {
  const Eigen::MatrixXd signal = Signal(8, [](double x) { return 3 - 2 * x; });
  for (double x = 1; x <= 6; x += 0.1) EXPECT_NEAR(CubicSample(signal, x)(0), 3 - 2 * x, 1e-13);
}

/// Amplitude of a sine of that frequency in the middle of a filtered signal of 4 s at 240 Hz, and how late it is.
struct Response {
  double gain = 0;
  double lag = 0;  // [s]
};
Response ResponseTo(double frequency, double cutoff) {
  constexpr double kRate = 240;
  const double turn = 2 * std::numbers::pi * frequency / kRate;
  const Eigen::MatrixXd filtered =
      ButterworthLowPass(Signal(961, [&](double i) { return std::sin(turn * i); }), kRate, cutoff);
  // Projected on sine and cosine over whole periods, far from the ends.
  double along = 0, across = 0;
  for (Eigen::Index i = 240; i < 720; ++i) {
    along += filtered(i, 0) * std::sin(turn * static_cast<double>(i)) / 240;
    across += filtered(i, 0) * std::cos(turn * static_cast<double>(i)) / 240;
  }
  return {std::hypot(along, across), std::atan2(-across, along) / (2 * std::numbers::pi * frequency)};
}

TEST(ButterworthLowPass, HasTheGainOfTwoFiltersAndNoLag) {
  for (const double cutoff : {6.0, 12.0, 20.0}) {
    for (const double frequency : {1.0, 4.0, 6.0, 12.0, 20.0, 40.0}) {
      const Response response = ResponseTo(frequency, cutoff);
      const auto warped = [](double hertz) { return std::tan(std::numbers::pi * hertz / 240); };
      const double expected = 1 / (1 + std::pow(warped(frequency) / warped(cutoff), 4));  // squared gain of one
      EXPECT_NEAR(response.gain, expected, 1e-6) << frequency << " Hz through " << cutoff << " Hz";
      EXPECT_NEAR(response.lag, 0, 1e-6);
    }
    EXPECT_NEAR(std::sqrt(ResponseTo(cutoff, cutoff).gain), std::sqrt(0.5), 1e-6) << "-3 dB for each of the two";
  }
}

TEST(ButterworthLowPass, KeepsLinesUpToTheEnds) {
  const Eigen::MatrixXd line = Signal(50, [](double i) { return 3 - 0.2 * i; });
  const Eigen::MatrixXd constant = Signal(50, [](double) { return 7; });
  EXPECT_LT((ButterworthLowPass(constant, 240, 20) - constant).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((ButterworthLowPass(line, 240, 20) - line).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_EQ(ButterworthLowPass(line.topRows(1), 240, 20), line.topRows(1));
  EXPECT_EQ(ButterworthLowPass(line.topRows(3), 240, 20).rows(), 3) << "shorter than the pad";
  EXPECT_THROW(ButterworthLowPass(line, 240, 120), std::invalid_argument);
  EXPECT_THROW(ButterworthLowPass(line, 240, 0), std::invalid_argument);
}

}  // namespace
}  // namespace retrace
