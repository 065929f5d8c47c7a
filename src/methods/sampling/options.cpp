#include "retrace/methods/sampling/options.h"

namespace retrace::sampling {

void Describe(RestartOptions& o, io::FieldVisitor& v) {
  v.Field(
      {"samples", "Samples that an iteration draws after the restart; not more than those of the search: no restart"},
      o.samples, io::Integer{0, kSampleNumbers.max});
  v.Field({"saved", "Samples of these that are saved"}, o.saved, kSampleNumbers);
  v.Field(
      {"after", "Simulated seconds per second of motion after which the search begins once more; within the budget"},
      o.after, io::Real{{0, 1e9, true}});
  v.Field(
      {"patience",
       "Simulated seconds that it may then spend without getting further than before, per second of the motion that "
       "it got through; 0: any number"},
      o.patience, io::Real{{0, 1e9}});
}

void Describe(RefinementOptions& o, io::FieldVisitor& v) {
  const io::Real weight{task::kWeights};
  v.Field({"passes", "Largest number of passes, as far as the budget goes; 0: none"}, o.passes, io::Integer{0, 100});
  v.Field({"samples", "Samples and saved samples, as a share of the search's"}, o.samples, io::Real{{0, 1, true}});
  v.Field({"least_gain", "Share of the cost that a pass must gain for another one to follow"}, o.least_gain,
          io::Real{{0, 1}});
  v.Field({"passes_per_model", "Passes that share one linearization of the simulation"}, o.passes_per_model,
          io::Integer{1, 100});
  v.Field({"root_position", "Weight of the squared distance of the root from its place in the world", "1/m^2"},
          o.root_position, weight);
  v.Field({"root_orientation", "Weight of the squared angle between the orientations of the roots", "1/rad^2"},
          o.root_orientation, weight);
  v.Field({"pose", "Weight of the squared angles between the rotations of the joints", "1/rad^2"}, o.pose, weight);
  v.Field({"velocity", "Weight of squared differences of velocities; three times that for the root", "s^2/rad^2"},
          o.velocity, weight);
  v.Field({"change", "Weight of the squared change of offsets from one fragment to the next", "1/rad^2"}, o.change,
          weight);
  v.Field({"turn", "Weight of the squared change of offsets by a pass, in the linear quadratic model", "1/rad^2"},
          o.turn, io::Real{{1e-6, task::kWeights.max}});
  v.Field({"smoothness", "Weight of the smoothness term: distance of angular accelerations from the reference's",
           "s^2/rad"},
          o.smoothness, weight);
  v.Field({"largest_drift", "Drift that a pass corrects at most", "m"}, o.largest_drift, io::Real{{0, 100}});
  v.Field({"largest_heading", "Error of the heading that a pass corrects at most", "rad"}, o.largest_heading,
          io::Real{{0, 10}});
  v.Field({"noise", "Standard deviation of the random part of an offset in the first pass", "rad"}, o.noise,
          io::Real{{0, 10}});
  v.Field({"noise_decay", "Factor on it from one pass to the next"}, o.noise_decay, io::Real{{0, 1, true}});
  v.Field({"largest_turn", "Largest change of an offset by a pass, but for its random part", "rad"}, o.largest_turn,
          io::Real{{0, 10}});
  // They belonged to the smoothing passes of earlier versions.
  v.Retired({"weight", "drift", "blend", "deviation", "decay", "cost_limit", "patience", "failure_limit", "ramp"});
}

void Describe(Options& o, io::FieldVisitor& v) {
  const io::Real share{{0, 1, true}};
  v.Section({"search", "The search for the control (Liu et al. 2010, sections 3.2.2 and 3.2.3)"}, [&](io::FieldVisitor&
                                                                                                          section) {
    section.Field({"method",
                   "Search method, which also sets all settings in which it differs; 2010: one pass as in the paper, "
                   "with its cost and contact scales"},
                  o.method, io::Words<Method>{{{Method::k2010, "2010"}, {Method::kBackOff, "back-off", "rewinding"}}});
    section.Field({"samples", "nSample, the number of samples that an iteration draws"}, o.samples, kSampleNumbers);
    Describe(o.selection, section);
    section.Field({"growth",
                   "Factor on samples and saved samples each time that a fragment is drawn again; 1: the same number "
                   "throughout"},
                  o.growth, io::Real{{1, 100}});
    section.Field({"most_samples", "Samples that an iteration draws at most when their number grows"}, o.most_samples,
                  kSampleNumbers);
    section.Field({"seed", "Seed of all random numbers; the same seed gives the same bytes"}, o.seed, io::Natural{});
    section.Field({"window_scale", "Factor on the character's sampling windows"}, o.window_scale, io::Real{{0, 100}});
    section.Field({"joint_weight_spread",
                   "Random factors on the joints' weights of equation 2, drawn anew for each seed between 1 / (1 + "
                   "spread) and 1 + spread; 0: the weights are the character's"},
                  o.joint_weight_spread, io::Real{{0, 100}});
    section.Field({"feedforward", "Whether targets are offset by the angles that an undisplaced simulation missed"},
                  o.feedforward, io::Flag{});
    section.Field({"feedforward_gain", "Offset per angle missed; the paper's is 1"}, o.feedforward_gain,
                  io::Real{{0, 100}});
    section.Field({"feedforward_limit", "Largest offset of a joint", "rad"}, o.feedforward_limit, io::Real{{0, 10}});
    section.Field({"target_knots",
                   "Number of target poses per fragment, interpolated between; 1 holds the pose of the fragment's end"},
                  o.target_knots, io::Integer{1, 100});
    section.Field(
        {"ramp", "Share of a fragment over which its targets go over to new offsets; 0: they jump, as in the paper"},
        o.ramp, io::Real{{0, 1}});
    section.Field(
        {"keep_inside_gates", "Whether a sample that ends out of tolerance is never saved while another ends inside"},
        o.keep_inside_gates, io::Flag{});
    section.Field({"gate_margin", "Distance from the tolerances that counts as inside, as a share of their limits"},
                  o.gate_margin, io::Real{{0, 0.9}});
    section.Field(
        {"budget", "Simulated seconds that may be spent per second of motion (one pass takes nSample); 0: any number"},
        o.budget, io::Real{{0, 1e9}});
    section.Field({"best_effort",
                   "Whether a search that is lost goes on to the end out of tolerance, in one pass beyond its budget"},
                  o.best_effort, io::Flag{});
    section.Field({"max_back_offs",
                   "How often the search may go back when all samples are out of tolerance; 0: one pass, as in the "
                   "paper",
                   "",
                   {"max_rewinds"}},
                  o.max_back_offs, io::Integer{0, 1000});
    section.Field({"back_off", "How far it goes back at first; doubled when that does not help", "s", {"rewind"}},
                  o.back_off, io::Real{{0.01, 3600}});
    section.Field({"back_off_limit", "How far it goes back at most", "s", {"rewind_limit"}}, o.back_off_limit,
                  io::Real{{0.01, 3600}});
    section.Field({"refit",
                   "Whether samples that are drawn again are drawn from a distribution that is refitted to the "
                   "survivors, not around the reference",
                   "",
                   {"learn"}},
                  o.refit, io::Flag{});
    section.Field({"refit_samples",
                   "Samples and saved samples when drawing from a refitted distribution, as a share of the others'",
                   "",
                   {"learned_samples"}},
                  o.refit_samples, share);
    section.Field({"elites", "Share of the saved samples that a distribution is fitted to"}, o.elites, share);
    section.Field({"refit_rate",
                   "Share of the new mean and deviation in those of a distribution that is refitted",
                   "",
                   {"learning_rate"}},
                  o.refit_rate, share);
    section.Field(
        {"smallest_deviation", "Smallest deviation of a fitted distribution, as a share of the sampling window"},
        o.smallest_deviation, io::Real{{0, 10}});
    section.Field(
        {"correction", "Feedforward of fitted offsets: offset per angle by which they miss their goal; 0: none"},
        o.correction, io::Real{{0, 100}});
    section.Field({"goal", "Pose that fitted offsets are to meet, from that of the fit (0) to the reference's (1)"},
                  o.goal, io::Real{{0, 1}});
    section.Field({"correlation",
                   "Share of a start state's displacement that its samples keep: noise that is correlated in time"},
                  o.correlation, io::Real{{0, 0.99}});
  });
  v.Section({"restart", "A second beginning, with more samples, of a search that does not reach the end"},
            [&](io::FieldVisitor& section) { Describe(o.restart, section); });
  v.Section(
      {"refinement",
       "Passes after the search that bring its result closer to the reference, guided by a local linear quadratic "
       "model",
       "",
       {"smoothing"}},
      [&](io::FieldVisitor& section) { Describe(o.refinement, section); });
}

std::optional<std::string> Options::Validate() const {
  if (auto problem = io::FindProblem(*this)) return problem;
  if (selection.saved > samples) {
    return "/search/saved: found " + std::to_string(selection.saved) + ", expected at most /search/samples, which is " +
           std::to_string(samples);
  }
  if (restart.samples > samples && restart.saved > restart.samples) {
    return "/restart/saved: found " + std::to_string(restart.saved) + ", expected at most /restart/samples, which is " +
           std::to_string(restart.samples);
  }
  return std::nullopt;
}

}  // namespace retrace::sampling
