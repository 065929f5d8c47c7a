#include "targets.h"

#include <algorithm>
#include <cmath>

#include "retrace/math/rotation.h"

namespace retrace::idling {
namespace {

constexpr int kShares = 10;  // at which paths are compared

// Standard deviation over time of two octaves, the upper one of half the size, whose gradients are even in [-1, 1].
constexpr double kPerlinDeviation = 0.1573;

/// One octave at an instant in periods: between whole numbers it is led from one random gradient to the next.
double GradientNoise(double periods, uint64_t seed, uint32_t channel) {
  const double whole = std::floor(periods), x = periods - whole;
  const auto gradient = [&](double number) {
    return RandomStream(seed, RandomStage::kIdlingNoise, channel, static_cast<uint32_t>(number)).Uniform(-1, 1);
  };
  const double share = x * x * x * (x * (6 * x - 15) + 10);
  return (1 - share) * gradient(whole) * x + share * gradient(whole + 1) * (x - 1);
}

/// Targets at a share of the time of a path.
control::TargetPose TargetsAtShare(const control::TargetPose& start, const std::vector<Drive>& drives, double share) {
  int steps = 0;
  for (const Drive& drive : drives) steps += drive.num_steps;
  double left = share * steps;
  const control::TargetPose* from = &start;
  for (const Drive& drive : drives) {
    if (left <= drive.num_steps) return Between(*from, drive.target, left / drive.num_steps);
    left -= drive.num_steps;
    from = &drive.target;
  }
  return *from;
}

}  // namespace

double LargestAngle(const control::TargetPose& a, const control::TargetPose& b) {
  double largest = 0;
  for (size_t j = 0; j < a.size(); ++j) largest = std::max(largest, AngleBetween(a[j], b[j]));
  return largest;
}

double RmsAngle(const control::TargetPose& a, const control::TargetPose& b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    const double angle = AngleBetween(a[j], b[j]);
    sum += angle * angle;
  }
  return std::sqrt(sum / std::max<double>(1, static_cast<double>(a.size())));
}

control::TargetPose Between(const control::TargetPose& a, const control::TargetPose& b, double share) {
  control::TargetPose between(a.size());
  for (size_t j = 0; j < a.size(); ++j) between[j] = a[j].slerp(share, b[j]).normalized();
  return between;
}

control::TargetPose Perturbed(const control::TargetPose& targets, const std::vector<Vec3>& widths,
                              RandomStream& random) {
  control::TargetPose perturbed = targets;
  for (size_t j = 0; j < targets.size(); ++j) {
    Vec3 turn = Vec3::Zero();
    for (int a = 0; a < 3; ++a) {
      if (widths[j][a] > 0) turn[a] = random.Uniform(-widths[j][a], widths[j][a]);
    }
    if (turn != Vec3::Zero()) perturbed[j] = (FromRotationVector(turn) * targets[j]).normalized();
  }
  return perturbed;
}

control::TargetPose WithNoise(const control::TargetPose& targets, const character::Character& character,
                              double deviation, RandomStream& random) {
  control::TargetPose noisy = targets;
  if (deviation == 0) return noisy;
  for (size_t j = 0; j < targets.size(); ++j) {
    Vec3 turn = Vec3::Zero();
    for (int a = 0; a < 3; ++a) {
      if (character.joints[j].UsesAxis(a)) turn[a] = deviation * random.Normal();
    }
    noisy[j] = (FromRotationVector(character.joints[j].FromAxes(turn)) * targets[j]).normalized();
  }
  return noisy;
}

control::TargetPose WithPerlinNoise(const control::TargetPose& targets, const character::Character& character,
                                    double deviation, double frequency, double time, uint64_t seed) {
  control::TargetPose noisy = targets;
  if (deviation == 0) return noisy;
  for (size_t j = 0; j < targets.size(); ++j) {
    Vec3 turn = Vec3::Zero();
    for (int a = 0; a < 3; ++a) {
      if (!character.joints[j].UsesAxis(a)) continue;
      const auto channel = static_cast<uint32_t>(6 * j + 2 * static_cast<size_t>(a));
      turn[a] = deviation / kPerlinDeviation *
                (GradientNoise(frequency * time, seed, channel) +
                 0.5 * GradientNoise(2 * frequency * time, seed, channel + 1));
    }
    noisy[j] = (FromRotationVector(character.joints[j].FromAxes(turn)) * targets[j]).normalized();
  }
  return noisy;
}

double AngleBetweenPaths(const control::TargetPose& start, const std::vector<Drive>& a, const std::vector<Drive>& b) {
  double sum = 0;
  for (int k = 1; k < kShares; ++k) {
    const double share = static_cast<double>(k) / kShares;
    const double angle = RmsAngle(TargetsAtShare(start, a, share), TargetsAtShare(start, b, share));
    sum += angle * angle;
  }
  return std::sqrt(sum / (kShares - 1));
}

}  // namespace retrace::idling
