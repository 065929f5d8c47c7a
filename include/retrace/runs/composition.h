/// Controls that follow one another: the runs of a library are joined into one control, and pushes are answered, by
/// searching the way into the next motion anew from the state that the character is really in (Liu et al. 2010,
/// section 4, "Motion Composition"; there the picture is blended, which is here the kinematic transition, and
/// labelled).
///
///     retrace::runs::CompositionOptions options;
///     options.library = "library";
///     options.play = {"walk", "roll"};
///     const retrace::runs::CompositionJob job(options);
///     const auto result = retrace::runs::Compose(job);
///     retrace::results::RunFolder folder("results/walk-roll", false);
///     retrace::runs::WriteComposition(folder, job, result, {});
///
/// What another program has found may come first, a response to a blow for example: it is entered nowhere but at its
/// beginning, and composition goes on from its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/composed_motion.h"
#include "retrace/runs/configuration.h"
#include "retrace/runs/control_library.h"
#include "retrace/runs/manifest.h"

namespace retrace::runs {

/// What a user sets.
struct CompositionOptions {
  std::filesystem::path library;  ///< a folder with a run in each sub-folder
  std::filesystem::path begin =
      {};                           ///< a run that comes first, as it is: also a response, with its pushes; none: empty
  std::vector<std::string> play;    ///< sub-folders in the order in which they are played
  std::vector<std::string> pushes;  ///< BODY,FX:FY:FZ,START,DURATION (ParsePush)
  Transition transition = Transition::kSearched;
  double seconds = 0;      ///< the plan begins again until the motion is so long; 0: it is played once [s]
  std::string push_every;  ///< BODY,NEWTON,INTERVAL,DURATION: a push in a random direction at each interval
  /// For the n-th fall, controls that lead up from it, one after the other, with commas between; where there is none,
  /// the nearest get-up of the library. The first may be NAME@SECOND, about where it is entered; else the nearest cuts
  /// are.
  std::vector<std::string> get_ups;
  int cuts = 6;  ///< ways into the next motion that are tried
  Configuration configuration = CompositionConfiguration();
};

/// The controls that are played, and where there are pushes or a run that begins, all others of the library. Throws
/// UsageError for what is not in the library or cannot be played, InputError for runs that cannot be used: of different
/// characters or worlds, or with things that move.
struct CompositionJob {
  explicit CompositionJob(const CompositionOptions& options);
  CompositionJob(const CompositionJob&) = delete;
  CompositionJob& operator=(const CompositionJob&) = delete;

  /// Files that no result may replace.
  std::vector<std::filesystem::path> Files() const;

  CompositionOptions options;
  bool begins() const { return !options.begin.empty(); }

  std::vector<LibraryControl> controls;  ///< each once, those of the plan first; before them that which begins
  size_t num_played = 0;                 ///< of these
  std::vector<size_t> get_ups;           ///< of these, that get up from the ground
  std::vector<size_t> play;              ///< of these
  struct Rise {
    std::vector<size_t> controls;  ///< of these, one after the other
    std::optional<double> time;    ///< at which the first one is entered [s]
  };
  std::vector<Rise> rises;            ///< after the n-th fall (CompositionOptions::get_ups)
  std::vector<control::Push> pushes;  ///< by their start
  size_t num_begun = 0;               ///< of these, with which that was made which begins: they are not answered

  /// Controls in which one can go on after a push: those of the plan, and those that end standing.
  std::vector<size_t> OfAnswers() const;

 private:
  size_t Find(const std::string& name, const std::string& option) const;
  Rise ParseRise(const std::string& text) const;
  void AddPushes();
};

/// A part of a composed motion.
struct CompositionPart {
  int first_step = 0;
  size_t control = 0;   ///< of CompositionJob::controls
  int cut_step = 0;     ///< of that control, from where on it is played
  double distance = 0;  ///< of the states at the cut (metrics::StateDistance) [m]
  int tries = 0;        ///< cuts that were tried; 0: the first control
  CompositionEvent event = CompositionEvent::kPlan;
  double cpu_seconds = 0;
  std::optional<Transition> transition = {};  ///< into it; none into the first one, and where the simulation goes on
  double hidden_impulse = 0;                  ///< that a kinematic transition stands for, of the centre of mass [N s]
};

/// A way into a control that was searched for.
struct CompositionTry {
  CompositionEvent event = CompositionEvent::kPlan;
  size_t control = 0;   ///< of CompositionJob::controls
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
  /// What was told of from a time [s] on is taken back: nothing led on from its end. Other parts follow.
  std::function<void(double time)> on_back = {};
  std::function<void(const CompositionTry& tried)> on_try = {};
  std::function<bool()> stop = {};  ///< true: what there is by then is the result
};

/// Threads: 0 is one per core; the result does not depend on them. Throws std::logic_error when a replay does not end
/// in the state that the search ended in, bit for bit.
Composition Compose(const CompositionJob& job, int threads = 0, const CompositionHooks& hooks = {});

/// Writes the folder of a run, its manifest last. Throws OutputError.
void WriteComposition(results::RunFolder& folder, const CompositionJob& job, const Composition& result,
                      const RunContext& context);

/// composition.csv, a row for each part: start, end [s], control, cut [s] of that control, distance [m], tries,
/// event (Name of CompositionEvent), transition (Name of Transition, or nothing), hidden_impulse [N s].
std::string FormatComposition(const CompositionJob& job, const Composition& result);

/// A line for each part.
std::string Describe(const CompositionJob& job, const CompositionPart& part);
/// The same for a way that was searched for.
std::string Describe(const CompositionJob& job, const CompositionTry& tried);

}  // namespace retrace::runs
