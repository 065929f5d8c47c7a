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

/// Trajectory optimization of Al Borno et al. 2018 ("Robust Physics-based Motion Retargeting with Realistic Body
/// Shapes"), section 3. The defaults are the same for all motions.
struct Options {
  double window = 0.4;  ///< duration of a window [s]
  /// Windows that are optimized together; the first of them is kept, the others give it foresight.
  int together = 2;
  int knots = 6;                 ///< of the spline in a window, both ends counted
  int population = 50;           ///< samples of an iteration; the paper's is 200
  double deviation = 0.15;       ///< of the first samples, as a share of the sampling window of each joint
  bool full_covariance = false;  ///< of all offsets; else each has a variance of its own
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
  uint64_t seed = 1;

  /// What is wrong with the options, as a sentence, or nothing. Any options for which there is nothing wrong can be
  /// run.
  std::optional<std::string> Validate() const;
};

template <io::DescribedAs<Options> AnyOptions, typename Visitor>
void Describe(AnyOptions& o, Visitor& v) {
  v.Section(
      {"trajectory",
       "Splines of targets, optimized window by window (Al Borno et al. 2018, section 3)",
       "",
       {"windows"}},
      [&](auto& section) {
        const io::Real weight{{0, 1e6}};
        section.Field({"window", "Duration of a window", "s"}, o.window, io::Real{{0.05, 5}});
        section.Field({"together", "Windows that are optimized together; the first of them is kept"}, o.together,
                      io::Integer{1, 10});
        section.Field({"knots", "Knots of the spline in a window, both ends counted"}, o.knots, io::Integer{2, 50});
        section.Field({"population", "Samples that an iteration draws; the paper's are 200"}, o.population,
                      io::Integer{4, 100000});
        section.Field(
            {"deviation", "Standard deviation of the first samples, as a share of the sampling window of each joint"},
            o.deviation, io::Real{{0, 100, true}});
        section.Field({"full_covariance",
                       "Whether the covariance of all offsets is adapted, which the paper does and which takes several "
                       "times as long, or the variance of each alone"},
                      o.full_covariance, io::Flag{});
        section.Field(
            {"start",
             "What the spline is offset from: reference, or zero: the pose with all joints at rest, as in the "
             "paper, which needs a deviation of about 1.5"},
            o.start, io::Words<Start>{{{Start::kReference, "reference"}, {Start::kZero, "zero"}}});
        section.Field({"cost", "What a motion costs: equations 3 to 8 of the paper, or the cost of the task"}, o.cost,
                      io::Words<Cost>{{{Cost::kPaper, "paper"}, {Cost::kTask, "task"}}});
        section.Field(
            {"gate_weight",
             "Weight of the square by which a figure of the tolerances exceeds a share of its limit; 0: none, as in "
             "the paper",
             "1/s"},
            o.gate_weight, weight);
        section.Field({"gate_share", "Share of the limits of the tolerances from which on they cost"}, o.gate_share,
                      io::Real{{0, 1}});
        section.Field({"torque_limit", "Torque about an axis of a joint above which it costs; 0: none", "N m"},
                      o.torque_limit, io::Real{{0, 1e5}});
        section.Field({"torque_weight", "Weight of the square of what is above", "1/(N^2 m^2 s)"}, o.torque_weight,
                      weight);
        section.Field({"smoothness", "Weight of the smoothness term in the cost of the task", "s^2"}, o.smoothness,
                      weight);
        section.Field({"drift", "Least weight of the drift term in the cost of the task"}, o.drift, weight);
        section.Field({"budget", "Simulated seconds per second of motion, in equal shares for all windows", "s/s"},
                      o.budget, io::Real{{0, 1e9, true}});
        section.Field({"seed", "Seed of all random numbers; the same seed gives the same bytes"}, o.seed,
                      io::Natural{});
      });
}

}  // namespace retrace::trajectory
