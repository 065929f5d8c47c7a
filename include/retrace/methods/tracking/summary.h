/// How a run of the tracking method ended, and what is called while it runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/control/control.h"
#include "retrace/methods/tracking/controller.h"

namespace retrace::tracking {

/// How it ended.
enum class Status {
  kReachedEnd,  ///< of the motion
  kFell,        ///< out of tolerance for longer than kPatience
  kDiverged,    ///< the simulation did
  kStopped,     ///< before the end, by Hooks::stop
};
std::string Name(Status status);

/// What is simulated after a motion has exceeded the tolerances, so that its fall can be seen [s].
inline constexpr double kPatience = 0.5;

struct Summary {
  Status status = Status::kReachedEnd;
  control::OpenLoopControl control;  ///< the commands of every step; without feedback it does the same to the bit
  character::State end;              ///< where it ended
  std::vector<SolveRecord> records;  ///< (solutions)
  size_t unsolved = 0;               ///< of these without a solution
  double cpu_seconds = 0;            ///< of the simulation and the controller
  double solve_cpu_seconds = 0;      ///< of these, in the solutions

  bool reached_end() const { return status == Status::kReachedEnd; }
  /// One line for people, without a line end.
  std::string BriefReport() const;
};

/// What is called during a run, after each fragment of the control; each function may be empty.
struct Hooks {
  std::function<void(double time)> on_progress = {};  ///< receives what was simulated [s]
  std::function<bool()> stop = {};                    ///< whether to stop here
};

}  // namespace retrace::tracking
