/// The options of the sampling method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "retrace/io/describe.h"
#include "retrace/methods/sampling/selection.h"
#include "retrace/task/cost.h"

namespace retrace::sampling {

/// Most simulation steps that an iteration may take, all its samples together: a search can stop, and stores
/// what it found, between two iterations.
inline constexpr int kMostStepsPerIteration = 10000000;

inline constexpr io::Integer kSampleNumbers{1, 1000000};

/// Search methods; each has its own values of the options below and of others (runs::Configuration::UseMethod).
enum class Method {
  k2010,     ///< one pass, cost and contact scales as in the paper
  kBackOff,  ///< goes back where no sample stays within tolerance, and refits the distribution that it draws from
};

/// Passes after the search that bring its result closer to the reference, in space and time, each a search around
/// the path that the one before found, with the same physics and tolerances. A linear quadratic model along that path
/// (guidance.h) says which changes of the targets lead back to the reference, and what the rest of the motion costs
/// from a state: samples are drawn around the former and saved by the latter. The path itself stays among the saved
/// states, so that no pass loses what was found.
struct RefinementOptions {
  int passes = 6;      ///< at most; as far as the budget of the search goes
  double samples = 1;  ///< samples and saved samples per iteration, as a share of the search's
  /// Smallest share of the cost that a pass must gain for another one to follow.
  double least_gain = 0.03;
  int passes_per_model = 2;  ///< that share the linearization of the simulation
  // The cost of a state: squares of its differences from the reference in generalized coordinates.
  double root_position = 10;    ///< [1/m^2], in the world
  double root_orientation = 3;  ///< [1/rad^2]
  double pose = 1;              ///< of the joints [1/rad^2]
  double velocity = 0.01;       ///< of joints, and three times that of the root [s^2/rad^2, s^2/m^2]
  double change = 0.01;         ///< of the change of offsets from fragment to fragment [1/rad^2]
  double turn = 2.4;            ///< of the change of offsets by a pass, in the model alone [1/rad^2]
  double smoothness = 0.02;     ///< of the smoothness term (task::CostTerms), which the model does not know [s^2/rad]
  /// The pull to the reference is bounded: a pass corrects at most so much of the drift and of the heading, as one that
  /// corrects all of it takes the body off its feet.
  double largest_drift = 0.15;    ///< [m]
  double largest_heading = 0.15;  ///< [rad]
  double noise = 0.03;            ///< standard deviation of the random part of an offset in the first pass [rad]
  double noise_decay = 0.8;       ///< of it, from one pass to the next
  double largest_turn = 0.5;      ///< by which a pass changes an offset, but for its random part [rad]
};

/// A search that has spent much and not reached the end begins once more, at the start and with more samples: few find
/// most motions at a fraction of the cost. Where they fail, more backtracking rarely helps.
/// (After Auger and Hansen 2005, who restart an evolution strategy with a larger population.)
struct RestartOptions {
  int samples = 1400;   ///< per iteration of the new beginning; no more than the search's: there is none
  int saved = 200;      ///< of these
  double after = 1400;  ///< simulated seconds per second of motion after which it begins once more; below the budget
  /// What the new beginning may spend without getting further than the search has been, in simulated seconds per second
  /// of the motion that it got through: what gets lost early is there again at little cost, what gets lost late is not.
  /// It ends once that does not suffice to get further any more. 0: any number. The default takes it there two and a
  /// half times with all of its samples.
  double patience = 2600;
};

/// The search of Liu et al. 2010, sections 3.2.2 and 3.2.3.
struct Options {
  Method method = Method::kBackOff;
  int samples = 200;           ///< nSample: drawn per iteration; the paper's is 1400
  SelectionOptions selection;  ///< nSave and how they are chosen
  /// Factor on samples and saved samples each time that a fragment is drawn again, up to `most_samples`: most fragments
  /// need few, and those at which the search gets lost need many. 1: the same number throughout.
  double growth = 2;
  int most_samples = 1400;  ///< that an iteration draws for `growth`; a larger number of `samples` stays what it is
  uint64_t seed = 1;
  double window_scale = 1;  ///< factor on the character's sampling windows
  /// The joints' weights in the pose term are multiplied by random factors, drawn anew for each seed from 1 / (1 +
  /// spread) to 1 + spread, evenly in their logarithms: one of the paper's means of getting variations.
  double joint_weight_spread = 0;
  bool feedforward = true;  ///< offset targets by what an undisplaced simulation missed
  /// Offset per angle missed. The paper's offset is what was missed, once; but within a fragment a limb follows a
  /// shift of its target by about half (0.4 to 0.8 of it, by joint), so that half of the error would stay, in every
  /// joint and fragment, for the random displacements to make up.
  double feedforward_gain = 2;
  double feedforward_limit = 1;  ///< largest offset of a joint [rad]
  int target_knots = 5;          ///< target poses per fragment; 1 holds the pose of the fragment's end throughout
  /// Share of a fragment over which its targets go over from the offsets of the fragment before. 0: they jump, as in
  /// the paper, and the motion trembles at each fragment.
  double ramp = 0.5;
  /// Never save a sample that ends out of tolerance while another ends inside: no successful path goes through it.
  bool keep_inside_gates = true;
  /// How often, in all, the search may go back when no sample of an iteration ends within tolerance (0: the paper's
  /// single pass). It goes back by `back_off` seconds, and by twice as much each time when it fails again no further
  /// on.
  int max_back_offs = 1000;
  /// Simulated seconds per second of motion that the search may spend in all; 0: any number. One pass takes nSample.
  double budget = 4200;
  RestartOptions restart;
  /// Where all that comes to nothing, the search goes on to the end from its furthest state, out of tolerance: one
  /// pass, which the budget does not count and no refinement follows.
  bool best_effort = false;
  /// How far within tolerance a sample must stay to be saved, as a share of their limits: the search checks them
  /// every kGateInterval, the verdict at every step.
  double gate_margin = 0.04;
  double back_off = 1;
  /// How far it goes back at most. What is further back than this is no longer kept in full.
  double back_off_limit = 10;
  /// What is drawn again is drawn from a distribution that is refitted to the saved samples whose descendants got
  /// furthest (the cross-entropy method, cross_entropy.h), and no longer around the reference.
  bool refit = true;
  double refit_samples = 0.5;       ///< samples and saved samples of such an iteration, as a share of the others'
  double elites = 0.2;              ///< share of the saved samples that the distribution is fitted to
  double refit_rate = 0.7;          ///< share of the new mean and deviation in those of a distribution that is refitted
  double smallest_deviation = 0.3;  ///< of a fitted distribution, as a share of the sampling window
  /// The feedforward of fitted offsets: offset per angle by which their mean, driven from a start state, misses the
  /// pose that it led to where it was fitted. 0: none.
  double correction = 2;
  double goal = 0.5;  ///< where that pose is between the one of the fit (0) and the reference's (1)
  /// Share of a start state's own displacement (from feedforward or a fitted mean) that its samples keep; the rest is
  /// drawn, with the variance kept. 0: independent from fragment to fragment.
  double correlation = 0;
  RefinementOptions refinement;

  /// What is wrong with the options, as a sentence, or nothing. Any options for which there is nothing wrong can be
  /// run.
  std::optional<std::string> Validate() const;
};

void Describe(RestartOptions& o, io::FieldVisitor& v);

void Describe(RefinementOptions& o, io::FieldVisitor& v);

void Describe(Options& o, io::FieldVisitor& v);

}  // namespace retrace::sampling
