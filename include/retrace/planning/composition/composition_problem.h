/// What a composition is planned from, and what comes out: values, without files.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/metrics/gates.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/runs/libraries/control_library.h"

namespace retrace::runs {

/// How a composition is planned.
struct CompositionSettings {
  Transition transition = Transition::kSearched;
  double seconds = 0;  ///< the plan begins again until the motion is so long; 0: it is played once [s]
  int cuts = 6;        ///< transitions into the next motion that are tried
  Configuration configuration = CompositionConfiguration();
};

/// Controls of one character in one world, the order in which they are played, and the pushes in between.
struct CompositionProblem {
  CompositionSettings settings;
  std::vector<LibraryControl> controls;  ///< each once, those of the plan first; before them the one that begins
  size_t num_played = 0;                 ///< of these
  bool begins = false;                   ///< the first control comes first as it is: nothing leads into it
  std::vector<size_t> get_ups;           ///< of these, that get up from the ground
  std::vector<size_t> falling_ends;      ///< of these, that end high enough to stand, and fall from there
  std::vector<size_t> play;              ///< of these
  struct Rise {
    std::vector<size_t> controls;  ///< of these, one after the other
    std::optional<double> time;    ///< at which the first one is entered [s]
  };
  std::vector<Rise> rises;  ///< after the n-th fall
  /// During the n-th fall, those that may be entered, the nearest cuts whatever their distance, about a time where one
  /// is given. After these falls, all cuts that are near, unless `rises` tells how to get up.
  std::vector<Rise> break_falls;
  std::vector<control::Push> pushes;  ///< by their start
  size_t num_begun = 0;               ///< of these, under which the first control was made: they are not answered

  /// Controls in which one can go on after a push: those of the plan, and those at whose end one can stand.
  std::vector<size_t> OfAnswers() const;
  /// Controls that may be entered during a fall: all that succeeded.
  std::vector<size_t> OfFalls() const;
  bool FallsAtEnd(size_t control) const;
};

/// A part of a composed motion.
struct CompositionPart {
  int first_step = 0;
  size_t control = 0;   ///< of CompositionProblem::controls
  int cut_step = 0;     ///< of that control, from where on it is played
  double distance = 0;  ///< of the states at the cut (metrics::StateDistance) [m]
  int tries = 0;        ///< cuts that were tried; 0: the first control
  CompositionEvent event = CompositionEvent::kPlan;
  double cpu_seconds = 0;
  std::optional<Transition> transition = {};  ///< into it; none into the first one, and where the simulation goes on
  double hidden_impulse = 0;                  ///< that a kinematic transition stands for, of the center of mass [N s]
};

/// A transition into a control, found by search.
struct CompositionTry {
  CompositionEvent event = CompositionEvent::kPlan;
  size_t control = 0;   ///< of CompositionProblem::controls
  int exit_step = 0;    ///< of the composed motion, at which it begins
  int cut_step = 0;     ///< of that control
  double distance = 0;  ///< of the states [m]
  int effort = 1;       ///< factor on samples and simulated time
  double reached = 0;   ///< from the cut on [s]
  double duration = 0;  ///< likewise of what there is to reach [s]
  bool found = false;
  double end_distance = 0;  ///< of its end from that of the control, where it was found [m]
};

struct Composition {
  control::OpenLoopControl control;
  std::vector<character::Pose> reference;  ///< what each part follows, kinematic: (frames) of kCompositionFrame
  std::vector<CompositionPart> parts;
  std::string ending = "completed";  ///< or why there is no more of it
  bool stopped = false;
  metrics::Evaluation evaluation;  ///< of all of it
  results::RunTimer timer;

  /// How many of the transitions are kinematic; where there is one, the motion is not physical.
  size_t num_kinematic() const { return control.transitions.size(); }
  bool success() const { return ending == "completed" && evaluation.success(); }
};

struct CompositionHooks {
  std::function<void(const CompositionPart& part)> on_part = {};
  /// What was reported from a time [s] on is discarded: nothing led on from its end. Other parts follow.
  std::function<void(double time)> on_back = {};
  std::function<void(const CompositionTry& tried)> on_try = {};
  std::function<bool()> stop = {};  ///< true: what there is by then is the result
};

/// A line for each part.
std::string Describe(const CompositionProblem& problem, const CompositionPart& part);
/// The same for a transition that was searched for.
std::string Describe(const CompositionProblem& problem, const CompositionTry& tried);

}  // namespace retrace::runs
