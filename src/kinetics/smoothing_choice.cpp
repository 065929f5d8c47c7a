#include "retrace/kinetics/smoothing_choice.h"

#include <Eigen/Core>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/math/filter.h"

namespace retrace::kinetics {
namespace {

constexpr double kStep = 0.0025;                            // between the smoothings that are tried [s]
constexpr double kSlowest = 3, kMiddle = 6, kFastest = 24;  // [Hz]
// Fast changes over slower ones that forces of people have, and of those that are as violent as runs and jumps.
constexpr double kFastShare = 1.0;
constexpr double kViolentShare = 1.3;
constexpr double kViolent = 0.15;  // slower changes [body weights]
// What has more is rough, and is smoothed until it has as much less.
constexpr double kRoughness = 1.5;  // exponent

double RootMeanSquare(const Eigen::MatrixXd& signal) {
  return std::sqrt(signal.squaredNorm() / static_cast<double>(signal.size()));
}

/// Three times a low-pass of the second order, whose edge is then steep.
Eigen::MatrixXd Below(const Eigen::MatrixXd& signal, double step, double cutoff) {
  Eigen::MatrixXd low = signal;
  for (int pass = 0; pass < 3; ++pass) low = ButterworthLowPass(low, 1 / step, cutoff);
  return low;
}

}  // namespace

double ChooseSmoothing(const character::ReferenceMotion& reference) {
  const std::vector<character::State> states = reference.StatesOfPoses();
  const auto n = static_cast<Eigen::Index>(states.size());
  const double step = reference.frame_time();
  constexpr Eigen::Index kFewest = 24;
  if (n < kFewest) return kLeastSmoothing;
  Eigen::MatrixXd height(n, 1);
  for (Eigen::Index i = 0; i < n; ++i) {
    height(i, 0) = character::CenterOfMass(reference.character(), states[static_cast<size_t>(i)]).y();
  }
  const Eigen::MatrixXd acceleration =
      (height.topRows(n - 2) - 2 * height.middleRows(1, n - 2) + height.bottomRows(n - 2)) / (step * step);
  double allowed = 0;
  for (double smoothing = kLeastSmoothing; smoothing < kMostSmoothing; smoothing += kStep) {
    const double more = std::sqrt(smoothing * smoothing - kLookedAtSmoothing * kLookedAtSmoothing);
    const Eigen::MatrixXd smooth = GaussianSmooth(acceleration, more / step);
    const Eigen::MatrixXd middle = Below(smooth, step, kMiddle);
    const double slow = RootMeanSquare(middle - Below(smooth, step, kSlowest));
    const double fast = RootMeanSquare(Below(smooth, step, kFastest) - middle);
    if (!(slow > 0)) return kLeastSmoothing;
    if (allowed == 0) {
      const double share = slow > kViolent * kStandardGravity ? kViolentShare : kFastShare;
      allowed = fast > share * slow ? std::pow(fast / slow, -kRoughness) : share;
    }
    if (fast <= allowed * slow) return smoothing;
  }
  return kMostSmoothing;
}

}  // namespace retrace::kinetics
