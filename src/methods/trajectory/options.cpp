#include "retrace/methods/trajectory/options.h"

namespace retrace::trajectory {

void Describe(Options& o, io::FieldVisitor& v) {
  v.Section(
      {"trajectory",
       "Splines of targets, optimized window by window (Al Borno et al. 2018, section 3)",
       "",
       {"windows"}},
      [&](io::FieldVisitor& section) {
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
        section.Field({"axes",
                       "Axes that the splines move: all, or sampled: those with a sampling window, which leaves out "
                       "elbows and wrists of the human"},
                      o.axes, io::Words<Axes>{{{Axes::kAll, "all"}, {Axes::kSampled, "sampled"}}});
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
        section.Field({"returns",
                       "How often earlier windows may be optimized again where one leaves the tolerances, within the "
                       "budget; 0: the motion ends there, as in the paper"},
                      o.returns, io::Integer{0, 1000});
        section.Field({"seed", "Seed of all random numbers; the same seed gives the same bytes"}, o.seed,
                      io::Natural{});
      });
}

std::optional<std::string> Options::Validate() const {
  return io::FindProblem(*this);
}

}  // namespace retrace::trajectory
