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

template <io::DescribedAs<Options> AnyOptions, typename Visitor>
void Describe(AnyOptions& o, Visitor& v) {
  v.Section({"stabilization", "The regulator (Al Borno et al. 2018, section 4.1)"}, [&](auto& section) {
    section.Field({"interval", "Time between two nodes, at which torques are found; in between they are held", "s"},
                  o.interval, io::Real{{1e-4, 1}});
    section.Field({"position_difference", "Step of the differences of places and angles", "m, rad"},
                  o.position_difference, io::Real{{1e-9, 0.5}});
    section.Field({"velocity_difference", "Step of the differences of their rates", "m/s, rad/s"},
                  o.velocity_difference, io::Real{{1e-9, 10}});
    section.Field({"torque_difference", "Step of the differences of torques, as a turn of the servo's target", "rad"},
                  o.torque_difference, io::Real{{1e-9, 1}});
    section.Field({"full_servos",
                   "Whether servos that the control holds weak get their full strength where the motion is another "
                   "one"},
                  o.full_servos, io::Flag{});
    section.Field({"position_cost", "Cost of squared differences of places and angles", "1/m^2, 1/rad^2"},
                  o.position_cost, io::Real{{0, 1e9}});
    section.Field({"velocity_cost", "Cost of squared differences of rates", "s^2/m^2, s^2/rad^2"}, o.velocity_cost,
                  io::Real{{0, 1e9}});
    section.Field({"terminal_factor", "Factor on these at the end"}, o.terminal_factor, io::Real{{0, 1e9}});
    section.Field({"torque_cost", "Cost of squared torques", "1/(N m)^2"}, o.torque_cost, io::Real{{1e-12, 1e9}});
    section.Field({"turn_cost", "Cost of the same as squared turns of the servos' targets, beside it", "1/rad^2"},
                  o.turn_cost, io::Real{{0, 1e9}});
    section.Field({"trunk_factor", "Factor on both, of joints between feet and hands or head"}, o.trunk_factor,
                  io::Real{{1e-6, 1e6}});
    section.Field({"largest_turn", "Largest torque about each axis, as a turn of the servo's target", "rad"},
                  o.largest_turn, io::Real{{0, 10}});
  });
}

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

template <io::DescribedAs<ReindexingOptions> AnyOptions, typename Visitor>
void Describe(AnyOptions& o, Visitor& v) {
  v.Section(
      {"reindexing", "The choice of the node by simulation (Al Borno et al. 2018, section 4.2)"}, [&](auto& section) {
        section.Field({"candidates", "Number of nodes that are simulated; 0: none, the node is that of the time"},
                      o.candidates, io::Integer{0, 1000});
        section.Field({"branches", "Number of branches of a tree that are simulated beside them"}, o.branches,
                      io::Integer{0, 1000});
        section.Field({"tree", "Branches of the tree that are used: the first ones"}, o.tree, io::Integer{0, 1000000});
        section.Field({"window", "Farthest that a node may be from that of the time", "s"}, o.window,
                      io::Real{{0, 10}});
        section.Field({"interval", "Time between two choices", "s"}, o.interval, io::Real{{1e-4, 10}});
        section.Field({"horizon", "Duration of the simulations", "s"}, o.horizon, io::Real{{1e-3, 60}});
        section.Field({"enough", "Distance from the motion at which the present node is kept"}, o.enough,
                      io::Real{{0, 1e9}});
      });
}

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

template <io::DescribedAs<GrowthOptions> AnyOptions, typename Visitor>
void Describe(AnyOptions& o, Visitor& v) {
  v.Section({"growth", "The growth of a tree (Al Borno et al. 2018, algorithm 1)"}, [&](auto& section) {
    section.Field({"smallest_force", "Smallest force of the pushes", "N"}, o.smallest_force, io::Real{{0, 1e6}});
    section.Field({"largest_force", "Largest force of the pushes", "N"}, o.largest_force, io::Real{{0, 1e6}});
    section.Field({"push_duration", "Duration of a push", "s"}, o.push_duration, io::Real{{1e-3, 10}});
    section.Field({"rest", "Least time from the end of a push to that of the motion", "s"}, o.rest, io::Real{{0, 100}});
    section.Field({"duration", "Duration of a branch, in which a spline of torques leads the way", "s"}, o.duration,
                  io::Real{{1e-3, 10}});
    section.Field({"knots", "Knots of the spline"}, o.knots, io::Integer{1, 100});
    section.Field({"cubic", "Whether it is cubic between its knots, else linear"}, o.cubic, io::Flag{});
    section.Field({"largest_turn", "Largest torque of the spline, as a turn of the servo's target", "rad"},
                  o.largest_turn, io::Real{{1e-6, 10}});
    section.Field({"deviation", "Standard deviation of the first samples, likewise", "rad"}, o.deviation,
                  io::Real{{1e-6, 10}});
    section.Field({"samples", "Samples of an iteration of the search"}, o.samples, io::Integer{4, 10000});
    section.Field({"iterations", "Iterations of the search, at most"}, o.iterations, io::Integer{1, 10000});
    section.Field({"horizon", "Duration of the simulations of the search", "s"}, o.horizon, io::Real{{0.01, 60}});
    section.Field({"close", "Largest share of the tolerances at the end that counts as a way back"}, o.close,
                  io::Real{{0.01, 1}});
    section.Field({"batch", "States that are tried with the same tree"}, o.batch, io::Integer{1, 10000});
    section.Field({"seed", "Seed of the pushes and of the search"}, o.seed, io::Natural{});
  });
}

}  // namespace retrace::stabilization
