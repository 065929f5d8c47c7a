/// Options of trajectory optimization.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "retrace/io/describe.h"

namespace retrace::trajectory {

/// What the spline of the first windows is offset from.
enum class Start {
  kReference,  ///< the reference motion: an offset of zero follows the recording as far as servos can
  kZero,       ///< the pose in which all joints are at rest, as in the paper
};

/// What a motion costs.
enum class Cost {
  kPaper,  ///< equations 3 to 8 of Al Borno et al. 2018
  kTask,   ///< the terms of the task (task/cost.h), which the method of sampling minimizes
};

/// Which axes of joints the splines move.
enum class Axes {
  kAll,      ///< those of all joints, as in the paper
  kSampled,  ///< those that have a sampling window, which are the ones that the search draws
};

/// Trajectory optimization of Al Borno et al. 2018 ("Robust Physics-based Motion Retargeting with Realistic Body
/// Shapes"), section 3. The defaults are the same for all motions.
struct Options {
  double window = 0.4;  ///< duration of a window [s]
  /// Windows that are optimized together; the first of them is kept, the others give it foresight.
  int together = 2;
  int knots = 6;                 ///< of the spline in a window, both ends counted
  int population = 20;           ///< samples of an iteration; the paper's is 200
  double deviation = 0.15;       ///< of the first samples, as a share of the sampling window of each joint
  bool full_covariance = false;  ///< of all offsets; else each has a variance of its own
  Axes axes = Axes::kAll;
  Start start = Start::kReference;
  Cost cost = Cost::kPaper;
  double gate_weight = 1000;    ///< of the square by which a figure exceeds `gate_share` of its limit [1/s]; 0: none
  double gate_share = 0.5;      ///< of the limits of the tolerances, from which on they cost
  double torque_limit = 0;      ///< torque about a joint's axis above which it costs [N m]; 0: none
  double torque_weight = 1e-2;  ///< of the square of what is above [1/(N^2 m^2 s)]
  double smoothness = 0.1;      ///< weight of the smoothness term in the cost of the task [s^2]
  double drift = 40;            ///< least weight of the drift term in it
  /// Simulated seconds per second of motion; each iteration of each window gets its share.
  double budget = 4200;
  /// How often it may go back where a window leaves the tolerances: earlier ones are optimized again, from where they
  /// were, with more iterations, out of what the windows to come would have had. 0: the motion ends there, as in the
  /// paper.
  int returns = 8;
  uint64_t seed = 1;

  /// What is wrong with the options, as a sentence, or nothing. Any options for which there is nothing wrong can be
  /// run.
  std::optional<std::string> Validate() const;
};

void Describe(Options& o, io::FieldVisitor& v);

}  // namespace retrace::trajectory
