/// The whole configuration of a reconstruction: the options of the task and of the methods, in the sections of a
/// configuration file. Names, legal values and descriptions of the settings stand beside the structs (io/describe.h).
#pragma once

#include <optional>
#include <string>

#include "retrace/io/describe.h"
#include "retrace/io/json.h"
#include "retrace/methods/sampling/options.h"
#include "retrace/methods/tracking/options.h"
#include "retrace/methods/trajectory/options.h"
#include "retrace/task/task.h"

namespace retrace::runs {

/// What finds the control of a clip.
enum class Method {
  kAuto,  ///< tracking, which costs a hundredth; where its motion exceeds the tolerances or drifts, hybrid; and where
          ///< that does so too, or the motion is very long, sampling
  kSampling,    ///< Liu et al. 2010 and successors: survives what no feedback can foresee
  kTracking,    ///< da Silva et al. 2008
  kHybrid,      ///< tracking wherever it holds, and searches across what it loses
  kTrajectory,  ///< Al Borno et al. 2018: splines of targets by CMA-ES
};
std::string Name(Method method);

/// Longer motions are not tracked unless it is asked for: what tracking keeps grows with the motion, to 0.6 MB of
/// control file per second [s].
inline constexpr double kLongestTracked = 60;
io::Words<Method> MethodWords();

/// Which motion the targets of the search are offset from.
enum class Baseline {
  kAutomatic,  ///< of sampling the tracked motion, where that is no longer than kLongestTracked; of trajectory the
               ///< reference
  kReference,
  kTracked,  ///< targets at which servos give the torques of the tracked motion, as far as it gets
};

/// What is done about the end of a motion that has no continuation.
enum class EndRecovery {
  kOff,
  kTracking,  ///< a motion that was tracked is tracked anew with what follows its end, which costs next to nothing
  kSearch,    ///< where that does not help, the last seconds are searched anew together with what follows
};

/// What the search spends on quality; where tracking suffices it changes nothing.
enum class Quality {
  kDraft,     ///< as the defaults, with one refinement pass, and no search for another end
  kStandard,  ///< the defaults: 200 samples, more of them where the search gets lost, and up to six refinement passes
  kBest,      ///< 1400 samples throughout, as in the paper
};
io::Words<Quality> QualityWords();

struct RunSettings {
  Method method = Method::kAuto;
  Baseline baseline = Baseline::kAutomatic;
  /// For so long the character is to go on after the end of the clip, by a control that is looked for; 0: the end is
  /// not judged [s].
  double tail = 3;
  EndRecovery recover_end = EndRecovery::kSearch;
  /// A reference that no body can perform is changed by as little as it takes (repair::RepairReference).
  bool repair = false;
};

void Describe(RunSettings& settings, io::FieldVisitor& visitor);

struct Configuration {
  RunSettings run;
  task::Options task;
  sampling::Options sampling;
  tracking::Options tracking;
  trajectory::Options trajectory;

  io::Json ToJson() const;
  /// The same with a comment above each setting: what it means, its unit, its legal values. Can be read back.
  std::string ToCommentedJson() const;

  /// Takes the settings that a document names; the others stay, but for those in which a method differs that is named
  /// and is not the present one. Old names of settings and words are accepted. Throws InputError with the JSON
  /// pointer, and then changes nothing.
  void Read(const io::JsonView& view);
  /// Takes one setting given as `/section/name=value`, where the value is JSON or a word without quotes. Throws
  /// UsageError for a setting that does not exist or a bad value.
  void Set(const std::string& assignment);
  /// What is wrong with the settings, as a sentence, or nothing. Also finds what is wrong between settings, which Read
  /// and Set cannot refuse as they take one after the other.
  std::optional<std::string> Validate() const;
  /// Takes all settings in which the methods differ; what is set afterwards holds.
  void UseMethod(sampling::Method method);
  /// Takes the settings of the search in which the qualities differ; what is set afterwards holds.
  void UseQuality(Quality quality);
  /// Sets the number of samples; the budget grows with what is beyond the number that it has room for, that of a
  /// restart, so that more of them do not end the search sooner.
  void UseSamples(int samples);
  /// The method of 2010 with step and servo of the paper: 0.0005 s, explicit PD, ODE's contacts (Liu et al. 2010,
  /// sections 3.2.3 and 4).
  void UsePaperMode();
  /// Sets the seed of all methods.
  void SetSeed(uint64_t seed) { sampling.seed = tracking.seed = trajectory.seed = seed; }
  /// Tracking by the letter of da Silva et al. 2008: their servo with steps of 0.0001 s, quadratic programs at 80 Hz
  /// with equal weights and the contacts that the simulation has, a reference as it is, no foot placement.
  void UsePaperTracking();
};

void Describe(Configuration& configuration, io::FieldVisitor& visitor);

}  // namespace retrace::runs
