/// Where windows begin and end, which points of the spline belong to them, and the targets that a spline means.
#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/methods/trajectory/problem.h"

namespace retrace::trajectory {

/// A uniform cubic B-spline over the whole motion, of several values at once (Al Borno et al. 2018, section 3: the
/// control trajectory). Points (values x points): between knots i and i + 1 the spline depends on points i to i + 3, so
/// that it has continuous second derivatives everywhere, whatever the points.
struct Spline {
  Eigen::MatrixXd points;

  /// @param knots time in knot intervals, from 0 to points - 3
  void At(double knots, Eigen::Ref<Eigen::VectorXd> value) const;
};

/// A window and those that are optimized with it.
struct Window {
  int first_step = 0;  ///< [simulation steps]
  int kept_step = 0;   ///< end of what is kept
  int last_step = 0;   ///< end of what is optimized
  /// The points that this window and those with it leave open: those that do not touch what was kept before.
  Eigen::Index first_point = 0, num_points = 0;
};

/// An axis of a joint that the spline moves.
struct Axis {
  int joint = 0;
  int axis = 0;
  double scale = 0;  ///< half width of its sampling window [rad]
};

/// The division of a motion: windows of equal duration, the last one up to half as long again.
struct Plan {
  explicit Plan(const Problem& problem);

  std::vector<Window> windows;
  std::vector<Axis> axes;       ///< those with a sampling window, in the order of the joints
  Eigen::Index num_points = 0;  ///< of the spline over the whole motion
  double knots_per_step = 0;    ///< so that a step number times this is a time in knot intervals

  /// Simulated seconds of one sample of each window.
  double SecondsPerSample(const Problem& problem) const;
};

/// The steps from `first_step` to `end_step` under a spline (axes x points): target poses about 0.02 s apart, each the
/// pose that the spline is offset from, turned before by the offset of each joint, a rotation vector in the parent's
/// axes [rad].
control::Fragment MakeFragment(const Problem& problem, const Plan& plan, const Spline& spline, int first_step,
                               int end_step);

}  // namespace retrace::trajectory
