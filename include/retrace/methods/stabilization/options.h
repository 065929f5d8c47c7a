/// The options of feedback along a control.
#pragma once

#include <optional>
#include <string>

#include "retrace/io/describe.h"

namespace retrace::stabilization {

/// How the linear quadratic regulator is found (Al Borno et al. 2018, section 4.1). The defaults are the same for all
/// motions.
struct Options {
  double interval = 1.0 / 60;  ///< between two nodes, at which torques are found; in between they are held [s]
  /// Steps of the central differences. They are large on purpose: a contact point is so stiff that derivatives in the
  /// small hold for a tenth of a millimeter only, and steps of a centimeter average over touching and lifting.
  double position_difference = 1e-2;  ///< of positions and angles [m, rad]
  double velocity_difference = 1e-1;  ///< of their rates [m/s, rad/s]
  double torque_difference = 3e-2;    ///< of torques, as a turn of a servo's target [rad]
  /// Servos that a control holds weak, as tracking does, get their full strength where the motion is another one.
  bool full_servos = true;
  // The cost: squares of differences (Q), and of torques (R).
  double position_cost = 1;    ///< [1/m^2, 1/rad^2]
  double velocity_cost = 1;    ///< [s^2/m^2, s^2/rad^2]
  double terminal_factor = 1;  ///< on both, of the last node
  double torque_cost = 1e-3;   ///< [1/(N m)^2]
  double turn_cost = 0;        ///< of the same as turns of the servos' targets [1/rad^2]
  double trunk_factor = 15;    ///< on both, of joints that lie between hands or head and feet
  double largest_turn = 0.5;   ///< largest torque about each axis, as a turn of the servo's target [rad]

  /// What is wrong with the options, as a sentence, or nothing.
  std::optional<std::string> Validate() const;
};

void Describe(Options& o, io::FieldVisitor& v);

/// How the controller chooses where in the motion it is (Al Borno et al. 2018, section 4.2, the part that is done
/// online, among the nodes of the motion itself).
struct ReindexingOptions {
  int candidates = 20;    ///< kappa, nearest nodes that are tried; 0: the node is that of the time
  int branches = 20;      ///< nearest branches of a tree that are tried beside them
  int tree = 1000000;     ///< branches of the tree that are used: the first ones
  double window = 0.25;   ///< alpha, farthest that a node may be from that of the time [s]
  double interval = 0.1;  ///< between two choices [s]
  double horizon = 1;     ///< of the simulations that are compared [s]
  double enough = 0.1;    ///< distance L at which the present node is kept and no other tried
};

void Describe(ReindexingOptions& o, io::FieldVisitor& v);

/// How a tree of branches is grown (Al Borno et al. 2018, section 4.2 and algorithm 1).
struct GrowthOptions {
  // The pushes: horizontal, in random directions, at random times.
  double smallest_force = 100;  ///< [N]
  double largest_force = 300;   ///< [N]
  double push_duration = 0.2;   ///< [s]
  double rest = 0.5;            ///< least time from the end of a push to that of the motion [s]
  // The search for a path back.
  double duration = 0.2;      ///< of the spline of torques, and of the branch [s]
  int knots = 3;              ///< of the spline
  bool cubic = false;         ///< whether it is cubic between its knots, else linear
  double largest_turn = 0.5;  ///< of its torques, as a turn of the servo's target [rad]
  double deviation = 0.15;    ///< of the first samples, likewise [rad]
  int samples = 20;           ///< of an iteration
  int iterations = 50;        ///< at most
  double horizon = 1.5;       ///< of the simulations, the spline's duration within [s]
  double close = 0.5;         ///< largest share of the tolerances at the end of them for a path back
  int batch = 8;              ///< states that are tried with the same tree
  uint64_t seed = 1;

  std::optional<std::string> Validate() const;
};

void Describe(GrowthOptions& o, io::FieldVisitor& v);

}  // namespace retrace::stabilization
