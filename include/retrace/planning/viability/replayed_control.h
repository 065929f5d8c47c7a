/// The replay of a control that a method has found, in a new world.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "retrace/control/control.h"
#include "retrace/metrics/gate_stay.h"
#include "retrace/metrics/gates.h"
#include "retrace/task/prepared_clip.h"

namespace retrace::runs {

/// What a replay came to; the motion itself is not kept.
struct ReplayedControl {
  size_t num_steps = 0;   ///< that were simulated
  bool diverged = false;  ///< the simulation did
  character::State end;
  metrics::Evaluation evaluation;
  std::optional<metrics::GateStay> stay;  ///< of a search that may exceed the tolerances; else none
  std::optional<metrics::Evaluation>
      against_recording;  ///< the same with PreparedClip::Unrepaired; none: nothing was repaired
};

/// Replays a control and compares it with the reference of the clip over the whole of its schedule.
/// @param best_effort the excursions from the tolerances are measured, too
ReplayedControl EvaluateReplay(const task::PreparedClip& clip, const control::OpenLoopControl& control,
                               std::span<const control::Push> pushes, bool best_effort = false);

/// The motion of a control of the clip's character, in parts that MotionTables takes.
void ReplayInParts(const task::PreparedClip& clip, const control::OpenLoopControl& control,
                   std::span<const control::Push> pushes,
                   const std::function<void(const control::Trajectory& part)>& observe);

}  // namespace retrace::runs
