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
#include "retrace/runs/configuration.h"
#include "retrace/runs/control_library.h"
#include "retrace/runs/manifest.h"

namespace retrace::runs {

/// How one control becomes the next.
enum class Transition {
  kSearched,   ///< the next motion is searched anew from the state at hand
  kPlain,      ///< the next control goes on as it is: nearly always a fall, and there to be compared with
  kKinematic,  ///< that of the paper: the next control goes on from its own state, and the pose is blended. Not
               ///< physical
};
std::string Name(Transition transition);

/// The default configuration with fewer samples and less patience: a motion that was found before needs fewer to be
/// found again, and there are other cuts to try.
Configuration CompositionConfiguration();

/// What a user sets.
struct CompositionOptions {
  std::filesystem::path library;    ///< a folder with a run in each sub-folder
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

/// The controls that are played, and where there are pushes, all others of the library. Throws UsageError for what is
/// not in the library or cannot be played, InputError for runs that cannot be used: of different characters or worlds,
/// or with things that move.
struct CompositionJob {
  explicit CompositionJob(const CompositionOptions& options);
  CompositionJob(const CompositionJob&) = delete;
  CompositionJob& operator=(const CompositionJob&) = delete;

  /// Files that no result may replace.
  std::vector<std::filesystem::path> Files() const;

  CompositionOptions options;
  std::vector<LibraryControl> controls;  ///< each once, those of the plan first
  size_t num_played = 0;                 ///< of these
  std::vector<size_t> get_ups;           ///< of these, that get up from the ground
  std::vector<size_t> play;              ///< of these
  struct Rise {
    std::vector<size_t> controls;  ///< of these, one after the other
    std::optional<double> time;    ///< at which the first one is entered [s]
  };
  std::vector<Rise> rises;            ///< after the n-th fall (CompositionOptions::get_ups)
  std::vector<control::Push> pushes;  ///< by their start

  /// Controls in which one can go on after a push: those of the plan, and those that end standing.
  std::vector<size_t> OfAnswers() const;

 private:
  size_t Find(const std::string& name, const std::string& option) const;
  Rise ParseRise(const std::string& text) const;
  void AddPushes();
};

/// What a part of a composed motion is there for.
enum class CompositionEvent {
  kPlan,    ///< a control of the plan
  kAnswer,  ///< after a push one does not fall
  kFall,    ///< a semi-ragdoll with reflexes, until it lies still
  kDrive,   ///< servos go to the pose with which a get-up is entered
  kGetUp,   ///< a get-up of the library
  kResume,  ///< on with the plan after it
};
std::string Name(CompositionEvent event);

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
inline constexpr double kCompositionFrame = 1.0 / 120;  ///< [s]

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
