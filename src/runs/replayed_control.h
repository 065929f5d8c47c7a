/// The replay of a control that a method has found, in a new world. Internal to the runs module.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "retrace/control/control.h"
#include "retrace/metrics/gate_stay.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/job.h"
#include "retrace/runs/run_files.h"

namespace retrace::runs {

/// What a replay came to; the motion itself is not kept.
struct ReplayedControl {
  size_t num_steps = 0;   ///< that were simulated
  bool diverged = false;  ///< the simulation did
  character::State end;
  metrics::Evaluation evaluation;
  std::optional<metrics::GateStay> stay;                 ///< of a search that may leave the gates; else none
  std::optional<metrics::Evaluation> against_recording;  ///< the same with Job::Unrepaired; none: nothing was repaired
};

/// The motion of a control of the job's character, in parts that MotionTables takes.
void ReplayInParts(const Job& job, const control::OpenLoopControl& control, std::span<const control::Push> pushes,
                   const std::function<void(const control::Trajectory& part)>& observe);

/// Replays it and compares it with the job's reference over the whole of its schedule.
ReplayedControl EvaluateReplay(const Job& job, const control::OpenLoopControl& control,
                               std::span<const control::Push> pushes);

/// A control and its motion in the files of a run.
struct WrittenControl {
  const control::OpenLoopControl& control;
  std::span<const control::Push> pushes;
  size_t num_steps = 0;  ///< of the motion
};

/// Writes the control and what is kept of its motion. Returns members for the manifest: where the tables are not kept,
/// their hashes, with which `replay --verify` compares. Throws OutputError.
io::Json WriteControlAndMotion(results::RunFolder& folder, const Job& job, const WrittenControl& written,
                               KeptFiles kept);

}  // namespace retrace::runs
