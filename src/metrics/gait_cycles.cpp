#include "retrace/metrics/gait_cycles.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace retrace::metrics {
namespace {

constexpr double kShortestContact = 0.04;   // contacts and gaps of contacts that count last as long [s]
constexpr double kShortestStride = 0.3;     // [s]
constexpr double kLongestStride = 3;        // [s]
constexpr double kWithinMotion = 1 - 1e-9;  // of the last instant

/// Drops stretches of a flag that are too short.
void Close(std::vector<bool>& flags, bool flag, double time_step) {
  std::vector<bool> other = flags;
  if (!flag) other.flip();
  size_t first = 0;
  while (first < other.size()) {
    size_t end = first;
    while (end < other.size() && other[end]) ++end;
    const bool inside = first > 0 && end < other.size();
    if (end > first && inside && static_cast<double>(end - first) * time_step < kShortestContact) {
      std::fill(flags.begin() + static_cast<std::ptrdiff_t>(first), flags.begin() + static_cast<std::ptrdiff_t>(end),
                !flag);
    }
    first = end + 1;
  }
}

void AddStances(bool left, const VectorSeries& forces, double least, double time_step,
                std::vector<StancePhase>& stances) {
  const auto n = static_cast<size_t>(forces.rows());
  std::vector<bool> on(n);
  for (size_t i = 0; i < n; ++i) on[i] = forces(static_cast<Eigen::Index>(i), 1) > least;
  Close(on, false, time_step);
  Close(on, true, time_step);
  // Between instants i - 1 and i.
  const auto passes = [&](size_t i) {
    const double before = forces(static_cast<Eigen::Index>(i) - 1, 1), after = forces(static_cast<Eigen::Index>(i), 1);
    const double share = after == before ? 0.5 : std::clamp((least - before) / (after - before), 0.0, 1.0);
    return (static_cast<double>(i) - 1 + share) * time_step;
  };
  for (size_t first = 0; first < n;) {
    size_t end = first;
    while (end < n && on[end]) ++end;
    if (end > first) {
      StancePhase& stance = stances.emplace_back();
      stance.left = left;
      if (first > 0) stance.strike = passes(first);
      if (end < n) stance.off = passes(end);
    }
    first = end + 1;
  }
}

/// A cycle as a curve. Empty where it is not all known.
Eigen::VectorXd Resampled(const Eigen::VectorXd& values, double time_step, const GaitCycle& cycle) {
  Eigen::VectorXd curve(kCyclePoints);
  const double last = static_cast<double>(values.size() - 1);
  for (Eigen::Index k = 0; k < kCyclePoints; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(kCyclePoints - 1);
    const double at = std::min((cycle.start + share * (cycle.end - cycle.start)) / time_step, last * kWithinMotion);
    const auto before = static_cast<Eigen::Index>(std::floor(at));
    const double after = at - static_cast<double>(before);
    curve[k] = (1 - after) * values[before] + after * values[before + 1];
  }
  return curve.allFinite() ? curve : Eigen::VectorXd();
}

}  // namespace

std::vector<StancePhase> FindStances(const FootForces& forces, double mass, double time_step) {
  const double least = kFootLoaded * mass * kStandardGravity;
  std::vector<StancePhase> stances;
  AddStances(true, forces.left, least, time_step, stances);
  AddStances(false, forces.right, least, time_step, stances);
  return stances;
}

std::vector<GaitCycle> StridesOf(const std::vector<StancePhase>& stances) {
  std::vector<GaitCycle> strides;
  for (size_t i = 0; i + 1 < stances.size(); ++i) {
    const StancePhase &stance = stances[i], &next = stances[i + 1];
    if (stance.left != next.left || !stance.strike || !stance.off || !next.strike) continue;
    const double duration = *next.strike - *stance.strike;
    if (duration < kShortestStride || duration > kLongestStride) continue;
    strides.push_back({stance.left, *stance.strike, *stance.off, *next.strike});
  }
  return strides;
}

std::vector<GaitCycle> WholeStancesOf(const std::vector<StancePhase>& stances) {
  std::vector<GaitCycle> whole;
  for (const StancePhase& stance : stances) {
    if (stance.strike && stance.off) whole.push_back({stance.left, *stance.strike, *stance.off, *stance.off});
  }
  return whole;
}

CycleCurve CurveOver(const std::string& name, const std::string& unit, const Eigen::VectorXd& values, double time_step,
                     const std::vector<GaitCycle>& cycles) {
  CycleCurve curve{name, unit, {}, {}, 0};
  if (values.size() < 2) return curve;
  std::vector<Eigen::VectorXd> all;
  for (const GaitCycle& cycle : cycles) {
    Eigen::VectorXd one = Resampled(values, time_step, cycle);
    if (one.size() > 0) all.push_back(std::move(one));
  }
  if (all.empty()) return curve;
  curve.cycles = static_cast<int>(all.size());
  curve.mean = curve.deviation = Eigen::VectorXd::Zero(kCyclePoints);
  for (const Eigen::VectorXd& one : all) curve.mean += one / static_cast<double>(all.size());
  if (all.size() < 2) return curve;
  for (const Eigen::VectorXd& one : all) curve.deviation += (one - curve.mean).cwiseAbs2();
  curve.deviation = (curve.deviation / static_cast<double>(all.size() - 1)).cwiseSqrt();
  return curve;
}

}  // namespace retrace::metrics
