/// What is to be done, whatever the method: a reference motion on a character in a world, where it starts, when control
/// is chosen, what a state costs and which tolerances a motion must stay inside.
#pragma once

#include <optional>
#include <string>

#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"
#include "retrace/io/describe.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/simulation/world.h"
#include "retrace/task/cost.h"
#include "retrace/task/ground_source.h"
#include "retrace/task/motion_kind.h"
#include "retrace/task/schedule.h"

namespace retrace::task {

/// What a user may set for a task.
struct Options {
  character::ReferenceOptions reference;
  ScheduleOptions schedule;
  simulation::WorldOptions world;
  metrics::GateLimits gates;
  std::string cost_preset = "automatic";  ///< kind of motion whose weights are used, or "custom"
  CostWeights cost_custom;                ///< used by the preset "custom"
  CostOptions cost;
  double drift_weight = 0;
  /// Name in the character's contact_presets, "paper" (by kind of motion) or "automatic" (one for all motions).
  std::string contact_preset = "automatic";
  GroundSource ground = GroundSource::kRecording;  ///< what the character stands on where no world says so

  /// What is wrong with the options, as a sentence that begins with the setting's position in a configuration, or
  /// nothing. A task can be prepared of any options for which there is nothing wrong, if the character has the presets.
  std::optional<std::string> Validate() const;
};

void Describe(Options& o, io::FieldVisitor& v);

/// Immutable while a method works on it; the same on every thread and rank.
struct Task {
  const character::Character* character = nullptr;
  const character::ReferenceMotion* reference = nullptr;
  simulation::WorldOptions world;
  character::State start;
  Schedule schedule;
  CostWeights weights;
  CostOptions cost;
  metrics::GateLimits gates;

  double time_step() const { return world.time_step; }
  /// Duration of the motion that the schedule covers [s].
  double duration() const { return schedule.steps.back() * world.time_step; }
};

/// A task and what was decided on the way to it.
struct Preparation {
  MotionKindReport kind;
  std::string cost_preset;     ///< that was used
  std::string contact_preset;  ///< that was used
  double start_raised = 0;     ///< of the start state over the reference [m]
  Task task;

  io::Json ToJson() const;
};

/// Puts a task together. The reference, and the character that it moves, must outlive it. Kind of motion and schedule
/// are those of the motion as it was recorded, on a plain floor, where the reference is one that was changed for
/// another world. `ground` is what it stood on as it was recorded; null: the floor. Throws UsageError for options that
/// Validate refuses and for a preset that the character does not have.
Preparation Prepare(const Options& options, const character::ReferenceMotion& reference,
                    const character::ReferenceMotion* recorded = nullptr,
                    const simulation::Environment* ground = nullptr);

/// How far the lowest of all bodies but hands and forearms is below the ground; 0 where none is [m].
double DepthInGround(const character::Character& character, const character::State& state);

/// The reference's state at time 0, raised so far that no body but hands and forearms is below the ground: a state that
/// starts inside it would be expelled by contacts. `raised` receives the height [m].
character::State StartState(const character::ReferenceMotion& reference, double& raised);

}  // namespace retrace::task
