/// The whole configuration of a reconstruction: one place that holds every setting, its default, its legal values and
/// its description. Files, `--set` and `--print-config` all go through it.
#pragma once

#include <string>

#include "retrace/character/reference.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"
#include "retrace/reconstruction/motion_kind.h"
#include "retrace/reconstruction/problem.h"
#include "retrace/simulation/world.h"

namespace retrace::reconstruction {

struct Configuration {
  character::ReferenceOptions reference;
  ScheduleOptions schedule;
  SearchOptions search;
  SmoothingOptions smoothing;
  simulation::WorldOptions world;
  metrics::GateLimits gates;
  std::string cost_preset = "automatic";  ///< kind of motion whose weights are used, or "custom"
  CostWeights cost_custom;
  CostOptions cost_options;
  double drift_weight = 0;
  /// Name in the character's contact_presets, "paper" (by kind of motion) or "automatic" (one for all motions).
  std::string contact_preset = "automatic";

  io::Json ToJson() const;
  /// The same with a comment above each setting: what it means, its unit, its legal values. Can be read back.
  std::string ToCommentedJson() const;

  /// Takes the settings that a document names; the others stay. Throws InputError with the JSON pointer.
  void Read(const io::JsonView& view);
  /// Takes one setting given as `/pointer=value`. Throws UsageError for a pointer that does not exist or a bad value.
  void Set(const std::string& assignment);
  /// Takes all settings in which a method differs from others; what is set afterwards holds.
  void UseMethod(Method method);
  /// The method of 2010 with step and servo of the paper: 0.0005 s, explicit PD, ODE's contacts (Liu et al. 2010,
  /// sections 3.2.3 and 4).
  void UsePaperMode();
};

/// A problem and what was decided on the way to it.
struct Preparation {
  MotionKindReport kind;
  std::string cost_preset;     ///< that was used
  std::string contact_preset;  ///< that was used
  double start_raised = 0;     ///< of the start state over the reference [m]
  Problem problem;

  io::Json ToJson() const;
};

/// Puts a problem together. The character and the reference must outlive it. Kind of motion and schedule are those of
/// the motion as it was recorded, on a plain floor, where the reference is one that was changed for another world.
/// Throws UsageError for a preset that the character does not have.
Preparation Prepare(const Configuration& configuration, const character::ReferenceMotion& reference,
                    const character::ReferenceMotion* recorded = nullptr);

}  // namespace retrace::reconstruction
