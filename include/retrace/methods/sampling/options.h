/// The options of the sampling method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "retrace/methods/sampling/selection.h"

namespace retrace::sampling {

/// Ways to search; a way is a set of defaults for the options below and others (Configuration::UseMethod).
enum class Method {
  k2010,       ///< one pass, cost and contact scales as in the paper
  kRewinding,  ///< goes back where it gets lost, and learns on the way
};

/// Passes after the search that make its result smoother, each a whole search around the path that the one before
/// found (after Liu, Yin and Guo 2015), with the same physics and gates. Independent noise in every fragment is what a
/// random search leaves behind; offsets averaged with those of the fragments before and after have less of it, and what
/// that does to the motion is searched for again.
struct SmoothingOptions {
  int passes = 3;           ///< at most; as far as the budget of the search goes
  double samples = 0.5;     ///< samples and saved samples per iteration, as a share of the search's
  double weight = 0.1;      ///< of the smoothness term in the cost of these passes [s^2]
  double drift = 40;        ///< least weight of the drift term in it: here it costs no success
  double blend = 0.5;       ///< share of the neighbours in the mean of a fragment's offsets; start states take turns
                            ///< between this and half of it
  double deviation = 0.55;  ///< standard deviation around the mean in the first pass, as a share of the window
  double decay = 0.55;      ///< of the deviation, from one pass to the next
  double ramp = 0.5;        ///< share of a fragment over which targets go over from the offsets before: no jumps
  double patience = 1.5;    ///< a pass is given up when it has cost this times what it would without going back
};

/// The search of Liu et al. 2010, sections 3.2.2 and 3.2.3.
struct Options {
  Method method = Method::kRewinding;
  int samples = 1400;          ///< nSample: drawn per iteration
  SelectionOptions selection;  ///< nSave and how they are chosen
  uint64_t seed = 1;
  double window_scale = 1;  ///< factor on the character's sampling windows
  bool feedforward = true;  ///< offset targets by what an undisplaced simulation missed
  /// Offset per angle missed. The paper's offset is what was missed, once; but within a fragment a limb follows a
  /// shift of its target by about half (0.4 to 0.8 of it, by joint), so that half of the error would stay, in every
  /// joint and fragment, for the random displacements to make up.
  double feedforward_gain = 2;
  double feedforward_limit = 1;  ///< largest offset of a joint [rad]
  int target_knots = 5;          ///< target poses per fragment; 1 holds the pose of the fragment's end throughout
  /// Never save a sample that ends outside the gates while another ends inside: no successful path goes through it.
  bool keep_inside_gates = true;
  /// How often, in all, the search may go back when no sample of an iteration ends inside the gates (0: the paper's
  /// single pass). It goes back by `rewind` seconds, and by twice as much each time it gets lost again no further on.
  int max_rewinds = 1000;
  /// Simulated seconds per second of motion that the search may spend; 0: any number. One pass takes nSample.
  double budget = 4200;
  /// How far inside the gates a sample must stay to be saved, as a share of their limits: the search looks at them
  /// every kGateInterval, the verdict at every step.
  double gate_margin = 0.04;
  double rewind = 1;
  /// What is drawn again is drawn around what the saved samples had in common whose descendants got furthest
  /// (learning.h), and no longer around the reference.
  bool learn = true;
  double learned_samples = 0.5;     ///< samples and saved samples of such an iteration, as a share of the others'
  double elites = 0.2;              ///< share of the saved samples that is learned from
  double learning_rate = 0.7;       ///< of means and deviations
  double smallest_deviation = 0.3;  ///< of a learned distribution, as a share of the sampling window
  /// The feedforward of learned offsets: offset per angle by which their mean, driven from a start state, misses the
  /// pose that it led to where it was learned. 0: none.
  double correction = 2;
  double goal = 0.5;  ///< where that pose is between the learned one (0) and the reference's (1)
  /// Share of a start state's own displacement (from feedforward or a learned mean) that its samples keep; the rest is
  /// drawn, with the variance kept. 0: independent from fragment to fragment.
  double correlation = 0;
  SmoothingOptions smoothing;

  /// What is wrong with the options, as a sentence, or nothing. Any options for which there is nothing wrong can be
  /// run.
  std::optional<std::string> Validate() const;
};

}  // namespace retrace::sampling
