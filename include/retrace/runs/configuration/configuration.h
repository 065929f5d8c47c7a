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
  kAuto,      ///< tracking, which costs a hundredth; sampling where its motion leaves the gates, or is very long
  kSampling,  ///< Liu et al. 2010 and successors: survives what no feedback can foresee
  kTracking,  ///< da Silva et al. 2008
  kWindows,   ///< Al Borno et al. 2018: splines of targets by CMA-ES
};
std::string Name(Method method);

/// Longer motions are not tracked unless it is asked for: what tracking keeps grows with the motion, to 0.6 MB of
/// control file per second [s].
inline constexpr double kLongestTracked = 60;
io::Words<Method> MethodWords();

/// Which motion the targets of the search are offset from.
enum class Baseline {
  kAutomatic,  ///< of sampling the tracked motion, where that is no longer than kLongestTracked; of windows the
               ///< reference
  kReference,
  kTracked,  ///< targets at which servos give the torques of the tracked motion, as far as it gets
};

/// What is done about the end of a motion from which there is no way on.
enum class EndRecovery {
  kOff,
  kTracking,  ///< a motion that was tracked is tracked anew with what follows its end, which costs next to nothing
  kSearch,    ///< where that does not help, the last seconds are searched anew together with what follows
};

/// What the search spends on quality; where tracking suffices it changes nothing.
enum class Quality {
  kDraft,     ///< as the defaults, with one refinement pass
  kStandard,  ///< the defaults: 200 samples, more of them where the search gets lost, and up to six refinement passes
  kBest,      ///< 1400 samples throughout, as in the paper, and one and a half times the budget
};
io::Words<Quality> QualityWords();

struct RunSettings {
  Method method = Method::kAuto;
  Baseline baseline = Baseline::kAutomatic;
  /// For so long the character is to go on after the end of the clip, by a control that is looked for; 0: the end is
  /// not judged [s].
  double tail = 3;
  EndRecovery mend_end = EndRecovery::kTracking;
  /// A reference that no body can perform is changed by as little as it takes (repair::RepairReference).
  bool repair = false;
};

template <io::DescribedAs<RunSettings> Settings, typename Visitor>
void Describe(Settings& settings, Visitor& visitor) {
  visitor.Section({"run", "What a run does"}, [&](auto& section) {
    section.Field({"method",
                   "What finds the control: sampling, tracking, windows, or auto: tracking, and sampling where the "
                   "tracked motion leaves the gates"},
                  settings.method, MethodWords());
    section.Field(
        {"baseline",
         "What the targets of sampling and windows are offset from: the reference, tracked: targets at which servos "
         "give the torques of the tracked motion, as far as it gets, or automatic: tracked for sampling"},
        settings.baseline,
        io::Words<Baseline>{{{Baseline::kAutomatic, "automatic"},
                             {Baseline::kReference, "reference"},
                             {Baseline::kTracked, "tracked"}}});
    section.Field({"tail",
                   "For how long after the end of the clip the character is to go on: its end is viable when a control "
                   "is found that does so; 0: it is not judged",
                   "s"},
                  settings.tail, io::Real{{0, 30}});
    section.Field(
        {"mend_end",
         "What is done where the end is not viable: off, tracking: a tracked motion is tracked anew with what follows, "
         "search: else the last seconds are searched anew together with what follows"},
        settings.mend_end,
        io::Words<EndRecovery>{
            {{EndRecovery::kOff, "off"}, {EndRecovery::kTracking, "tracking"}, {EndRecovery::kSearch, "search"}}});
    section.Field(
        {"repair",
         "Whether a reference that no body can perform is changed by as little as it takes: clock, height, legs"},
        settings.repair, io::Flag{});
  });
}

struct Configuration {
  RunSettings run;
  task::Options task;
  sampling::Options sampling;
  tracking::Options tracking;
  trajectory::Options windows;

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
  /// Of all methods.
  void SetSeed(uint64_t seed) { sampling.seed = tracking.seed = windows.seed = seed; }
  /// Tracking by the letter of da Silva et al. 2008: their servo with steps of 0.0001 s, quadratic programs at 80 Hz
  /// with equal weights and the contacts that the simulation has, a reference as it is, no foot placement.
  void UsePaperTracking();
};

template <io::DescribedAs<Configuration> AnyConfiguration, typename Visitor>
void Describe(AnyConfiguration& configuration, Visitor& visitor) {
  Describe(configuration.run, visitor);
  Describe(configuration.sampling, visitor);
  Describe(configuration.task, visitor);
  Describe(configuration.tracking, visitor);
  Describe(configuration.windows, visitor);
}

}  // namespace retrace::runs
