/// Foot strikes and feet off from the forces of the feet, the cycles between them, and curves over these.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "retrace/metrics/force_comparison.h"

namespace retrace::metrics {

/// A foot carries load when its vertical force is over this [body weights].
inline constexpr double kFootLoaded = 0.05;

/// From foot strike to foot off.
struct StancePhase {
  bool left = false;
  std::optional<double> strike;  ///< [s]; none: it began before the motion
  std::optional<double> off;     ///< [s]; none: it goes on at the end
};

/// Stances of the left foot, then of the right one, in their order. Times are those at which the force passes
/// kFootLoaded, between instants linearly. Gaps and touches of less than 40 ms do not count.
/// @param time_step between instants, the first of which is at 0 [s]
std::vector<StancePhase> FindStances(const FootForces& forces, double mass, double time_step);

/// What curves are taken over: a stride, from one strike of a foot to its next one, or a stance.
struct GaitCycle {
  bool left = false;
  double start = 0;  ///< strike [s]
  double off = 0;    ///< foot off [s]
  double end = 0;    ///< the next strike of the foot, or of a stance foot off [s]
};

/// Strides of 0.3 to 3 s: of walking and running at any speed.
std::vector<GaitCycle> StridesOf(const std::vector<StancePhase>& stances);
/// Stances that are seen from strike to foot off.
std::vector<GaitCycle> WholeStancesOf(const std::vector<StancePhase>& stances);

/// Points of a curve, at 0, 1 .. 100 % of its cycle.
inline constexpr Eigen::Index kCyclePoints = 101;

/// Mean and standard deviation (of the sample; 0 for one cycle) of a quantity over cycles.
struct CycleCurve {
  std::string name;
  std::string unit;
  Eigen::VectorXd mean;       ///< (kCyclePoints)
  Eigen::VectorXd deviation;  ///< (kCyclePoints)
  int cycles = 0;             ///< 0: there is none, and the vectors are empty
};

/// @param values at each instant; a cycle in which one is not a number does not count
/// @param cycles of one foot
CycleCurve CurveOver(const std::string& name, const std::string& unit, const Eigen::VectorXd& values, double time_step,
                     const std::vector<GaitCycle>& cycles);

}  // namespace retrace::metrics
