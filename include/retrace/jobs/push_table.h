/// How long an open-loop control survives pushes of many sizes and directions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/runs/stored/replay.h"
#include "retrace/runs/stored/replay_files.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

inline constexpr io::Range kPushSizes{0, 1e6, true};  ///< forces of a table [N]

/// Which pushes a table tries: each force in each direction at each time.
struct PushTableOptions {
  std::string body;
  std::vector<double> forces = {25, 50, 100, 200};  ///< [N]
  std::vector<double> times = {};                   ///< [s]; empty: a quarter, a half and three quarters of the motion
  double duration = 0.2;                            ///< [s]
};

/// The outcome of one push.
struct PushOutcome {
  control::Push push;
  double size = 0;        ///< [N]
  std::string direction;  ///< forward, backward, left or right of the body as it faces when the push begins
  double survived = 0;    ///< from the push's start until the tolerances are left, or to the end [s]
  bool left = false;      ///< the tolerances, or the simulation diverged
  std::string gate;       ///< that was left first; "diverged" where none was
  double at_end = 0;      ///< largest figure of the tolerances at the end, as a share of its limit
};

/// Replays a run of one character under pushes.
using PushReplay = std::function<Replayed(std::vector<control::Push> pushes)>;

/// Simulates the whole control of a run of one character once for each push, or calls `replay` where there is one.
/// `unpushed` is its trajectory without any, from which the facing is taken. Throws UsageError for a scene, for a body
/// that there is not and for times outside the motion, and InputError for a run without a reference.
std::vector<PushOutcome> TryPushes(const StoredRun& run, const control::Trajectory& unpushed,
                                   const PushTableOptions& options, const PushReplay& replay = {});

/// push_table.csv: a row for each: body, direction, force [N], force_x, force_y, force_z, start, duration, survived
/// [s], left (0 or 1), tolerance, at_end. With the outcomes of the same pushes under feedback the last four stand once
/// more, as feedback_survived, feedback_left, feedback_gate and feedback_at_end.
std::string FormatPushTable(const control::Scene& scene, const std::vector<PushOutcome>& outcomes,
                            const std::vector<PushOutcome>& with_feedback = {});

/// The same for people: a row per time and direction, a column per force, seconds survived; `end` where the control
/// reached the end within tolerance. With feedback each cell has both, the open loop first, and a last line counts.
std::string DescribePushTable(const std::vector<PushOutcome>& outcomes,
                              const std::vector<PushOutcome>& with_feedback = {});

/// Writes the table of pushes and its manifest, with the outcomes under feedback where there are any. Throws
/// OutputError.
void WritePushTable(results::RunFolder& folder, const StoredRun& run, const std::vector<PushOutcome>& outcomes,
                    const RunContext& context, const ReplayOptions& options = {},
                    const std::vector<PushOutcome>& with_feedback = {});

}  // namespace retrace::runs
